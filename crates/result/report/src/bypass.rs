//! What `bypass` says: what became of a program's sockets, and why something stays with the kernel.

use std::{fmt::Display, net::SocketAddr};

use model::bypass::{Hindrance, Kind, NotSet, Obstacle, Reason};

use crate::{lang::Lang, texts::Texts};

/// Words of `bypass` in one language, a line or a part of one each.
#[derive(Clone, Copy)]
pub struct Words {
    t: &'static Texts,
}

/// How the kernel's own counters stand to what is known to have gone through it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flat {
    /// They counted next to nothing.
    Flat,
    /// They counted no more than that.
    Known,
    /// They counted more.
    Not,
    /// Nobody can say: sockets stayed with the kernel.
    Unknown,
}

/// Why no socket was seen.
#[derive(Clone, Copy, Debug)]
pub enum Unseen<'a> {
    /// This is in the way of the library.
    Obstacle(&'a Obstacle),
    /// The library was not loaded: there was no interface.
    NotLoaded,
    /// There was none, as far as the library sees.
    NotSeen,
}

/// How a socket went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Past the kernel.
    Past,
    /// It could have, and none of its datagrams did.
    NoneDid,
    /// It could have, and there were no datagrams.
    NoDatagrams,
    /// Past the kernel, until it was shut down.
    UntilShutDown,
    /// Past the kernel, until this came to pass.
    Left(Reason),
    /// Through the kernel, for this reason.
    Through(Reason),
}

/// What a steering program left to the kernel of what was for a program's ports.
#[derive(Clone, Copy, Debug)]
pub enum Left {
    /// For other addresses or peers.
    Flow,
    /// Larger than a frame.
    Large,
    /// On queues without a socket.
    Queue,
}

/// What the kernel did not hand over of a queue.
#[derive(Clone, Copy, Debug)]
pub enum NotHanded {
    /// The ring was full.
    RingFull,
    /// There was no frame.
    NoFrame,
    /// For another reason.
    Dropped,
}

/// Datagrams and bytes each way.
#[derive(Clone, Copy, Debug)]
pub struct Ways {
    /// Datagrams in.
    pub received: u64,
    /// Their bytes.
    pub received_bytes: u64,
    /// Datagrams out.
    pub sent: u64,
    /// Their bytes.
    pub sent_bytes: u64,
}

impl Words {
    /// In this language.
    pub fn of(lang: Lang) -> Self {
        Self { t: Texts::of(lang) }
    }

    /// Why a socket is with the kernel.
    pub fn reason(self, reason: Reason) -> String {
        self.t.get(match reason {
            Reason::Tcp => "bypass-reason-tcp",
            Reason::NotUdp => "bypass-reason-not-udp",
            Reason::NotBound => "bypass-reason-not-bound",
            Reason::OtherInterface => "bypass-reason-other-interface",
            Reason::OtherDevice => "bypass-reason-other-device",
            Reason::IpOptions => "bypass-reason-ip-options",
            Reason::Cork => "bypass-reason-cork",
            Reason::Timestamping => "bypass-reason-timestamping",
            Reason::Filter => "bypass-reason-filter",
            Reason::ZeroCopy => "bypass-reason-zero-copy",
            Reason::Encapsulation => "bypass-reason-encapsulation",
            Reason::Stdio => "bypass-reason-stdio",
            Reason::ShutDown => "bypass-reason-shut-down",
            Reason::Signals => "bypass-reason-signals",
            Reason::SharedPort => "bypass-reason-shared-port",
            Reason::NoGrant => "bypass-reason-no-grant",
            Reason::Unusable => "bypass-reason-unusable",
            Reason::TableFull => "bypass-reason-table-full",
            Reason::InterfaceGone => "bypass-reason-interface-gone",
            Reason::Forked => "bypass-reason-forked",
            Reason::Unreadable => "bypass-reason-unreadable",
            Reason::NoMemory => "bypass-reason-no-memory",
            Reason::Unsupported => "bypass-reason-unsupported",
            Reason::Timestamp => "bypass-reason-timestamp",
            Reason::Mark => "bypass-reason-mark",
            Reason::DontRoute => "bypass-reason-dont-route",
            Reason::Overflow => "bypass-reason-overflow",
            Reason::Transparent => "bypass-reason-transparent",
            Reason::MinTtl => "bypass-reason-min-ttl",
            Reason::Security => "bypass-reason-security",
            Reason::OriginalAddress => "bypass-reason-original-address",
            Reason::Checksum => "bypass-reason-checksum",
            Reason::FragmentSize => "bypass-reason-fragment-size",
            Reason::UnicastInterface => "bypass-reason-unicast-interface",
            Reason::OldPacketInfo => "bypass-reason-old-packet-info",
            Reason::FlowInfo => "bypass-reason-flow-info",
            Reason::PeekOffset => "bypass-reason-peek-offset",
            Reason::Scope => "bypass-reason-scope",
            Reason::Fault => "bypass-reason-fault",
            Reason::Inherited => "bypass-reason-inherited",
            Reason::Jump => "bypass-reason-jump",
        })
    }

