//! The kernel log.

use std::{fs::OpenOptions, io::Read, os::unix::fs::OpenOptionsExt};

use crate::error::{On, Result};

/// Longest record of /dev/kmsg (`CONSOLE_EXT_LOG_MAX` of linux/printk.h).
const RECORD: usize = 8192;

/// All available lines, the oldest first.
pub fn lines() -> Result<Vec<String>> {
    let path = "/dev/kmsg";
    let mut log = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path).on("open", path)?;
    let (mut lines, mut record) = (Vec::new(), [0; RECORD]);
    loop {
        match log.read(&mut record) {
            Ok(0) => return Ok(lines),
            Ok(length) => lines.extend(message(&String::from_utf8_lossy(&record[..length]))),
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => return Ok(lines),
            // Overwritten during the read: the next read goes on behind the gap.
            Err(error) if error.raw_os_error() == Some(libc::EPIPE) => {}
            Err(error) => return Err(error).on("read", path),
        }
    }
}

/// Text of a record: from the first semicolon to the end of its line (Documentation/ABI/testing/dev-kmsg).
fn message(record: &str) -> Option<String> {
    Some(record.split_once(';')?.1.lines().next()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_its_message() {
        let record = "6,339,5140900,-;NET: Registered PF_INET6 protocol family\n SUBSYSTEM=x\n";
        assert_eq!(message(record).as_deref(), Some("NET: Registered PF_INET6 protocol family"));
        assert_eq!(message("nothing"), None);
    }

    #[test]
    fn the_log_is_read_to_its_end() {
        assert!(lines().expect("tests run as root").len() > 1);
    }
}
