//! The account of `bypass` in words: what became of a program's sockets, and why something stays with the kernel.

use std::{collections::HashSet, fmt::Display};

use model::alike::grouped;
use model::bypass::{
    Account, Agreement, Claim, Counted, Fate, Health, Hindrance, Link, NotSet, Obstacle, Program, Queue, Reason,
    Record, Steering,
};

use crate::{lang::Lang, texts::Texts};

/// Beginnings of keys whose ends are names of values in `model::bypass`.
#[cfg(test)]
pub(crate) const DERIVED: [&str; 8] = [
    "bypass-reason-",
    "bypass-stays-",
    "bypass-obstacle-",
    "bypass-not-set-",
    "bypass-fate-",
    "bypass-interface-is-",
    "bypass-kernel-is-",
    "bypass-records-",
];
/// Sockets of a program that have lines of their own; JSON has 1,024 of them.
const MOST_SOCKETS: usize = 100;
/// Sockets of one port with lines of their own; more of them have one line together.
const MOST_ALIKE: usize = 3;
/// Lines of sockets that went through the kernel, where nobody asked for all of it.
const MOST_LINES: usize = 10;

/// Words of `bypass` in one language.
#[derive(Clone, Copy)]
pub struct Words {
    t: &'static Texts,
}

impl Words {
    /// In this language.
    pub fn of(lang: Lang) -> Self {
        Self { t: Texts::of(lang) }
    }

    /// Why a socket is with the kernel.
    pub fn reason(self, reason: Reason) -> String {
        self.t.of_value("bypass-reason", &reason)
    }

    /// Why an interface stays with the kernel, or a program has no queues.
    pub fn hindrance(self, why: &Hindrance) -> String {
        self.t.of_value("bypass-stays", why)
    }

    /// Obstacle for a program.
    pub fn obstacle(self, obstacle: &Obstacle) -> String {
        let why = self.t.of_value("bypass-obstacle", &obstacle.kind);
        self.t.with("bypass-obstacle", &[("program", &obstacle.program.display()), ("why", &why)])
    }