    /// Why an interface stays with the kernel, or a program has no queues.
    pub fn hindrance(self, why: &Hindrance) -> String {
        let t = self.t;
        match why {
            Hindrance::Uplink => t.get("bypass-stays-uplink"),
            Hindrance::NoEthernet => t.get("bypass-stays-no-ethernet"),
            Hindrance::NoXdp(interface) => t.with("bypass-stays-no-xdp", &[("interface", interface)]),
            Hindrance::OtherProgram(interface) => t.with("bypass-stays-other-program", &[("interface", interface)]),
            Hindrance::Held { interface, queue } => {
                t.with("bypass-stays-held", &[("interface", interface), ("queue", queue)])
            }
            Hindrance::AllGone => t.get("bypass-stays-all-gone"),
            Hindrance::NotOurs => t.get("bypass-stays-not-ours"),
            Hindrance::HeldBy { program, process } => {
                t.with("bypass-stays-held-by", &[("program", program), ("pid", process)])
            }
            Hindrance::Unusable(why) => t.with("bypass-stays-unusable", &[("why", why)]),
            Hindrance::Error(error) => error.clone(),
        }
    }

    /// What is in the way of a program.
    pub fn obstacle(self, obstacle: &Obstacle) -> String {
        let t = self.t;
        let why = t.get(match obstacle.kind {
            Kind::Static => "bypass-obstacle-static",
            Kind::Go => "bypass-obstacle-go",
            Kind::SetId => "bypass-obstacle-set-id",
            Kind::OtherMachine => "bypass-obstacle-other-machine",
            Kind::OtherLibc => "bypass-obstacle-other-libc",
        });
        t.with("bypass-obstacle", &[("program", &obstacle.program.display()), ("why", &why)])
    }

    /// What a card was not told.
    pub fn not_set(self, what: &NotSet) -> String {
        let t = self.t;
        match what {
            NotSet::NoPolling { interface } => t.with("bypass-not-set-polling", &[("interface", interface)]),
            NotSet::Nothing { why } => t.with("bypass-not-set-nothing", &[("why", why)]),
            NotSet::Setting { why } => t.with("bypass-not-set-setting", &[("why", why)]),
            NotSet::Rule { interface, why } => t.with("bypass-not-set-rule", &[("interface", interface), ("why", why)]),
            NotSet::GivenBack { why } => why.clone(),
        }
    }

    /// An interface that is not bypassed.
    pub fn stays(self, interface: &str, why: &Hindrance) -> String {
        self.t.with("bypass-stays", &[("interface", &interface), ("why", &self.hindrance(why))])
    }

    /// There is no interface to bypass, though there were some, or as there was none.
    pub fn nothing(self, were_passed: bool) -> String {
        self.t.get(if were_passed { "bypass-nothing-left" } else { "bypass-nothing" })
    }

    /// A program that has no queues.
    pub fn refused(self, program: &str, why: &Hindrance) -> String {
        self.t.with("bypass-refused", &[("program", &program), ("why", &self.hindrance(why))])
    }

    /// An interface that can be used again.
    pub fn well(self, interface: &str) -> String {
        self.t.with("bypass-well", &[("interface", &interface)])
    }

    /// One that is down.
    pub fn down(self, interface: &str) -> String {
        self.t.with("bypass-down", &[("interface", &interface)])
    }

    /// One that is not there any more.
    pub fn gone(self, interface: &str) -> String {
        self.t.with("bypass-gone", &[("interface", &interface)])
    }

    /// One whose XDP program was taken away.
    pub fn no_program(self, interface: &str) -> String {
        self.t.with("bypass-no-program", &[("interface", &interface)])
    }

    /// So many sockets.
    pub fn sockets(self, count: usize) -> String {
        self.t.count("bypass-sockets", count as u64)
    }

    /// A socket by its descriptor, and its ends.
    pub fn socket(self, descriptor: i32, local: Option<SocketAddr>, peer: Option<SocketAddr>) -> String {
        let t = self.t;
        let local = local.map_or_else(|| t.get("bypass-not-bound"), |local| local.to_string());
        let ends = match peer {
            Some(peer) => t.with("bypass-ends", &[("local", &local), ("peer", &peer)]),
            None => local,
        };
        t.with("bypass-socket", &[("descriptor", &descriptor), ("ends", &ends)])
    }

