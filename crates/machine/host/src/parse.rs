//! Parsers of the kernel's text files.

use std::path::Path;

/// Value of a shell-like assignment in os-release(5).
pub(crate) fn assignment(text: &str, key: &str) -> Option<String> {
    let value = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='))?;
    Some(value.trim().trim_matches(['"', '\'']).to_owned())
}

/// Value of the first `key : value` line, as in `/proc/cpuinfo` and `/proc/meminfo`.
pub(crate) fn field(text: &str, key: &str) -> Option<String> {
    text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == key).then(|| value.trim().to_owned())
    })
}

/// `MemTotal` of `/proc/meminfo`, in bytes.
pub(crate) fn memory_bytes(meminfo: &str) -> Option<u64> {
    Some(field(meminfo, "MemTotal")?.strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}

/// The hypervisor: by name, by its vendor, or just its presence.
pub(crate) fn hypervisor(named: &str, maker: &str, cpuinfo: &str) -> Option<String> {
    const MAKERS: [(&str, &str); 8] = [
        ("QEMU", "KVM or QEMU"),
        ("VMware", "VMware"),
        ("innotek", "VirtualBox"),
        ("Microsoft", "Hyper-V"),
        ("Xen", "Xen"),
        ("Amazon EC2", "Amazon EC2"),
        ("Google", "Google Compute Engine"),
        ("DigitalOcean", "DigitalOcean"),
    ];
    // Set by the processor or the hypervisor: CPUID leaf 1, ECX bit 31.
    let is_virtual = field(cpuinfo, "flags").is_some_and(|flags| flags.split(' ').any(|flag| flag == "hypervisor"));
    let by_maker = || MAKERS.iter().find(|(known, _)| maker.starts_with(known)).map(|(_, name)| *name);
    match (named, is_virtual) {
        ("", false) => None,
        ("", true) => Some(by_maker().unwrap_or("of unknown kind").to_owned()),
        (name, _) => Some(name.to_owned()),
    }
}

/// Speed from sysfs, in Mbit/s; -1 means unknown.
pub(crate) fn speed(text: &str) -> Option<u32> {
    text.trim().parse().ok()
}

/// The file system at `/`, from `/proc/self/mounts`: the last of several mounts.
pub(crate) fn root_file_system(mounts: &str) -> Option<String> {
    let root = mounts.lines().rev().find(|line| line.split(' ').nth(1) == Some("/"))?;
    let mut fields = root.split(' ');
    let (device, kind, options) = (fields.next()?, fields.nth(1)?, fields.next()?);
    Some(format!("{kind} on {device} ({options})"))
}

/// The service of a process, from `/proc/PID/cgroup`: the innermost service unit.
pub(crate) fn service(cgroup: &str) -> Option<String> {
    let units = cgroup.lines().filter_map(|line| line.splitn(3, ':').nth(2)).flat_map(|path| path.split('/'));
    units.filter_map(|unit| unit.trim().strip_suffix(".service")).next_back().map(str::to_owned)
}

/// Vendor and model of a PCI device from the PCI ID list; the vendor only, if the model is missing.
pub(crate) fn pci_name(list: &str, vendor: &str, device: &str) -> Option<String> {
    let mut lines = list.lines().skip_while(|line| entry(line, "", vendor).is_none());
    let maker = entry(lines.next()?, "", vendor)?;
    let mut models = lines.take_while(|line| line.starts_with(['\t', '#']));
    let model = models.find_map(|line| entry(line, "\t", device)).map_or_else(|| device.to_owned(), str::to_owned);
    Some(format!("{maker} {model}"))
}

/// The name in a line of the PCI ID list that begins with this ID.
fn entry<'a>(line: &'a str, indent: &str, id: &str) -> Option<&'a str> {
    line.strip_prefix(indent)?.strip_prefix(id)?.strip_prefix("  ")
}

