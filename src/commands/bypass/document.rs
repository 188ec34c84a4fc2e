//! What became of a program's sockets, as JSON.

use agent::bypass::{Account, Claim, Counted, Outside, Queue, Record};
use serde_json::{Value, json};

/// All that is known.
pub(super) fn of(account: &Account) -> Value {
    let steering = &account.steering;
    json!({
        "programs": account.claims.iter().map(claim).chain(account.outside.iter().map(outside)).collect::<Vec<_>>(),
        "more_sockets_of_others": account.outside_beyond,
        "refused": account.refused.iter().map(|it| json!({
            "program": it.program.name, "pid": it.program.process, "why": it.why.to_string(),
        })).collect::<Vec<_>>(),
        "obstacle": account.obstacle.as_ref().map(ToString::to_string),
        "interfaces_not_bypassed": account.passed.iter().map(|it| json!({
            "name": it.interface, "why": it.why.to_string(),
        })).collect::<Vec<_>>(),
        "interfaces": account.links.iter().map(|it| json!({
            "name": it.name, "received": it.packets.map(|it| it.received), "sent": it.packets.map(|it| it.sent),
        })).collect::<Vec<_>>(),
        "steering": {
            "taken": steering.taken,
            "no_flow": steering.no_flow,
            "no_socket": steering.no_socket,
            "too_large": steering.too_large,
        },
        "kernel": { "received": account.kernel.received, "sent": account.kernel.sent, "flat": account.is_flat() },
    })
}

fn claim(claim: &Claim) -> Value {
    let (count, past, through) = &claim.beyond;
    json!({
        "program": claim.program.name,
        "pid": claim.program.process,
        "granted": true,
        "sockets": claim.sockets.iter().map(socket).collect::<Vec<_>>(),
        "more_sockets": { "count": count, "past": ways(past), "through": ways(through) },
        "refused_frames": claim.refused,
        "queues": claim.queues.iter().map(queue).collect::<Vec<_>>(),
    })
}

/// A program that had no queues.
fn outside(outside: &Outside) -> Value {
    json!({
        "program": outside.program.name,
        "pid": outside.program.process,
        "granted": false,
        "sockets": outside.sockets.iter().map(socket).collect::<Vec<_>>(),
    })
}

fn socket(socket: &Record) -> Value {
    json!({
        "descriptor": socket.descriptor,
        "pid": socket.process,
        "local": socket.local,
        "peer": socket.peer,
        "bypassed": socket.fate.is_ok(),
        "why_not": socket.fate.err().map(|why| why.to_string()),
        "past": ways(&socket.past),
        "through": ways(&socket.through),
        "dropped": socket.dropped,
    })
}

fn queue(queue: &Queue) -> Value {
    json!({
        "interface": queue.interface,
        "queue": queue.number,
        "zero_copy": queue.zero_copy,
        "ring_full": queue.statistics.ring_full,
        "no_frame": queue.statistics.no_frame,
        "dropped": queue.statistics.dropped,
    })
}

fn ways(counted: &Counted) -> Value {
    json!({
        "received": counted.received,
        "received_bytes": counted.received_bytes,
        "sent": counted.sent,
        "sent_bytes": counted.sent_bytes,
    })
}
