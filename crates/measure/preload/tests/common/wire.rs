//! A veth pair between two namespaces, and a launcher at one end.
#![allow(dead_code, reason = "each test takes a part of it")]

use std::{
    net::IpAddr,
    process::Command,
    sync::mpsc::{Receiver, channel},
    thread,
    time::{Duration, Instant},
};

use grant::{Attachment, Launcher, launch::Event};
use kernel::{link, namespace};
use model::{LinkEnd, Mtu};

pub(crate) const PORT: &str = "wp0";
pub(crate) const OWN: [&str; 2] = ["198.18.0.1", "2001:2::1"];
pub(crate) const ECHO: [&str; 2] = ["198.18.0.2", "2001:2::2"];

/// Namespaces: first of the programs, then of the echo.
pub(crate) struct Wire {
    pub(crate) namespaces: [String; 2],
}

impl Wire {
    pub(crate) fn up(test: &str) -> Self {
        let namespaces = ["a", "b"].map(|end| format!("wptest{}{test}-{end}", std::process::id()));
        let ends = namespaces.each_ref().map(|namespace| {
            namespace::create(namespace).expect("this test needs root");
            LinkEnd { namespace: namespace.clone(), interface: PORT.to_owned() }
        });
        let wire = Self { namespaces };
        link::create_veth(&ends[0], &ends[1], Mtu(1500)).expect("veth");
        for (number, end) in ends.iter().enumerate() {
            link::set_up(&end.namespace, PORT).expect("it was just made");
            link::set_up(&end.namespace, "lo").expect("each has one");
            let addresses = if number == 0 { OWN } else { ECHO };
            wire.run(
                number,
                &["sysctl", "-qw", "net.ipv6.conf.all.accept_dad=0", &format!("net.ipv6.conf.{PORT}.accept_dad=0")],
            );
            for (address, prefix) in addresses.iter().zip([24, 64]) {
                let address: IpAddr = address.parse().expect("an address");
                link::add_address(&end.namespace, PORT, address, prefix).expect("it is free");
            }
        }
        // Tests check each ICMP reply.
        wire.run(1, &["sysctl", "-qw", "net.ipv4.icmp_ratelimit=0", "net.ipv6.icmp.ratelimit=0"]);
        let until = Instant::now() + Duration::from_secs(5);
        while !wire.answers() {
            assert!(Instant::now() < until, "the wire carries nothing");
            thread::sleep(Duration::from_millis(20));
        }
        wire
    }

    /// Whether IPv6 addresses are usable at both ends.
    fn answers(&self) -> bool {
        (0..2).all(|end| {
            let shown =
                self.command(end, "ip").args(["-6", "address", "show", "tentative"]).output().expect("iproute2");
            shown.stdout.is_empty()
        })
    }

    fn run(&self, end: usize, words: &[&str]) {
        assert!(
            self.command(end, words[0]).args(&words[1..]).status().expect("it is installed").success(),
            "{words:?}"
        );
    }

    /// A command in the namespace of an end.
    pub(crate) fn command(&self, end: usize, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.namespaces[end]]).arg(program);
        command
    }

    /// Attaches a launcher to the programs' end.
    pub(crate) fn launcher(&self) -> (Launcher, Receiver<Event>) {
        let start = || {
            let (tell, told) = channel();
            let attachment = Attachment::new(&[PORT.to_owned()]).expect("veth has native XDP");
            assert!(attachment.refused.is_empty(), "{:?}", attachment.refused);
            (Launcher::start(attachment, tell).expect("it starts"), told)
        };
        namespace::within(&self.namespaces[0], start).expect("it exists")
    }

    /// The kernel's UDP counters at the programs' end: datagrams received and sent.
    pub(crate) fn counted(&self) -> [u64; 2] {
        let read = |path: &str| std::fs::read_to_string(path).expect("proc is there");
        let texts = || [read("/proc/thread-self/net/snmp"), read("/proc/thread-self/net/snmp6")];
        let [v4, v6] = namespace::within(&self.namespaces[0], texts).expect("it exists");
        let mut lines = v4.lines().filter(|line| line.starts_with("Udp:")).map(|line| line.split_ascii_whitespace());
        let (names, values) = (lines.next().expect("names"), lines.next().expect("values"));
        let old: Vec<(&str, &str)> = names.zip(values).collect();
        ["InDatagrams", "OutDatagrams"].map(|name| {
            let of_v4 = old.iter().find(|(known, _)| *known == name).and_then(|(_, value)| value.parse().ok());
            let mut of_v6 = v6.lines().filter_map(|line| line.split_once(char::is_whitespace));
            let of_v6 = of_v6
                .find(|(known, _)| *known == format!("Udp6{name}"))
                .and_then(|(_, value)| value.trim().parse().ok());
            of_v4.unwrap_or(0_u64) + of_v6.unwrap_or(0_u64)
        })
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        for name in &self.namespaces {
            // An earlier test may have failed and left it.
            let _ = namespace::delete(name);
        }
    }
}