/// Last part of a path as text.
pub(crate) fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Debian 12.
    const OS_RELEASE: &str =
        "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nNAME=\"Debian GNU/Linux\"\nVERSION_ID=\"12\"\n";
    /// The first core of a virtual machine, with shortened flags.
    const CPUINFO: &str = "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\n\
        model name\t: AMD EPYC\nstepping\t: 1\nmicrocode\t: 0x1000065\ncpu MHz\t\t: 2596.140\n\
        flags\t\t: fpu vme rdrand hypervisor lahf_lm\npower management:\n\nprocessor\t: 1\n";

    #[test]
    fn the_operating_system_is_named() {
        assert_eq!(assignment(OS_RELEASE, "PRETTY_NAME").as_deref(), Some("Debian GNU/Linux 12 (bookworm)"));
        assert_eq!(assignment(OS_RELEASE, "NAME").as_deref(), Some("Debian GNU/Linux"));
        assert_eq!(assignment("ID=alpine\nVERSION_ID=3.20", "ID").as_deref(), Some("alpine"));
        assert_eq!(assignment(OS_RELEASE, "VERSION"), None);
    }

    #[test]
    fn the_processor_is_named() {
        assert_eq!(field(CPUINFO, "model name").as_deref(), Some("AMD EPYC"));
        assert_eq!(field(CPUINFO, "microcode").as_deref(), Some("0x1000065"));
        assert_eq!(field(CPUINFO, "Model"), None);
    }

    #[test]
    fn memory_is_in_bytes() {
        let meminfo = "MemTotal:       49368168 kB\nMemFree:        33219456 kB\n";
        assert_eq!(memory_bytes(meminfo), Some(49_368_168 * 1024));
        assert_eq!(memory_bytes(""), None);
    }

    #[test]
    fn hypervisors_are_told_from_bare_metal() {
        assert_eq!(hypervisor("", "", CPUINFO).as_deref(), Some("of unknown kind"));
        assert_eq!(hypervisor("", "QEMU", CPUINFO).as_deref(), Some("KVM or QEMU"));
        assert_eq!(hypervisor("xen", "", CPUINFO).as_deref(), Some("xen"));
        let metal = CPUINFO.replace(" hypervisor", "");
        assert_eq!(hypervisor("", "Microsoft Corporation", &metal), None, "a laptop");
    }

    #[test]
    fn the_root_file_system_is_the_one_on_top() {
        let mounts =
            "rootfs / rootfs rw 0 0\n/dev/sda1 / ext4 rw,relatime,errors=remount-ro 0 0\nproc /proc proc rw 0 0\n";
        assert_eq!(root_file_system(mounts).as_deref(), Some("ext4 on /dev/sda1 (rw,relatime,errors=remount-ro)"));
        assert_eq!(root_file_system(""), None);
    }

    #[test]
    fn a_process_is_counted_to_its_innermost_service() {
        assert_eq!(service("0::/system.slice/ssh.service\n").as_deref(), Some("ssh"));
        let user = "0::/user.slice/user-1000.slice/user@1000.service/app.slice/pipewire.service\n";
        assert_eq!(service(user).as_deref(), Some("pipewire"));
        assert_eq!(service("0::/user.slice/user-1000.slice/session-3.scope\n"), None);
        assert_eq!(service("12:cpu:/\n1:name=systemd:/system.slice/cron.service\n").as_deref(), Some("cron"));
    }

    #[test]
    fn a_speed_that_is_not_known_is_none() {
        assert_eq!(speed("10000\n"), Some(10_000));
        assert_eq!(speed("-1\n"), None);
    }

    #[test]
    fn a_card_goes_by_its_maker_and_model() {
        let list = "# comment\n8086  Intel Corporation\n\t10fb  82599ES\n\t\t8086 10fb  X520\n\t1533  I210\n9999  Other\n\t10fb  No\n";
        assert_eq!(pci_name(list, "8086", "1533").as_deref(), Some("Intel Corporation I210"));
        assert_eq!(pci_name(list, "8086", "10fb").as_deref(), Some("Intel Corporation 82599ES"));
        assert_eq!(pci_name(list, "8086", "ffff").as_deref(), Some("Intel Corporation ffff"));
        assert_eq!(pci_name(list, "1234", "10fb"), None);
    }
}
