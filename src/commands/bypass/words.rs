//! What became of a program's sockets, in words.

use std::{collections::HashSet, fmt::Write};

use agent::bypass::{
    Account, Claim, Counted, Counters, Health, Program, Queue, Reason, Record, stays_with_the_kernel,
    was_past_until_shut_down,
};

/// Lines of sockets that went through the kernel, where nobody asked for all of it.
const MOST_LINES: usize = 10;

/// All that is known.
pub(super) fn all(account: &Account) -> String {
    let mut text = String::new();
    for claim in &account.claims {
        of_claim(&mut text, claim);
    }
    refused(&mut text, account);
    let is_refused = |program: &Program| account.refused.iter().any(|it| it.program.process == program.process);
    for outside in account.outside.iter().filter(|outside| !is_refused(&outside.program)) {
        push(&mut text, &head(&outside.program));
        outside.sockets.iter().for_each(|socket| of_socket(&mut text, socket));
    }
    if account.outside_beyond > 0 {
        push(
            &mut text,
            &format!(
                "wireproof bypass: and {} more of programs that had no queues",
                sockets(account.outside_beyond as usize)
            ),
        );
    }
    if account.claims.is_empty() && account.refused.is_empty() && account.outside.is_empty() {
        push(&mut text, &format!("wireproof bypass: no socket was seen by the library{}", unseen(account)));
    }
    push(&mut text, &of_steering(&account.steering));
    for link in &account.links {
        push(
            &mut text,
            &format!(
                "interface {}: {} in, {} out, of all programs",
                link.name,
                counted(link.received, "packet", "packets"),
                link.sent
            ),
        );
    }
    let kernel = &account.kernel;
    let (received, sent) = (kernel.received, kernel.sent);
    let flat = match account.is_flat() {
        Some(true) if account.is_next_to_nothing() => "they stayed flat",
        Some(true) => "no more than what is known above",
        Some(false) => "they did not stay flat",
        None => "those of the sockets above that stayed with the kernel are among them",
    };
    push(
        &mut text,
        &format!(
            "the kernel's own UDP counters: {} in, {sent} out, of all programs: {flat}",
            counted(received, "datagram", "datagrams")
        ),
    );
    text
}

/// Programs that were refused, alike ones together: the sockets of the first one in full, of the others how many there were.
fn refused(text: &mut String, account: &Account) {
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
        let others = account.refused[at + 1..].iter().filter(|it| it.is_like(refusal));
        let others: HashSet<u32> =
            others.map(|it| it.program.process).filter(|it| *it != refusal.program.process).collect();
        let more = if others.is_empty() {
            String::new()
        } else {
            format!(" and {} more of it", counted(others.len() as u64, "process", "processes"))
        };
        push(text, &format!("{}{more}: through the kernel: {}", head(&refusal.program), refusal.why));
        sockets_of(refusal.program.process).into_iter().for_each(|socket| of_socket(text, socket));
        let theirs: Vec<&Record> = others.into_iter().flat_map(&mut sockets_of).collect();
        by_fate(&theirs)
            .into_iter()
            .for_each(|(why, count)| push(text, &format!("  {} of the others: {why}", sockets(count))));
    }
}

/// How many sockets have which fate.
fn by_fate(sockets: &[&Record]) -> Vec<(String, usize)> {
    let mut fates: Vec<(String, usize)> = Vec::new();
    for fate in sockets.iter().map(|socket| fate(socket)) {
        match fates.iter_mut().find(|(known, _)| *known == fate) {
            Some((_, count)) => *count += 1,
            None => fates.push((fate, 1)),
        }
    }
    fates
}

/// Why there may be some of which nothing is known.
fn unseen(account: &Account) -> String {
    if let Some(obstacle) = &account.obstacle {
        return format!(": {obstacle}");
    }
    match account.links.is_empty() {
        true => ", which was not loaded, as there was no interface to bypass".to_owned(),
        false => " that goes under the program".to_owned(),
    }
}

/// UDP sockets that stayed with the kernel, or came back to it, a line each; those of TCP together.
pub(super) fn by_the_kernel(account: &Account) -> Vec<String> {
    // The first of those of a program that have the same reason, and how many others there are.
    let mut alike: Vec<(&Program, &Record, usize)> = Vec::new();
    for (program, socket) in account.sockets().filter(|(_, socket)| stays_with_the_kernel(socket)) {
        match alike.iter_mut().find(|(other, first, _)| other.name == program.name && first.fate == socket.fate) {
            Some((_, _, more)) => *more += 1,
            None => alike.push((program, socket, 0)),
        }
    }
    let line = |(program, socket, more): &(&Program, &Record, usize)| {
        let more = if *more == 0 { String::new() } else { format!(" and {} more", sockets(*more)) };
        format!("wireproof bypass: {}{more} of {}: {}", name(socket), program.name, fate(socket))
    };
    let mut lines: Vec<String> = alike.iter().map(line).collect();
    if lines.len() > MOST_LINES {
        let more = lines.split_off(MOST_LINES).len();
        lines.push(format!(
            "wireproof bypass: and {} more, which --stats lists",
            counted(more as u64, "reason", "reasons")
        ));
    }
    let tcp = account.sockets().filter(|(_, socket)| socket.fate == Err(Reason::Tcp)).count();
    lines
        .extend((tcp > 0).then(|| format!("wireproof bypass: TCP passes through untouched for now: {}", sockets(tcp))));
    lines
}

