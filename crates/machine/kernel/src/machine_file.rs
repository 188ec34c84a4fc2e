//! Settings of the machine that are files: of its cores, its interrupts and its memory. They belong to no namespace.

use std::{fs, path::Path};

use crate::error::{On, Result, invalid};

/// Folders whose files are such settings.
const FOLDERS: [&str; 3] = ["/sys/devices/system/cpu/", "/proc/irq/", "/sys/kernel/mm/transparent_hugepage/"];

/// Reads a setting. Where the file lists all values, the chosen one stands in brackets.
pub fn read(path: &str) -> Result<String> {
    check(path)?;
    let text = fs::read_to_string(path).on("read", path)?;
    Ok(chosen(text.trim()).to_owned())
}

/// Writes a setting.
pub fn write(path: &str, value: &str) -> Result<()> {
    check(path)?;
    // Never makes a file.
    let file = fs::File::options().write(true).open(path);
    file.and_then(|mut file| std::io::Write::write_all(&mut file, value.as_bytes())).on("write", path)
}

fn check(path: &str) -> Result<()> {
    let is_plain = !Path::new(path).components().any(|part| part.as_os_str() == "..");
    let is_known = is_plain && FOLDERS.iter().any(|folder| path.starts_with(folder));
    if is_known { Ok(()) } else { Err(invalid("it is no setting of cores, interrupts or memory")).on("check", path) }
}

fn chosen(text: &str) -> &str {
    let in_brackets = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    in_brackets.map_or(text, |(chosen, _)| chosen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_settings_are_read_and_written() {
        for path in ["/etc/passwd", "/proc/irq/../version", "/sys/devices/system/cpu"] {
            assert!(read(path).is_err() && write(path, "x").is_err(), "{path}");
        }
        assert!(read("/sys/devices/system/cpu/online").is_ok());
        assert_eq!((chosen("always [madvise] never"), chosen("performance")), ("madvise", "performance"));
    }
}
