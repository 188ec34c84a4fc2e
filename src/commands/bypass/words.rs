//! What became of a program's sockets, in words.

use std::{collections::HashSet, fmt::Write};

use agent::bypass::{
    Account, Claim, Counted, Counters, Link, Program, Queue, Reason, Record, stays_with_the_kernel,
    was_past_until_shut_down,
};
use report::bypass::{Fate, Flat, Left, NotHanded, Unseen, Ways, Words};

/// Lines of sockets that went through the kernel, where nobody asked for all of it.
const MOST_LINES: usize = 10;

/// All that is known.
pub(super) fn all(account: &Account, words: Words) -> String {
    let mut told = Telling { text: String::new(), words };
    account.claims.iter().for_each(|claim| told.of_claim(claim));
    told.refused(account);
    let is_refused = |program: &Program| account.refused.iter().any(|it| it.program.process == program.process);
    for outside in account.outside.iter().filter(|outside| !is_refused(&outside.program)) {
        told.line(&ours(&name(&outside.program)));
        outside.sockets.iter().for_each(|socket| told.of_socket(socket));
    }
    if account.outside_beyond > 0 {
        told.line(&ours(&words.more_outside(account.outside_beyond as usize)));
    }
    if account.claims.is_empty() && account.refused.is_empty() && account.outside.is_empty() {
        told.line(&ours(&words.unseen(unseen(account))));
    }
    told.line(&of_steering(&account.steering, words));
    account.links.iter().for_each(|link| told.line(&of_link(link, words)));
    let kernel = &account.kernel;
    told.line(&words.kernel(kernel.received, kernel.sent, flat(account)));
    told.text
}

/// Text that grows by lines.
struct Telling {
    text: String,
    words: Words,
}

impl Telling {
    fn line(&mut self, line: &str) {
        // A string takes all that is written to it.
        let _ = writeln!(self.text, "{line}");
    }

    /// Programs that were refused, alike ones together: the sockets of the first one in full, of the others how many there were.
    fn refused(&mut self, account: &Account) {
        let words = self.words;
        let mut listed = HashSet::new();
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
            self.line(&ours(&words.without_queues(&name(program), others.len(), &refusal.why)));
            sockets_of(program.process).into_iter().for_each(|socket| self.of_socket(socket));
            let theirs: Vec<&Record> = others.into_iter().flat_map(&mut sockets_of).collect();
            for (fate, count) in by_fate(&theirs) {
                self.line(&format!("  {}", words.of_others(count, &words.fate(fate))));
            }
        }
    }

    fn of_claim(&mut self, claim: &Claim) {
        let words = self.words;
        self.line(&ours(&name(&claim.program)));
        claim.sockets.iter().for_each(|socket| self.of_socket(socket));
        let (more, past, through) = &claim.beyond;
        if *more > 0 {
            self.line(&format!("  {}", words.beyond(*more as usize, &ways(past), &ways(through))));
        }
        if claim.refused > 0 {
            self.line(&format!("  {}", words.refused_frames(claim.refused)));
        }
        claim.queues.iter().for_each(|queue| self.line(&format!("  {}", of_queue(queue, words))));
    }

    fn of_socket(&mut self, socket: &Record) {
        let words = self.words;
        self.line(&format!("  {}: {}", socket_name(socket, words), words.fate(fate(socket))));
        if socket.fate.is_err() && socket.past == Counted::default() {
            return;
        }
        let has_left = socket.fate.is_err();
        self.line(&format!("    {}", words.past(&ways(&socket.past), socket.dropped, has_left)));
        self.line(&format!("    {}", words.through(&ways(&socket.through))));
    }
}

