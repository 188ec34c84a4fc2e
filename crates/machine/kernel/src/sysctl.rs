//! Kernel settings. Those below `net` are of the calling thread's namespace: it is determined at open.

use std::{fs, path::PathBuf};

use crate::error::{On, Result, invalid};

/// Reads a setting, like `net.ipv4.tcp_timestamps`.
pub fn read(key: &str) -> Result<String> {
    let value = path(key).and_then(fs::read_to_string).on("read", format_args!("setting {key}"))?;
    Ok(value.trim_end().to_owned())
}

/// Writes a setting.
pub fn write(key: &str, value: &str) -> Result<()> {
    path(key).and_then(|path| fs::write(path, value)).on("write", format_args!("setting {key}"))
}

/// Names of the settings directly below a key, like `rp_filter` below `net.ipv4.conf.eth0`; none without such a key.
pub fn below(key: &str) -> Result<Vec<String>> {
    let what = format_args!("settings below {key}");
    let entries = match path(key).and_then(fs::read_dir) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.on("read", what)?,
    };
    let names: std::io::Result<Vec<String>> =
        entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect();
    let mut names = names.on("read", what)?;
    names.sort();
    Ok(names)
}

/// File of a setting. As in sysctl(8), dots separate, and a slash stands for a dot within a part (an interface `eth0.5`).
pub fn path(key: &str) -> std::io::Result<PathBuf> {
    let swapped: String = key
        .chars()
        .map(|c| match c {
            '.' => '/',
            '/' => '.',
            other => other,
        })
        .collect();
    if swapped.split('/').any(|part| part.is_empty() || part == "..") {
        return Err(invalid("write it like net.ipv4.tcp_timestamps"));
    }
    Ok(PathBuf::from("/proc/sys").join(swapped))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_become_paths() {
        let shown = |key| path(key).expect("a key").display().to_string();
        assert_eq!(shown("net.ipv4.tcp_timestamps"), "/proc/sys/net/ipv4/tcp_timestamps");
        assert_eq!(shown("net.ipv4.conf.eth0/5.rp_filter"), "/proc/sys/net/ipv4/conf/eth0.5/rp_filter");
        for key in ["", ".", "net..x", "net.//.x"] {
            assert!(path(key).is_err(), "{key}");
        }
    }

    #[test]
    fn a_missing_setting_is_named() {
        let error = read("net.no_such").expect_err("there is none").to_string();
        assert_eq!(error, "read on setting net.no_such: No such file or directory (os error 2)");
    }
}
