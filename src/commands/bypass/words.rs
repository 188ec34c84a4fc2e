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
    let mut listed = HashSet::new();
    for refusal in &account.refused {
        push(&mut text, &format!("{}: through the kernel: {}", head(&refusal.program), refusal.why));
        // A program may be refused again and again.
        let process = refusal.program.process;
        let sockets =
            account.outside.iter().filter(|outside| outside.program.process == process && listed.insert(process));
        sockets.flat_map(|outside| &outside.sockets).for_each(|socket| of_socket(&mut text, socket));
    }
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
            &format!("interface {}: {} packets in, {} out, of all programs", link.name, link.received, link.sent),
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
        &format!("the kernel's own UDP counters: {received} datagrams in, {sent} out, of all programs: {flat}"),
    );
    text
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
    let line = |(program, socket): (&Program, &Record)| {
        let why = socket.fate.err()?;
        Some(format!("wireproof bypass: {} of {}: through the kernel: {why}", name(socket), program.name))
    };
    let udp = account.sockets().filter(|(_, socket)| stays_with_the_kernel(socket));
    let mut lines: Vec<String> = udp.filter_map(line).collect();
    if lines.len() > MOST_LINES {
        let more = lines.split_off(MOST_LINES).len();
        lines.push(format!("wireproof bypass: and {more} more sockets, which --stats lists"));
    }
    let tcp = account.sockets().filter(|(_, socket)| socket.fate == Err(Reason::Tcp)).count();
    lines
        .extend((tcp > 0).then(|| format!("wireproof bypass: TCP passes through untouched for now: {}", sockets(tcp))));
    lines
}

fn sockets(count: usize) -> String {
    if count == 1 { "1 socket".to_owned() } else { format!("{count} sockets") }
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
        push(text, &format!("  {more} more sockets: past the kernel {}; through it {}", ways(past), ways(through)));
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
    let mut line = format!("taken past the kernel by XDP: {} packets", steering.taken);
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
    let nothing = Counted::default();
    let fate = match socket.fate {
        Ok(()) if socket.past != nothing => "past the kernel".to_owned(),
        Ok(()) if socket.through != nothing => "could go past the kernel; none of its datagrams did".to_owned(),
        Ok(()) => "could go past the kernel; there were no datagrams".to_owned(),
        Err(_) if was_past_until_shut_down(socket) => "past the kernel until it was shut down".to_owned(),
        Err(why) => format!("through the kernel: {why}"),
    };
    push(text, &format!("  {}: {fate}", name(socket)));
    if socket.fate.is_err() && socket.past == nothing {
        return;
    }
    push(
        text,
        &format!("    past the kernel: {}, {} dropped as its queue was full", ways(&socket.past), socket.dropped),
    );
    push(text, &format!("    through the kernel: {}", ways(&socket.through)));
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