/// UDP sockets that stayed with the kernel, or came back to it, a line each; those of TCP together.
pub(super) fn by_the_kernel(account: &Account, words: Words) -> Vec<String> {
    // The first of those of a program that have the same reason, and how many others there are.
    let mut alike: Vec<(&Program, &Record, usize)> = Vec::new();
    for (program, socket) in account.sockets().filter(|(_, socket)| stays_with_the_kernel(socket)) {
        match alike.iter_mut().find(|(other, first, _)| other.name == program.name && fate(first) == fate(socket)) {
            Some((_, _, more)) => *more += 1,
            None => alike.push((program, socket, 0)),
        }
    }
    let line = |(program, socket, more): &(&Program, &Record, usize)| {
        words.of_program(&program.name, &socket_name(socket, words), *more, &words.fate(fate(socket)))
    };
    let mut lines: Vec<String> = alike.iter().map(line).collect();
    if lines.len() > MOST_LINES {
        let more = lines.split_off(MOST_LINES).len();
        lines.push(words.more_reasons(more));
    }
    let tcp = account.sockets().filter(|(_, socket)| socket.fate == Err(Reason::Tcp)).count();
    lines.extend((tcp > 0).then(|| words.tcp(tcp)));
    lines.iter().map(|line| ours(line)).collect()
}

/// A line among those of the program says whose it is.
pub(super) fn ours(line: &str) -> String {
    format!("wireproof bypass: {line}")
}

/// How many sockets have which fate.
fn by_fate(sockets: &[&Record]) -> Vec<(Fate, usize)> {
    let mut fates: Vec<(Fate, usize)> = Vec::new();
    for fate in sockets.iter().map(|socket| fate(socket)) {
        match fates.iter_mut().find(|(known, _)| *known == fate) {
            Some((_, count)) => *count += 1,
            None => fates.push((fate, 1)),
        }
    }
    fates
}

/// Why there may be some of which nothing is known.
fn unseen(account: &Account) -> Unseen<'_> {
    match &account.obstacle {
        Some(obstacle) => Unseen::Obstacle(obstacle),
        None if account.links.is_empty() => Unseen::NotLoaded,
        None => Unseen::NotSeen,
    }
}

fn flat(account: &Account) -> Flat {
    match account.is_flat() {
        Some(true) if account.is_next_to_nothing() => Flat::Flat,
        Some(true) => Flat::Known,
        Some(false) => Flat::Not,
        None => Flat::Unknown,
    }
}

/// What it left to the kernel is named where there is some.
fn of_steering(steering: &Counters, words: Words) -> String {
    let left = [(Left::Flow, steering.no_flow), (Left::Large, steering.too_large), (Left::Queue, steering.no_socket)];
    words.taken(steering.taken, &left)
}

fn of_link(link: &Link, words: Words) -> String {
    match link.packets {
        Some(packets) => words.interface(&link.name, packets.received, packets.sent),
        None => words.interface_gone(&link.name),
    }
}

fn of_queue(queue: &Queue, words: Words) -> String {
    let Queue { interface, number, zero_copy, statistics } = queue;
    let lost = [
        (NotHanded::RingFull, statistics.ring_full),
        (NotHanded::NoFrame, statistics.no_frame),
        (NotHanded::Dropped, statistics.dropped),
    ];
    words.queue(interface, *number, *zero_copy, &lost)
}

/// A program, also of another number that has the same name.
pub(super) fn name(program: &Program) -> String {
    format!("{} (pid {})", program.name, program.process)
}

fn socket_name(socket: &Record, words: Words) -> String {
    words.socket(socket.descriptor, socket.local, socket.peer)
}

fn fate(socket: &Record) -> Fate {
    let nothing = Counted::default();
    match socket.fate {
        Ok(()) if socket.past != nothing => Fate::Past,
        Ok(()) if socket.through != nothing => Fate::NoneDid,
        Ok(()) => Fate::NoDatagrams,
        Err(_) if was_past_until_shut_down(socket) => Fate::UntilShutDown,
        Err(why) if socket.past != nothing => Fate::Left(why),
        Err(why) => Fate::Through(why),
    }
}

fn ways(counted: &Counted) -> Ways {
    let Counted { received, received_bytes, sent, sent_bytes } = *counted;
    Ways { received, received_bytes, sent, sent_bytes }
}

#[cfg(test)]
mod tests {
    use agent::bypass::{Health, Hindrance, KernelCounted, Outside, Packets, Refusal};
    use report::Lang;

    use super::*;

    fn program(process: u32) -> Program {
        Program { process, name: "nc".to_owned() }
    }