fn sockets(count: usize) -> String {
    counted(count as u64, "socket", "sockets")
}

fn counted(count: impl Into<u64>, one: &str, many: &str) -> String {
    match count.into() {
        1 => format!("1 {one}"),
        count => format!("{count} {many}"),
    }
}

/// How an interface is now.
pub(super) fn health(name: &str, health: Health) -> String {
    match health {
        Health::Well => format!("{name} can be used again"),
        Health::Down => format!("{name} is down: its sockets go through the kernel until it is up"),
        Health::Gone => format!("{name} is gone: its sockets go through the kernel"),
        Health::NoProgram => {
            format!("somebody took wireproof's XDP program away from {name}: its sockets go through the kernel")
        }
    }
}

fn of_claim(text: &mut String, claim: &Claim) {
    push(text, &head(&claim.program));
    claim.sockets.iter().for_each(|socket| of_socket(text, socket));
    let (more, past, through) = &claim.beyond;
    if *more > 0 {
        push(
            text,
            &format!(
                "  and {} more: past the kernel {}; through it {}",
                sockets(*more as usize),
                ways(past),
                ways(through)
            ),
        );
    }
    if claim.refused > 0 {
        push(
            text,
            &format!(
                "  {} frames were for no socket, cut short, from an address of this machine, or had a wrong checksum",
                claim.refused
            ),
        );
    }
    claim.queues.iter().for_each(|queue| push(text, &of_queue(queue)));
}

/// What it left to the kernel is named where there is some.
fn of_steering(steering: &Counters) -> String {
    let mut line = format!("taken past the kernel by XDP: {}", counted(steering.taken, "packet", "packets"));
    let left = [
        (steering.no_flow, "for other addresses or peers"),
        (steering.too_large, "larger than a frame"),
        (steering.no_socket, "on queues without a socket"),
    ];
    for (count, why) in left.into_iter().filter(|(count, _)| *count > 0) {
        line += &format!("; {count} to the program's ports left to the kernel, {why}");
    }
    line
}

fn head(program: &Program) -> String {
    format!("wireproof bypass: {} (pid {})", program.name, program.process)
}

fn of_socket(text: &mut String, socket: &Record) {
    push(text, &format!("  {}: {}", name(socket), fate(socket)));
    if socket.fate.is_err() && socket.past == Counted::default() {
        return;
    }
    push(
        text,
        &format!("    past the kernel: {}, {} dropped as its queue was full", ways(&socket.past), socket.dropped),
    );
    push(text, &format!("    through the kernel: {}", ways(&socket.through)));
}

fn fate(socket: &Record) -> String {
    let nothing = Counted::default();
    match socket.fate {
        Ok(()) if socket.past != nothing => "past the kernel".to_owned(),
        Ok(()) if socket.through != nothing => "could go past the kernel; none of its datagrams did".to_owned(),
        Ok(()) => "could go past the kernel; there were no datagrams".to_owned(),
        Err(_) if was_past_until_shut_down(socket) => "past the kernel until it was shut down".to_owned(),
        Err(why) => format!("through the kernel: {why}"),
    }
}

fn of_queue(queue: &Queue) -> String {
    let mode = if queue.zero_copy { "zero-copy" } else { "copy" };
    let Queue { interface, number, statistics, .. } = queue;
    let mut line = format!("  queue {number} of {interface}: {mode} mode");
    let lost =
        [("ring full", statistics.ring_full), ("no frame", statistics.no_frame), ("dropped", statistics.dropped)];
    for (name, count) in lost.into_iter().filter(|(_, count)| *count > 0) {
        line += &format!(", {name} {count}");
    }
    line
}

fn name(socket: &Record) -> String {
    let local = socket.local.map_or("not bound".to_owned(), |local| local.to_string());
    let peer = socket.peer.map_or(String::new(), |peer| format!(" to {peer}"));
    format!("socket {} ({local}{peer})", socket.descriptor)
}

fn ways(counted: &Counted) -> String {
    let Counted { received, received_bytes, sent, sent_bytes } = counted;
    format!("{received} in ({received_bytes} B), {sent} out ({sent_bytes} B)")
}

fn push(text: &mut String, line: &str) {
    // A string takes all that is written to it.
    let _ = writeln!(text, "{line}");
}
