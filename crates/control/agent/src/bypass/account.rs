//! What became of the program's datagrams, and what the kernel counted of them meanwhile.

use host::counters::Reading;
use kernel::link;
use model::{Delta, counters::Source};
use stack::{
    Attachment,
    launch::{Claim, Outside, Program},
};

use super::{Counted, Counters, Hindrance, Kept, Obstacle, Passed, Reason, Record};

/// All that is known when a program has ended.
#[derive(Debug)]
pub struct Account {
    /// Interfaces that were bypassed.
    pub links: Vec<Link>,
    /// Programs that had the grant, one after the other.
    pub claims: Vec<Claim>,
    /// Sockets of programs that had none.
    pub outside: Vec<Outside>,
    /// How many more of those there were.
    pub outside_beyond: u32,
    /// Programs that asked for it and went through the kernel.
    pub refused: Vec<Refusal>,
    /// What the steering program counted.
    pub steering: Counters,
    /// UDP datagrams that the kernel counted in this network namespace meanwhile, of all programs together.
    pub kernel: KernelCounted,
    /// What is in the way of the program, where something is known to be.
    pub obstacle: Option<Obstacle>,
    /// Interfaces that were asked for, or could have been, and stayed with the kernel.
    pub passed: Vec<Passed>,
}

impl Account {
    /// Whether the kernel's own UDP counters stayed where they were: but for what programs had it carry, and for one in
    /// a hundred of what went past it, which is left for other programs of the namespace. `None` where sockets stayed with the kernel, which
    /// alone counts what they do.
    pub fn is_flat(&self) -> Option<bool> {
        if self.outside_beyond > 0 || self.sockets().any(|(_, socket)| stays_with_the_kernel(socket)) {
            return None;
        }
        let (past, through) =
            (self.sum(|claim| (&claim.beyond.1, |it| it.past)), self.sum(|claim| (&claim.beyond.2, |it| it.through)));
        let is_flat = self.kernel.received <= through.received + past.received / 100
            && self.kernel.sent <= through.sent + past.sent / 100;
        Some(is_flat)
    }

    /// Whether the kernel counted next to nothing beside what went past it, whatever programs had it carry.
    pub fn is_next_to_nothing(&self) -> bool {
        let past = self.sum(|claim| (&claim.beyond.1, |it| it.past));
        self.kernel.received <= past.received / 100 && self.kernel.sent <= past.sent / 100
    }

    /// All sockets that are written down one by one, with the programs that they are of.
    pub fn sockets(&self) -> impl Iterator<Item = (&Program, &Record)> {
        let claimed = self.claims.iter().map(|claim| (&claim.program, &claim.sockets));
        let outside = self.outside.iter().map(|outside| (&outside.program, &outside.sockets));
        claimed.chain(outside).flat_map(|(program, sockets)| sockets.iter().map(move |socket| (program, socket)))
    }

    /// Of all sockets of all programs.
    fn sum(&self, of: impl Fn(&Claim) -> (&Counted, fn(&Record) -> Counted)) -> Counted {
        let add = |sum: Counted, it: Counted| Counted {
            received: sum.received + it.received,
            received_bytes: sum.received_bytes + it.received_bytes,
            sent: sum.sent + it.sent,
            sent_bytes: sum.sent_bytes + it.sent_bytes,
        };
        let all = self.claims.iter().flat_map(|claim| {
            let (beyond, one) = of(claim);
            claim.sockets.iter().map(one).chain([*beyond])
        });
        all.fold(Counted::default(), add)
    }
}

/// Whether it is a UDP socket of which all, from some moment on, was left to the kernel, and counted by it alone. One that was shut down at its
/// end is none.
pub fn stays_with_the_kernel(socket: &Record) -> bool {
    if was_past_until_shut_down(socket) {
        return false;
    }
    // Of a socket that was never bound nothing is known, nor is there anything to know.
    socket.fate.is_err_and(|why| !matches!(why, Reason::NotBound | Reason::Tcp | Reason::NotUdp))
}

