//! Parts of machines: cards, wires between them, a disk.

use std::{
    fs::File,
    path::{Path, PathBuf},
    process::Command,
};

use tempfile::TempDir;

use crate::machine::Machine;

/// A folder for one story: sockets, disks, and the machines' console output. Stories share nothing, and some run at the
/// same time.
pub(crate) struct Lab {
    folder: TempDir,
    wires: u32,
    /// Processors of each machine.
    processors: u8,
}

/// One end of a wire.
pub(crate) struct WireEnd {
    /// Sockets of this end and of the other one.
    sockets: [PathBuf; 2],
}

/// An emulated network card.
pub(crate) struct Card {
    /// Name in QEMU, and its interface's.
    pub(crate) name: &'static str,
    /// QEMU's name for the device, which is about the driver's.
    device: &'static str,
    wire: WireEnd,
}

impl Lab {
    /// For machines with one processor: emulating two costs half as much again, to keep shared memory consistent.
    pub(crate) fn new() -> Self {
        Self { folder: TempDir::new().unwrap(), wires: 0, processors: 1 }
    }

    /// For machines with two processors, in tests that may depend on several.
    pub(crate) fn with_two_processors() -> Self {
        Self { processors: 2, ..Self::new() }
    }

    /// A wire, as its two ends.
    pub(crate) fn wire(&mut self) -> [WireEnd; 2] {
        self.wires += 1;
        let end = |name| self.folder.path().join(format!("wire{}{name}", self.wires));
        [WireEnd { sockets: [end("a"), end("b")] }, WireEnd { sockets: [end("b"), end("a")] }]
    }

    /// Two cards connected by a wire.
    pub(crate) fn pair(&mut self, device: &'static str, names: [&'static str; 2]) -> [Card; 2] {
        let [a, b] = self.wire();
        [Card::new(names[0], device, a), Card::new(names[1], device, b)]
    }

    /// Boots a machine. Its name is its host name; its disk is at `/var/lib/wireproof` and survives a power cut.
    pub(crate) fn boot(&self, name: &'static str, cards: &[Card]) -> Machine {
        self.boot_from("initrd", name, cards)
    }

    /// The same with systemd, udev, dbus, and network managers.
    pub(crate) fn boot_systemd(&self, name: &'static str, cards: &[Card]) -> Machine {
        self.boot_from("initrd-systemd", name, cards)
    }

    fn boot_from(&self, system: &str, name: &'static str, cards: &[Card]) -> Machine {
        let disk = self.folder.path().join(format!("{name}.disk"));
        File::create(&disk).unwrap().set_len(32 << 20).unwrap();
        let made =
            Command::new("mkfs.ext4").args(["-q", "-F"]).arg(&disk).output().expect("./x test-drivers installs it");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let cards = cards.iter().zip(1..).flat_map(|(card, slot)| card.words(name, slot)).collect();
        Machine::boot(name, self.processors, self.folder.path(), [&image(system), &disk], cards)
    }
}

impl Card {
    pub(crate) fn new(name: &'static str, device: &'static str, wire: WireEnd) -> Self {
        Self { name, device, wire }
    }

    /// QEMU's arguments for it: in its own PCIe port, from which it can be unplugged.
    fn words(&self, machine: &str, slot: u8) -> Vec<String> {
        let Self { name, device, wire: WireEnd { sockets: [own, other] } } = self;
        let (own, other, mac) = (own.display(), other.display(), mac(machine, slot));
        let wire =
            format!("dgram,id=wire-{name},local.type=unix,local.path={own},remote.type=unix,remote.path={other}");
        let port = format!("pcie-root-port,id=port{slot},chassis={slot},slot={slot}");
        let card = format!("{device},id={name},bus=port{slot},netdev=wire-{name},mac={mac},romfile=");
        ["-netdev", &wire, "-device", &port, "-device", &card].map(str::to_owned).into()
    }
}

/// Unique for each card of a story: locally administered, with a byte of the machine's name and one of the slot.
pub(crate) fn mac(machine: &str, slot: u8) -> String {
    format!("52:54:00:00:{:02x}:{slot:02x}", machine.bytes().fold(0_u8, u8::wrapping_add))
}

/// A file made by `./x test-drivers` for the machines.
pub(crate) fn image(name: &str) -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let image = target.join("drivers").join(name);
    assert!(image.exists(), "there is no {}: these tests are run by ./x test-drivers", image.display());
    image
}