    /// How a socket went.
    pub fn fate(self, fate: Fate) -> String {
        let t = self.t;
        match fate {
            Fate::Past => t.get("bypass-fate-past"),
            Fate::NoneDid => t.get("bypass-fate-none-did"),
            Fate::NoDatagrams => t.get("bypass-fate-no-datagrams"),
            Fate::UntilShutDown => t.get("bypass-fate-shut-down"),
            Fate::Left(why) => t.with("bypass-fate-left", &[("why", &self.reason(why))]),
            Fate::Through(why) => self.through_kernel(&self.reason(why)),
        }
    }

    fn through_kernel(self, why: &str) -> String {
        self.t.with("bypass-fate-through", &[("why", &why)])
    }

    fn ways(self, ways: &Ways) -> String {
        let Ways { received, received_bytes, sent, sent_bytes } = ways;
        let values: [(&str, &dyn Display); 4] =
            [("received", received), ("received_bytes", received_bytes), ("sent", sent), ("sent_bytes", sent_bytes)];
        self.t.with("bypass-ways", &values)
    }

    /// What went past the kernel and what was dropped there, of a socket that is still past it or has left.
    pub fn past(self, ways: &Ways, dropped: u64, has_left: bool) -> String {
        let values: [(&str, &dyn Display); 2] = [("ways", &self.ways(ways)), ("dropped", &dropped)];
        let t = self.t;
        if has_left { t.with("bypass-past-left", &values) } else { t.with("bypass-past", &values) }
    }

    /// What went through the kernel.
    pub fn through(self, ways: &Ways) -> String {
        self.t.with("bypass-through", &[("ways", &self.ways(ways))])
    }

    /// Sockets that have no lines of their own.
    pub fn beyond(self, sockets: usize, past: &Ways, through: &Ways) -> String {
        let (sockets, past, through) = (self.sockets(sockets), self.ways(past), self.ways(through));
        self.t.with("bypass-beyond", &[("sockets", &sockets), ("past", &past), ("through", &through)])
    }

    /// Frames that were for no socket.
    pub fn refused_frames(self, count: u64) -> String {
        self.t.count("bypass-refused-frames", count)
    }

    /// A queue, and what was not handed over of it.
    pub fn queue(self, interface: &str, number: u32, zero_copy: bool, lost: &[(NotHanded, u64)]) -> String {
        let t = self.t;
        let values: [(&str, &dyn Display); 2] = [("interface", &interface), ("number", &number)];
        let queue =
            if zero_copy { t.with("bypass-queue-zero-copy", &values) } else { t.with("bypass-queue-copy", &values) };
        let with = |line: String, (what, count): &(NotHanded, u64)| {
            let key = match what {
                NotHanded::RingFull => "bypass-queue-ring-full",
                NotHanded::NoFrame => "bypass-queue-no-frame",
                NotHanded::Dropped => "bypass-queue-dropped",
            };
            t.with(key, &[("line", &line), ("count", count)])
        };
        lost.iter().filter(|(_, count)| *count > 0).fold(queue, with)
    }

    /// A program that was given no queues, and so many others of its name for the same reason.
    pub fn without_queues(self, program: &str, others: usize, why: &Hindrance) -> String {
        let fate = self.through_kernel(&self.hindrance(why));
        if others == 0 {
            return format!("{program}: {fate}");
        }
        let processes = self.t.count("bypass-processes", others as u64);
        self.t.with("bypass-refused-alike", &[("program", &program), ("processes", &processes), ("fate", &fate)])
    }

    /// Sockets of those others.
    pub fn of_others(self, sockets: usize, fate: &str) -> String {
        self.t.with("bypass-of-others", &[("sockets", &self.sockets(sockets)), ("fate", &fate)])
    }

    /// Sockets of programs without queues that have no lines of their own.
    pub fn more_outside(self, sockets: usize) -> String {
        self.t.with("bypass-more-outside", &[("sockets", &self.sockets(sockets))])
    }

    /// No socket was seen.
    pub fn unseen(self, why: Unseen<'_>) -> String {
        let t = self.t;
        match why {
            Unseen::Obstacle(obstacle) => t.with("bypass-unseen-why", &[("why", &self.obstacle(obstacle))]),
            Unseen::NotLoaded => t.get("bypass-unseen-not-loaded"),
            Unseen::NotSeen => t.get("bypass-unseen"),
        }
    }

