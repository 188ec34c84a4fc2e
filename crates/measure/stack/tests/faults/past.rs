//! A wire with a stack at its near end.

use std::{
    net::UdpSocket,
    process::Command,
    time::{Duration, Instant},
};

use grant::{Attachment, Control, Grant};
use model::bypass::Wait;
use wireproof_stack::Stack;

use crate::{
    ends::{Ends, Version, address},
    wire::{PORT, Wire},
};

pub(crate) struct Past {
    pub(crate) stack: Stack,
    pub(crate) page: Control,
    pub(crate) wire: Wire,
    _attachment: Attachment,
}

impl Past {
    pub(crate) fn open(test: &str, wait: Wait) -> Self {
        Self::over(Wire::up(test), wait)
    }

    pub(crate) fn over(wire: Wire, wait: Wait) -> Self {
        address(&wire);
        let (attachment, grant) = wire.at_a(|| Grant::make(&[PORT.to_owned()])).expect("veth has native XDP");
        let page = Control::open(grant.control.file().expect("made here").try_clone_to_owned().expect("dup"))
            .expect("the same page");
        let stack = wire.at_a(|| Stack::new(grant, wait)).expect("descriptors");
        Self { stack, page, wire, _attachment: attachment }
    }

    /// Runs `f` in the near end's namespace, with a connected IPv4 socket to the far end.
    pub(crate) fn connected<T: Send>(&self, f: impl FnOnce(&Ends<'_>) -> T + Send) -> T {
        self.wire.at_a(|| f(&Ends::open(&self.wire, Version::V4, true, Some(&self.stack))))
    }

    /// A bound socket at the near end.
    pub(crate) fn bound(&self, port: u16) -> UdpSocket {
        self.wire.at_a(|| UdpSocket::bind(Version::V4.at(1, port))).expect("it is free")
    }

    /// Runs `ip` at an end, and lets the stack follow the change.
    pub(crate) fn ip(&self, namespace: &str, words: &str) {
        let run = || Command::new("ip").args(words.split_whitespace()).output().expect("iproute2 is installed");
        let output = kernel::namespace::within(namespace, run).expect("it exists");
        assert!(output.status.success(), "ip {words}: {output:?}");
        self.page.change();
    }
}

/// Whether the condition becomes true soon.
pub(crate) fn soon(mut is_so: impl FnMut() -> bool) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(5) {
        if is_so() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    false
}
