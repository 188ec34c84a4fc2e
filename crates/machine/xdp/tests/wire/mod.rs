//! Two namespaces and the wire between them.
#![allow(dead_code, reason = "each test takes a part of it")]

use std::process::Command;

use kernel::{link, namespace, sysctl};
use model::{LinkEnd, Mtu};

/// Name of both ends of a wire in their namespaces.
pub(crate) const PORT: &str = "wp0";

pub(crate) struct Wire {
    pub(crate) a: String,
    pub(crate) b: String,
}

impl Wire {
    /// A veth pair with both ends up.
    pub(crate) fn up(test: &str) -> Self {
        Self::new(test, 1, 1500)
    }

    /// The same with this MTU.
    pub(crate) fn with_mtu(test: &str, mtu: u32) -> Self {
        Self::new(test, 1, mtu)
    }

    /// The same with `queues` queues in each direction.
    pub(crate) fn with_queues(test: &str, queues: u32) -> Self {
        Self::new(test, queues, 1500)
    }

    fn new(test: &str, queues: u32, mtu: u32) -> Self {
        let [a, b] = ["a", "b"].map(|end| format!("wptest{}{test}-{end}", std::process::id()));
        let wire = Self { a, b };
        let ends = [&wire.a, &wire.b].map(|namespace| {
            namespace::create(namespace).expect("this test needs root");
            LinkEnd { namespace: namespace.clone(), interface: PORT.to_owned() }
        });
        link::create_veth(&ends[0], &ends[1], Mtu(mtu)).expect("veth");
        wire.set_queues(&wire.a, queues, queues);
        wire.set_queues(&wire.b, queues, queues);
        for end in &ends {
            // Only our own packets may be there: one from another core would move the receiver.
            let disable = || sysctl::write("net.ipv6.conf.all.disable_ipv6", "1");
            namespace::within(&end.namespace, disable).expect("it exists").expect("settable");
            link::set_up(&end.namespace, &end.interface).expect("it was just made");
        }
        wire
    }

    pub(crate) fn set_queues(&self, namespace: &str, receive: u32, send: u32) {
        let set = || {
            let (receive, send) = (receive.to_string(), send.to_string());
            let status = Command::new("ethtool").args(["-L", PORT, "rx", &receive, "tx", &send]).output();
            let output = status.expect("ethtool is installed");
            // 80: they are already set.
            assert!(output.status.success() || output.status.code() == Some(80), "{output:?}");
        };
        namespace::within(namespace, set).expect("it exists");
    }

    /// Output of `ip` about the end at b.
    pub(crate) fn link_of_b(&self) -> String {
        let shown = || Command::new("ip").args(["link", "show", PORT]).output().expect("iproute2 is installed").stdout;
        String::from_utf8(namespace::within(&self.b, shown).expect("it exists")).expect("text")
    }

    pub(crate) fn at_a<T: Send>(&self, f: impl FnOnce() -> T + Send) -> T {
        namespace::within(&self.a, f).expect("it exists")
    }

    pub(crate) fn at_b<T: Send>(&self, f: impl FnOnce() -> T + Send) -> T {
        namespace::within(&self.b, f).expect("it exists")
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        for name in [&self.a, &self.b] {
            // An earlier test may have failed and left it.
            let _ = namespace::delete(name);
        }
    }
}