    /// What the steering program took, and what it left to the kernel.
    pub fn taken(self, packets: u64, left: &[(Left, u64)]) -> String {
        let t = self.t;
        let with = |line: String, (what, count): &(Left, u64)| {
            let key = match what {
                Left::Flow => "bypass-left-flow",
                Left::Large => "bypass-left-large",
                Left::Queue => "bypass-left-queue",
            };
            t.with(key, &[("line", &line), ("count", count)])
        };
        let taken = t.with("bypass-taken", &[("packets", &t.count("bypass-packets", packets))]);
        left.iter().filter(|(_, count)| *count > 0).fold(taken, with)
    }

    /// What an interface counted in and out.
    pub fn interface(self, interface: &str, received: u64, sent: u64) -> String {
        let t = self.t;
        let packets = t.count("bypass-packets", received);
        t.with("bypass-interface", &[("interface", &interface), ("packets", &packets), ("sent", &sent)])
    }

    /// An interface that did not stay to the end.
    pub fn interface_gone(self, interface: &str) -> String {
        self.t.with("bypass-interface-gone", &[("interface", &interface)])
    }

    /// What the kernel's own counters counted in and out.
    pub fn kernel(self, received: u64, sent: u64, flat: Flat) -> String {
        let t = self.t;
        let flat = t.get(match flat {
            Flat::Flat => "bypass-flat",
            Flat::Known => "bypass-flat-known",
            Flat::Not => "bypass-flat-not",
            Flat::Unknown => "bypass-flat-unknown",
        });
        let datagrams = t.count("bypass-datagrams", received);
        t.with("bypass-kernel", &[("datagrams", &datagrams), ("sent", &sent), ("flat", &flat)])
    }

    /// A socket of a program, with so many others that have the same fate.
    pub fn of_program(self, program: &str, socket: &str, others: usize, fate: &str) -> String {
        let t = self.t;
        if others == 0 {
            return t.with("bypass-of-program", &[("program", &program), ("socket", &socket), ("fate", &fate)]);
        }
        let sockets = self.sockets(others);
        let values: [(&str, &dyn Display); 4] =
            [("program", &program), ("socket", &socket), ("sockets", &sockets), ("fate", &fate)];
        t.with("bypass-alike-of-program", &values)
    }

    /// Reasons that there is no room for.
    pub fn more_reasons(self, count: usize) -> String {
        self.t.count("bypass-more-reasons", count as u64)
    }