    /// Settings that a card did not take.
    pub fn not_set(self, what: &NotSet) -> String {
        self.t.of_value("bypass-not-set", what)
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
    pub fn refused(self, program: &Program, why: &Hindrance) -> String {
        self.t.with("bypass-refused", &[("program", &name(program)), ("why", &self.hindrance(why))])
    }

    /// The program has ended, and so many of its processes have not.
    pub fn waits(self, processes: usize) -> String {
        self.t.with("bypass-waits", &[("processes", &self.t.count("bypass-processes", processes as u64))])
    }

    /// An interface whose health has changed.
    pub fn health(self, interface: &str, health: Health) -> String {
        self.t.of_value_with("bypass-interface-is", &health, &[("interface", &interface)])
    }

    /// The whole account.
    pub fn account(self, account: &Account) -> String {
        let mut lines: Vec<String> = account.claims.iter().flat_map(|claim| self.claim(claim)).collect();
        lines.extend(self.refusals(account));
        let is_refused = |program: &Program| account.refused.iter().any(|it| it.program.process == program.process);
        for outside in account.outside.iter().filter(|outside| !is_refused(&outside.program)) {
            lines.push(ours(&name(&outside.program)));
            lines.extend(entries(&outside.sockets).iter().flat_map(|entry| self.entry(entry)));
        }
        if account.outside_beyond > 0 {
            let sockets = self.sockets(account.outside_beyond as usize);
            lines.push(ours(&self.t.with("bypass-more-outside", &[("sockets", &sockets)])));
        }
        if account.claims.is_empty() && account.refused.is_empty() && account.outside.is_empty() {
            lines.push(ours(&self.unseen(account)));
        }
        lines.extend(account.sockets().next().map(|_| self.t.get("bypass-self-reported")));
        lines.push(self.steering(&account.steering));
        lines.extend(account.links.iter().map(|link| self.link(link)));
        lines.push(self.kernel(account));
        lines.join("\n")
    }

    fn claim(self, claim: &Claim) -> Vec<String> {
        let mut lines = vec![ours(&name(&claim.program))];
        let entries = entries(&claim.sockets);
        let (listed, more) = entries.split_at(MOST_SOCKETS.min(entries.len()));
        lines.extend(listed.iter().flat_map(|entry| self.entry(entry)));
        let more = more.concat();
        let count = claim.beyond.count as usize + more.len();
        if count > 0 {
            let past = more.iter().fold(claim.beyond.past, |sum, socket| sum.plus(socket.past));
            let through = more.iter().fold(claim.beyond.through, |sum, socket| sum.plus(socket.through));
            let dropped = more.iter().fold(claim.beyond.dropped, |sum, socket| sum.saturating_add(socket.dropped));
            let (sockets, past, through) = (self.sockets(count), self.counted(&past), self.counted(&through));
            let values: [(&str, &dyn Display); 4] =
                [("sockets", &sockets), ("past", &past), ("dropped", &dropped), ("through", &through)];
            lines.push(format!("  {}", self.t.with("bypass-beyond", &values)));
        }
        if claim.refused > 0 {
            lines.push(format!("  {}", self.t.count("bypass-refused-frames", claim.refused)));
        }
        lines.extend(claim.queues.iter().map(|queue| format!("  {}", self.queue(queue))));
        lines.push(format!("  {}", self.records(claim)));
        lines
    }

    /// Packets that XDP redirected to a program, held against the program's own records.
    fn records(self, claim: &Claim) -> String {
        let redirected = self.t.count("bypass-packets", claim.witnessed.redirected);
        let line = self.t.of_value_with("bypass-records", &claim.agreement(), &[("redirected", &redirected)]);
        self.and_counts(line, &[("bypass-handed-back", claim.witnessed.handed_back)])
    }

    /// Programs that were refused, alike ones together: the sockets of the first one in full, of the others how many there were.
    fn refusals(self, account: &Account) -> Vec<String> {
        let (mut lines, mut listed) = (Vec::new(), HashSet::new());
        let mut sockets_of = |process: u32| -> Vec<&Record> {
            // A program may be refused again and again.
            let is_new = listed.insert(process);
            let of = account.outside.iter().filter(|outside| is_new && outside.program.process == process);
            of.flat_map(|outside| &outside.sockets).collect()
        };
        for (at, refusal) in account.refused.iter().enumerate() {
            if account.refused[..at].iter().any(|before| before.is_like(refusal)) {
                continue;
            }
            let program = &refusal.program;
            let others = account.refused[at + 1..].iter().filter(|it| it.is_like(refusal));
            let others: HashSet<u32> =
                others.map(|it| it.program.process).filter(|it| *it != program.process).collect();
            lines.push(ours(&self.without_queues(&name(program), others.len(), &refusal.why)));
            lines.extend(entries(sockets_of(program.process)).iter().flat_map(|entry| self.entry(entry)));
            let theirs: Vec<&Record> = others.into_iter().flat_map(&mut sockets_of).collect();
            for (fate, count) in by_fate(&theirs) {
                let values: [(&str, &dyn Display); 2] = [("sockets", &self.sockets(count)), ("fate", &self.fate(fate))];
                lines.push(format!("  {}", self.t.with("bypass-of-others", &values)));
            }
        }
        lines
    }

    /// A program that was given no queues, and so many others of its name for the same reason.
    fn without_queues(self, program: &str, others: usize, why: &Hindrance) -> String {
        let fate = self.t.with("bypass-fate-through", &[("why", &self.hindrance(why))]);
        if others == 0 {
            return format!("{program}: {fate}");
        }
        let processes = self.t.count("bypass-processes", others as u64);
        self.t.with("bypass-refused-alike", &[("program", &program), ("processes", &processes), ("fate", &fate)])
    }

    /// UDP sockets that stayed with the kernel, or returned to it, a line each; TCP sockets together.
    pub fn by_the_kernel(self, account: &Account) -> Vec<String> {
        // The first socket of a program with this reason, and how many others there are.
        let mut alike: Vec<(&Program, &Record, usize)> = Vec::new();
        for (program, socket) in account.sockets().filter(|(_, socket)| socket.stays_with_the_kernel()) {
            let same = alike.iter_mut().find(|(of, first, _)| of.name == program.name && first.fate() == socket.fate());
            match same {
                Some((_, _, more)) => *more += 1,
                None => alike.push((program, socket, 0)),
            }
        }
        let mut lines: Vec<String> =
            alike.iter().map(|(program, socket, more)| self.of_program(program, socket, *more)).collect();
        if lines.len() > MOST_LINES {
            let more = lines.split_off(MOST_LINES).len();
            lines.push(self.t.count("bypass-more-reasons", more as u64));
        }
        let tcp = account.sockets().filter(|(_, socket)| socket.fate == Err(Reason::Tcp)).count();
        lines.extend((tcp > 0).then(|| self.t.with("bypass-tcp", &[("sockets", &self.sockets(tcp))])));
        let are_changed = |claim: &&Claim| matches!(claim.agreement(), Agreement::TooMany { .. });
        for claim in account.claims.iter().filter(are_changed) {
            lines.push(format!("{}: {}", name(&claim.program), self.records(claim)));
        }
        lines.iter().map(|line| ours(line)).collect()
    }

    /// A socket of a program, with so many others of the same fate.
    fn of_program(self, program: &Program, socket: &Record, others: usize) -> String {
        let (socket, sockets, fate) = (self.socket(socket), self.sockets(others), self.fate(socket.fate()));
        let mut values: Vec<(&str, &dyn Display)> =
            vec![("program", &program.name), ("socket", &socket), ("fate", &fate)];
        if others == 0 {
            return self.t.with("bypass-of-program", &values);
        }
        values.push(("sockets", &sockets));
        self.t.with("bypass-alike-of-program", &values)
    }

    /// Lines of a socket, or the line of those of a port.
    fn entry(self, sockets: &[&Record]) -> Vec<String> {
        match sockets {
            [socket] => self.socket_lines(socket),
            sockets => vec![format!("  {}", self.port(sockets))],
        }
    }

    /// Sockets of one port that have the same fate.
    fn port(self, alike: &[&Record]) -> String {
        let sum = |counted: fn(&Record) -> Counted| {
            self.counted(&alike.iter().fold(Counted::default(), |sum, socket| sum.plus(counted(socket))))
        };
        let port = alike[0].local.map_or(0, |local| local.port()).to_string();
        let dropped = alike.iter().fold(0_u64, |sum, socket| sum.saturating_add(socket.dropped));
        let (sockets, fate) = (self.sockets(alike.len()), self.fate(alike[0].fate()));
        let (past, through) = (sum(|socket| socket.past), sum(|socket| socket.through));
        let values: [(&str, &dyn Display); 6] = [
            ("port", &port),
            ("sockets", &sockets),
            ("fate", &fate),
            ("past", &past),
            ("dropped", &dropped),
            ("through", &through),
        ];
        self.t.with("bypass-port", &values)
    }

    fn socket_lines(self, socket: &Record) -> Vec<String> {
        let mut lines = vec![format!("  {}: {}", self.socket(socket), self.fate(socket.fate()))];
        if socket.fate.is_ok() || socket.past != Counted::default() {
            let key = if socket.fate.is_ok() { "bypass-past" } else { "bypass-past-left" };
            let values: [(&str, &dyn Display); 2] =
                [("ways", &self.counted(&socket.past)), ("dropped", &socket.dropped)];
            lines.push(format!("    {}", self.t.with(key, &values)));
            let through = self.t.with("bypass-through", &[("ways", &self.counted(&socket.through))]);
            lines.push(format!("    {through}"));
        }
        lines
    }

    /// So many sockets.
    fn sockets(self, count: usize) -> String {
        self.t.count("bypass-sockets", count as u64)
    }

    /// A socket by its descriptor, and its ends.
    fn socket(self, socket: &Record) -> String {
        let t = self.t;
        let local = socket.local.map_or_else(|| t.get("bypass-not-bound"), |local| local.to_string());
        let ends = match socket.peer {
            Some(peer) => t.with("bypass-ends", &[("local", &local), ("peer", &peer)]),
            None => local,
        };
        t.with("bypass-socket", &[("descriptor", &socket.descriptor), ("ends", &ends)])
    }

    /// The path of a socket.
    fn fate(self, fate: Fate) -> String {
        match fate {
            Fate::Left { why } => self.t.with("bypass-fate-left", &[("why", &self.reason(why))]),
            Fate::Through { why } => self.t.with("bypass-fate-through", &[("why", &self.reason(why))]),
            plain => self.t.of_value("bypass-fate", &plain),
        }
    }

    fn counted(self, counted: &Counted) -> String {
        let Counted { received, received_bytes, sent, sent_bytes } = counted;
        let values: [(&str, &dyn Display); 4] =
            [("received", received), ("received_bytes", received_bytes), ("sent", sent), ("sent_bytes", sent_bytes)];
        self.t.with("bypass-ways", &values)
    }

    /// A line, and behind it each count that is not 0.
    fn and_counts(self, line: String, counts: &[(&str, u64)]) -> String {
        let with = |line: String, (key, count): &(&str, u64)| self.t.with(key, &[("line", &line), ("count", count)]);
        counts.iter().filter(|(_, count)| *count > 0).fold(line, with)
    }

    /// A queue, with the packets that the kernel did not pass on.
    fn queue(self, queue: &Queue) -> String {
        let Queue { interface, number, zero_copy, lost } = queue;
        let key = if *zero_copy { "bypass-queue-zero-copy" } else { "bypass-queue-copy" };
        let line = self.t.with(key, &[("interface", interface), ("number", number)]);
        let counts = [
            ("bypass-queue-ring-full", lost.ring_full),
            ("bypass-queue-no-frame", lost.no_frame),
            ("bypass-queue-dropped", lost.dropped),
        ];
        self.and_counts(line, &counts)
    }

    /// Packets that the steering program redirected, and packets that it left to the kernel.
    fn steering(self, steering: &Steering) -> String {
        let packets = self.t.count("bypass-packets", steering.taken);
        let counts = [
            ("bypass-left-flow", steering.no_flow),
            ("bypass-left-large", steering.too_large),
            ("bypass-left-queue", steering.no_socket),
        ];
        self.and_counts(self.t.with("bypass-taken", &[("packets", &packets)]), &counts)
    }

    /// No socket was seen.
    fn unseen(self, account: &Account) -> String {
        let t = self.t;
        match &account.obstacle {
            Some(obstacle) => t.with("bypass-unseen-why", &[("why", &self.obstacle(obstacle))]),
            None if account.links.is_empty() => t.get("bypass-unseen-not-loaded"),
            None => t.get("bypass-unseen"),
        }
    }

    /// Counters of an interface.
    fn link(self, link: &Link) -> String {
        let (t, interface) = (self.t, &link.name);
        match (link.received, link.sent) {
            (Some(received), Some(sent)) => {
                let packets = t.count("bypass-packets", received);
                t.with("bypass-interface", &[("interface", interface), ("packets", &packets), ("sent", &sent)])
            }
            _ => t.with("bypass-interface-gone", &[("interface", interface)]),
        }
    }

    /// The kernel's own counters.
    fn kernel(self, account: &Account) -> String {
        let datagrams = self.t.count("bypass-datagrams", account.kernel.received);
        let flat = self.t.of_value("bypass-kernel-is", &account.flatness());
        let values: [(&str, &dyn Display); 3] =
            [("datagrams", &datagrams), ("sent", &account.kernel.sent), ("flat", &flat)];
        self.t.with("bypass-kernel", &values)
    }
}

/// Lines between the program's own output say that they are wireproof's.
pub fn ours(line: &str) -> String {
    format!("wireproof bypass: {line}")
}

/// A program, also of another number that has the same name.
fn name(program: &Program) -> String {
    format!("{} (pid {})", program.name, program.process)
}

/// Sockets as they are listed: each alone, but many of one port and one fate together.
fn entries<'a>(sockets: impl IntoIterator<Item = &'a Record>) -> Vec<Vec<&'a Record>> {
    let port = |socket: &Record| socket.local.map(|local| local.port());
    let groups = grouped(sockets, |one, other| port(one) == port(other) && one.fate() == other.fate());
    let is_one = |group: &[&Record]| group.len() > MOST_ALIKE && port(group[0]).is_some();
    let parts = groups
        .into_iter()
        .map(|group| if is_one(&group) { vec![group] } else { group.chunks(1).map(<[_]>::to_vec).collect() });
    parts.flatten().collect()
}

/// How many sockets have which fate.
fn by_fate(sockets: &[&Record]) -> Vec<(Fate, usize)> {
    let fates = grouped(sockets.iter().map(|socket| socket.fate()), Fate::eq);
    fates.iter().map(|alike| (alike[0], alike.len())).collect()
}

#[cfg(test)]
mod tests;