    fn socket(fate: Result<(), Reason>, past: u64) -> Record {
        let past = Counted { received: past, received_bytes: 10 * past, ..Counted::default() };
        Record {
            cookie: 1,
            descriptor: 3,
            process: 7,
            fate,
            closed: false,
            local: "198.18.0.1:7000".parse().ok(),
            peer: None,
            past,
            through: Counted { sent: 1, sent_bytes: 10, ..Counted::default() },
            dropped: 2,
        }
    }

    /// Of a program whose interface was taken from it.
    fn account() -> Account {
        let mut beyond = (0, Counted::default(), Counted::default());
        beyond.0 = 2;
        let (program, other) = (program(7), program(8));
        let sockets = vec![socket(Err(Reason::InterfaceGone), 5), socket(Err(Reason::Tcp), 0)];
        let claim = Claim { program, sockets, beyond, refused: 1, queues: Vec::new() };
        let outside = Outside { program: other.clone(), sockets: vec![socket(Err(Reason::NoGrant), 0)] };
        Account {
            links: vec![
                Link { name: "v1".to_owned(), packets: None },
                Link { name: "v2".to_owned(), packets: Some(Packets { received: 1, sent: 2 }) },
            ],
            claims: vec![claim],
            outside: vec![outside],
            outside_beyond: 0,
            refused: vec![Refusal { program: other, why: Hindrance::AllGone }],
            steering: Counters { taken: 5, ..Counters::default() },
            kernel: KernelCounted { received: 3, sent: 4 },
            obstacle: None,
            passed: Vec::new(),
        }
    }

    #[test]
    fn an_interface_that_was_removed_is_said_to_be_and_the_program_to_have_gone_on() {
        let told = all(&account(), Words::of(Lang::En));
        let expected = "\
wireproof bypass: nc (pid 7)
  socket 3 (198.18.0.1:7000): past the kernel at first, then through the kernel: its interface is gone, down, or has another XDP program
    past the kernel: 5 in (50 B), 0 out (0 B), 2 dropped as its queue was full or as it went back to the kernel
    through the kernel: 0 in (0 B), 1 out (10 B)
  socket 3 (198.18.0.1:7000): through the kernel: it is TCP, which passes through untouched for now
  and 2 sockets more: past the kernel 0 in (0 B), 0 out (0 B); through it 0 in (0 B), 0 out (0 B)
  1 frame was for no socket, cut short, from an address of this machine, or had a wrong checksum
wireproof bypass: nc (pid 8): through the kernel: each interface that was bypassed is gone, or has lost wireproof's XDP program
  socket 3 (198.18.0.1:7000): through the kernel: its process was given no queues
taken past the kernel by XDP: 5 packets
interface v1: gone before the end, and its counters with it
interface v2: 1 packet in, 2 out, of all programs
the kernel's own UDP counters: 3 datagrams in, 4 out, of all programs: those of the sockets above that stayed with the kernel are among them
";
        assert_eq!(told, expected);
    }

    #[test]
    fn all_of_it_is_said_in_japanese() {
        let (account, words) = (account(), Words::of(Lang::Ja));
        let told = all(&account, words);
        for line in told.lines().chain(by_the_kernel(&account, words).iter().map(String::as_str)) {
            let is_japanese = line.chars().any(|c| ('\u{3040}'..'\u{30ff}').contains(&c));
            let is_name = line == "wireproof bypass: nc (pid 7)";
            assert!((is_japanese || is_name) && !line.contains("kernel"), "{line}");
        }
        assert!(told.contains("ソケット 3(198.18.0.1:7000): 途中までバイパス、以後カーネル経由: "), "{told}");
        let removed = super::super::line(
            &agent::bypass::Told::Event(agent::bypass::Event::Interface { name: "v1".into(), health: Health::Gone }),
            words,
        );
        assert_eq!(removed.as_deref(), Some("v1 がなくなりました。そのソケットはカーネルを経由します"));
    }

    #[test]
    fn sockets_that_stay_with_the_kernel_are_said_in_a_line_each_and_those_of_tcp_together() {
        let said = by_the_kernel(&account(), Words::of(Lang::En));
        let first = "socket 3 (198.18.0.1:7000) of nc: past the kernel at first, then through the kernel: its interface is gone";
        assert!(said[0].starts_with(&ours(first)), "{said:?}");
        assert_eq!(said[2..], [ours("TCP passes through untouched for now: 1 socket")]);
    }
}