    /// Sockets of TCP.
    pub fn tcp(self, sockets: usize) -> String {
        self.t.with("bypass-tcp", &[("sockets", &self.sockets(sockets))])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both() -> [Words; 2] {
        [Lang::En, Lang::Ja].map(Words::of)
    }

    /// Errors and JSON say it in the same words as the text in English.
    fn is_in_both(english: &impl Display, said: impl Fn(Words) -> String) {
        let [en, ja] = both().map(said);
        assert_eq!(en, english.to_string());
        assert!(ja != en && !ja.contains('⟦'), "{ja}");
    }

    #[test]
    fn every_reason_is_said_in_both_languages() {
        for reason in Reason::ALL {
            is_in_both(&reason, |words| words.reason(reason));
            let japanese = Words::of(Lang::Ja).reason(reason);
            let options = reason.to_string().split(['(', ',', ')']).filter(|it| it.contains('_')).count();
            assert_eq!(japanese.split(['(', '、', ')']).filter(|it| it.contains('_')).count(), options, "{japanese}");
        }
    }

    #[test]
    fn what_keeps_programs_interfaces_and_cards_from_it_is_said_in_both_languages() {
        let name = || "eth1".to_owned();
        for why in [
            Hindrance::Uplink,
            Hindrance::NoEthernet,
            Hindrance::NoXdp(name()),
            Hindrance::OtherProgram(name()),
            Hindrance::Held { interface: name(), queue: 3 },
            Hindrance::AllGone,
            Hindrance::NotOurs,
            Hindrance::HeldBy { program: "nc".into(), process: 7 },
            Hindrance::Unusable("mmap".into()),
        ] {
            is_in_both(&why, |words| words.hindrance(&why));
        }
        for kind in [Kind::Static, Kind::Go, Kind::SetId, Kind::OtherMachine, Kind::OtherLibc] {
            let obstacle = Obstacle { program: "/bin/nc".into(), kind };
            is_in_both(&obstacle, |words| words.obstacle(&obstacle));
        }
        let why = || "ethtool -N".to_owned();
        for what in [
            NotSet::NoPolling { interface: name() },
            NotSet::Nothing { why: why() },
            NotSet::Setting { why: why() },
            NotSet::Rule { interface: name(), why: why() },
        ] {
            is_in_both(&what, |words| words.not_set(&what));
        }
        let error = Hindrance::Error("mmap: no memory".into());
        assert_eq!(both().map(|words| words.hindrance(&error)), ["mmap: no memory"; 2], "errors are English");
    }

    /// Every line with something in it.
    fn lines(words: Words) -> Vec<String> {
        let ways = Ways { received: 1, received_bytes: 20, sent: 3, sent_bytes: 40 };
        let (obstacle, why) = (Obstacle { program: "/bin/nc".into(), kind: Kind::Go }, Hindrance::AllGone);
        let fates = [
            Fate::Past,
            Fate::NoneDid,
            Fate::NoDatagrams,
            Fate::UntilShutDown,
            Fate::Left(Reason::InterfaceGone),
            Fate::Through(Reason::Cork),
        ];
        let mut lines = fates.map(|fate| words.fate(fate)).to_vec();
        lines.extend([Flat::Flat, Flat::Known, Flat::Not, Flat::Unknown].map(|flat| words.kernel(1, 2, flat)));
        lines.extend(
            [Unseen::Obstacle(&obstacle), Unseen::NotLoaded, Unseen::NotSeen].map(|unseen| words.unseen(unseen)),
        );
        let lost = [(NotHanded::RingFull, 1), (NotHanded::NoFrame, 2), (NotHanded::Dropped, 3)];
        lines.extend([
            words.stays("eth1", &why),
            words.nothing(true),
            words.nothing(false),
            words.refused("nc (pid 7)", &why),
            words.well("eth1"),
            words.down("eth1"),
            words.gone("eth1"),
            words.no_program("eth1"),
            words.socket(3, None, None),
            words.socket(3, "198.18.0.1:7".parse().ok(), "198.18.0.2:8".parse().ok()),
            words.without_queues("nc (pid 7)", 0, &why),
            words.past(&ways, 5, false),
            words.past(&ways, 5, true),
            words.through(&ways),
            words.beyond(2, &ways, &ways),
            words.refused_frames(1),
            words.refused_frames(2),
            words.queue("eth1", 3, true, &lost),
            words.queue("eth1", 3, false, &[(NotHanded::RingFull, 0)]),
            words.without_queues("nc (pid 7)", 2, &why),
            words.of_others(2, "through the kernel"),
            words.more_outside(1),
            words.taken(1, &[(Left::Flow, 2), (Left::Large, 3), (Left::Queue, 4)]),
            words.interface("eth1", 2, 3),
            words.interface_gone("eth1"),
            words.of_program("nc", "socket 3", 0, "past"),
            words.of_program("nc", "socket 3", 4, "past"),
            words.more_reasons(1),
            words.more_reasons(2),
            words.tcp(2),
        ]);
        lines
    }

    #[test]
    fn every_line_is_there_in_both_languages() {
        let [en, ja] = both().map(lines);
        assert!(!en.concat().contains('⟦'), "{en:#?}");
        for (en, ja) in en.iter().zip(&ja) {
            let is_japanese = ja.chars().any(|c| ('\u{3040}'..'\u{30ff}').contains(&c));
            assert!(en.is_ascii() && is_japanese && !ja.contains('⟦'), "{en}: {ja}");
        }
    }

    #[test]
    fn counts_read_as_they_would_be_spoken_and_what_is_nothing_is_not_said() {
        let [en, ja] = both();
        assert_eq!(en.taken(1, &[(Left::Flow, 0)]), "taken past the kernel by XDP: 1 packet");
        assert_eq!(
            en.taken(2, &[(Left::Large, 5)]),
            "taken past the kernel by XDP: 2 packets; 5 to the program's ports left to the kernel, larger than a frame"
        );
        // More than 32 bits hold.
        assert_eq!(en.interface("v1", 5_000_000_001, 7), "interface v1: 5000000001 packets in, 7 out, of all programs");
        assert_eq!(ja.interface("v1", 1, 7), "インターフェース v1: 受信 1 パケット、送信 7(全プログラムの合計)");
        assert_eq!(en.queue("v1", 0, false, &[(NotHanded::NoFrame, 2)]), "queue 0 of v1: copy mode, no frame 2");
        assert_eq!(ja.queue("v1", 0, true, &[]), "v1 のキュー 0: ゼロコピーモード");
        assert_eq!(en.socket(4, None, "198.18.0.2:9".parse().ok()), "socket 4 (not bound to 198.18.0.2:9)");
    }
}