/// Whether a socket went past the kernel as long as it was in use.
pub fn was_past_until_shut_down(socket: &Record) -> bool {
    socket.fate == Err(Reason::ShutDown) && socket.past != Counted::default()
}

/// An interface that was bypassed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Its name.
    pub name: String,
    /// Packets that it counted, of all programs together; whether those that went past the kernel are among them is the driver's affair. `None`
    /// where it was removed meanwhile, and what it had counted with it.
    pub packets: Option<Packets>,
}

/// Packets that an interface counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packets {
    /// In.
    pub received: u64,
    /// Out.
    pub sent: u64,
}

/// A program that was refused, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The program.
    pub program: Program,
    /// Why.
    pub why: Hindrance,
}

impl Refusal {
    /// Whether it says the same of another process of the program.
    pub fn is_like(&self, other: &Self) -> bool {
        self.program.name == other.program.name && self.why == other.why
    }
}

/// UDP datagrams over IPv4 and IPv6 together (`InDatagrams`, `OutDatagrams`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KernelCounted {
    /// That it handed to sockets.
    pub received: u64,
    /// That it sent for sockets.
    pub sent: u64,
}

/// What was known when the program was started.
pub(super) struct Known {
    pub(super) obstacle: Option<Obstacle>,
    pub(super) passed: Vec<Passed>,
}

/// What was counted when the program had not started yet.
pub(super) struct Before {
    /// Their names and numbers: another one may have the name at the end.
    interfaces: Vec<(String, u32)>,
    reading: Reading,
}

impl Before {
    pub(super) fn read(attachment: &Attachment) -> Self {
        let interfaces: Vec<_> = attachment.interfaces().map(|(name, index)| (name.to_owned(), index)).collect();
        let reading = reading(&interfaces);
        Self { interfaces, reading }
    }

    pub(super) fn until_now(self, kept: Kept, steering: Counters, known: Known) -> Account {
        let Kept { mut claims, mut outside, outside_beyond, refused } = kept;
        join(&mut claims, &mut outside);
        let deltas = self.reading.until(&reading(&self.interfaces)).deltas;
        let there = link::list();
        let link = |(name, index): (String, u32)| {
            let sum = |counter| sum(&deltas, Source::Link, &[&name], counter);
            let is_gone = there.as_ref().is_ok_and(|links| links.iter().all(|link| link.index != index));
            let packets = (!is_gone).then(|| Packets { received: sum("rx_packets"), sent: sum("tx_packets") });
            Link { name, packets }
        };
        let udp = |counter| sum(&deltas, Source::Snmp, &["Udp", "Udp6"], counter);
        let kernel = KernelCounted { received: udp("InDatagrams"), sent: udp("OutDatagrams") };
        let links = self.interfaces.into_iter().map(link).collect();
        let Known { obstacle, passed } = known;
        Account { links, claims, outside, outside_beyond, refused, steering, kernel, obstacle, passed }
    }
}

fn reading(interfaces: &[(String, u32)]) -> Reading {
    Reading::of(&interfaces.iter().map(|(name, _)| name).collect::<Vec<_>>())
}

/// What a program did before it had the grant stands before what it did then; a socket that it took past the kernel then is one socket.
fn join(claims: &mut [Claim], outside: &mut Vec<Outside>) {
    outside.retain_mut(|outside| {
        let claim = claims.iter_mut().find(|claim| claim.program.process == outside.program.process);
        let Some(claim) = claim else { return true };
        let is_known = |socket: &Record| claim.sockets.iter().any(|it| it.cookie == socket.cookie);
        let before: Vec<Record> = outside.sockets.drain(..).filter(|socket| !is_known(socket)).collect();
        claim.sockets.splice(..0, before);
        false
    });
}

fn sum(deltas: &[Delta], source: Source, of: &[&str], name: &str) -> u64 {
    let is_it = |delta: &&Delta| delta.source == source && of.contains(&delta.of.as_str()) && delta.name == name;
    deltas.iter().filter(is_it).map(|delta| delta.delta).sum()
}
