//! Settings of an interface that only exist as files below `/sys/class/net`.

use std::{fs::File, io, io::Read, io::Write, os::fd::OwnedFd};

use rustix::{
    fs::{Mode, OFlags, openat},
    mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen},
};

use crate::{
    error::{On, Result, invalid},
    link::check_name,
};

/// Reads a setting of an interface of the calling thread's namespace, like `napi_defer_hard_irqs`.
pub fn read(interface: &str, setting: &str) -> Result<String> {
    let mut text = String::new();
    let file = open(interface, setting, OFlags::RDONLY);
    file.and_then(|mut file| file.read_to_string(&mut text)).on("read", shown(interface, setting))?;
    Ok(text.trim_end().to_owned())
}

/// Writes a setting.
pub fn write(interface: &str, setting: &str, value: &str) -> Result<()> {
    let file = open(interface, setting, OFlags::WRONLY);
    file.and_then(|mut file| file.write_all(value.as_bytes())).on("write", shown(interface, setting))
}

fn open(interface: &str, setting: &str, flags: OFlags) -> io::Result<File> {
    check_name(interface).map_err(|_| invalid("no name of an interface"))?;
    let path = format!("class/net/{interface}/{setting}");
    Ok(openat(sysfs()?, path, flags | OFlags::CLOEXEC, Mode::empty())?.into())
}

/// A detached mount: `/sys` shows the interfaces of the namespace in which it was mounted.
fn sysfs() -> io::Result<OwnedFd> {
    let context = fsopen("sysfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(&context)?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    Ok(fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, attributes)?)
}

fn shown(interface: &str, setting: &str) -> String {
    format!("{setting} of interface {interface}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::namespace;

    #[test]
    fn settings_are_those_of_the_namespace() {
        let other = format!("wptest{}setting", std::process::id());
        namespace::create(&other).expect("this test needs root");
        let here = read("lo", "gro_flush_timeout");
        let there = namespace::within(&other, || {
            write("lo", "gro_flush_timeout", "50000")?;
            read("lo", "gro_flush_timeout")
        });
        let still = read("lo", "gro_flush_timeout");
        namespace::delete(&other).expect("it is ours");
        assert_eq!(there.expect("it is there").expect("it can be set"), "50000");
        assert_eq!((here.expect("readable"), still.expect("readable")), ("0".to_owned(), "0".to_owned()));
    }

    #[test]
    fn what_is_not_there_is_named() {
        let error = read("none0", "mtu").expect_err("there is none").to_string();
        assert_eq!(error, "read on mtu of interface none0: No such file or directory (os error 2)");
        assert!(read("..", "mtu").is_err() && read("a/b", "mtu").is_err());
    }
}
