//! A socket that goes past the kernel.

use std::{
    net::{IpAddr, SocketAddr},
    os::fd::RawFd,
    time::Duration,
};

use datagram::Arrived;
use xdp::steer::{Flow, FlowTable, TableFull, Taken};

use super::{
    inwards::FAIR,
    ports::Seen,
    queue::{OVERHEAD, Queue},
};
use crate::{
    Reason,
    ancillary::Writer,
    control::SlotId,
    look::{Look, Wants},
    message::Incoming,
    name,
};

/// One of our own addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Local {
    pub(super) address: IpAddr,
    /// Whether it is of a granted interface.
    pub(super) granted: bool,
}

/// A socket that goes past the kernel.
pub(super) struct Live {
    /// The program's descriptor.
    pub(super) fd: RawFd,
    pub(super) look: Look,
    /// What is in the table of flows of it.
    flows: Vec<Taken>,
    pub(super) queue: Queue,
    pub(super) slot: SlotId,
    /// The file behind it, by which the kernel names it among those that have its port.
    pub(super) inode: u64,
    /// Whether a socket that is not past the kernel may get what comes for this one: all of it is the kernel's as long.
    pub(super) is_shared: bool,
    /// What the last look at its port found out.
    pub(super) seen: Seen,
    /// Whether other processes have the socket itself, which were forked: all of it is the kernel's as long, too.
    pub(super) is_inherited: bool,
    /// When the kernel was last asked what it has, and how many datagrams of ours were handed over since.
    pub(super) asked: u64,
    /// When it was last asked for errors.
    pub(super) checked: u64,
    pub(super) since: u32,
    /// How many may wait in the kernel from before its flows were taken: they come first.
    pub(super) before: usize,
    /// When it was last asked whether calls on it return at once.
    pub(super) sure: u64,
    /// When the last datagram came that was received, and whether it is known of all from now on.
    stamp: Stamp,
    keeps_stamps: bool,
}

/// When a socket's last datagram came, as `SIOCGSTAMP` tells it.
#[derive(Clone, Copy)]
enum Stamp {
    /// None came past the kernel, or one through it came after that.
    Kernels,
    /// Nobody had asked for it by then.
    NotKept,
    At(Duration),
}

impl Live {
    pub(super) fn new(fd: RawFd, inode: u64, look: Look, slot: SlotId) -> Self {
        Self {
            fd,
            keeps_stamps: look.wants.time(),
            look,
            flows: Vec::new(),
            queue: Queue::default(),
            slot,
            inode,
            is_shared: false,
            seen: Seen::default(),
            is_inherited: false,
            asked: 0,
            checked: 0,
            since: 0,
            before: 0,
            sure: 0,
            stamp: Stamp::Kernels,
        }
    }

    /// It is another one by now.
    pub(super) fn set_look(&mut self, look: Look) {
        self.keeps_stamps |= look.wants.time();
        self.look = look;
    }

    /// Whether it has to be known when its datagrams come.
    pub(super) fn keeps_time(&self) -> bool {
        self.keeps_stamps
    }

    /// One that came then was handed over (`sock_recv_cmsgs` of Linux: not where its own message says when).
    pub(super) fn stamps(&mut self, time: Duration) {
        if !self.look.wants.time() {
            self.stamp = if self.keeps_stamps { Stamp::At(time) } else { Stamp::NotKept };
        }
    }

    /// One that came through the kernel was received.
    pub(super) fn is_stamped_by_kernel(&mut self) {
        self.stamp = Stamp::Kernels;
    }

    /// When the last one came, since 1970, with this as the time (`sock_gettstamp` of Linux: who asks for the first time is told that); `None` where only
    /// the kernel knows.
    pub(super) fn stamp(&mut self, now: impl FnOnce() -> Duration) -> Option<Duration> {
        self.keeps_stamps = true;
        let time = match self.stamp {
            Stamp::Kernels => return None,
            Stamp::At(time) if !time.is_zero() => time,
            _ => now(),
        };
        self.stamp = Stamp::At(time);
        Some(time)
    }

    /// Puts its flows into the table: one for each address that it hears, of which one at least is of a granted interface.
    pub(super) fn take_flows(&mut self, table: &mut FlowTable, addresses: &[Local]) -> Result<(), Reason> {
        if self.is_shared {
            self.give_flows(table);
            return Err(Reason::SharedPort);
        }
        if self.is_inherited {
            self.give_flows(table);
            return Err(Reason::Inherited);
        }
        let hears = |local: &&Local| self.look.binding.hears(local.address);
        if !addresses.iter().filter(hears).any(|local| local.granted) {
            self.give_flows(table);
            return Err(Reason::OtherInterface);
        }
        let (port, peer) = (self.look.local.port(), self.look.peer);
        // Those of before are given back afterwards, so that what stays the same is there throughout.
        let before = self.flows.len();
        for local in addresses.iter().filter(hears) {
            let flow = Flow { local: SocketAddr::new(local.address, port), peer };
            match table.insert(&flow) {
                Ok(taken) => self.flows.push(taken),
                Err(TableFull) => {
                    self.give_flows(table);
                    return Err(Reason::TableFull);
                }
            }
        }
        if before == 0 {
            // The kernel takes one more than there is room for.
            self.before = self.look.room / OVERHEAD + 1;
            self.since = FAIR;
        }
        self.flows.drain(..before).for_each(|flow| table.remove(flow));
        Ok(())
    }

    /// Its memory stays, as those that go to and fro are taken again while datagrams wait.
    pub(super) fn give_flows(&mut self, table: &mut FlowTable) {
        self.flows.drain(..).for_each(|flow| table.remove(flow));
    }

    /// Has memory for the flows of so many addresses, and for as many again while they change.
    pub(super) fn reserve(&mut self, addresses: usize) {
        self.flows.reserve(2 * addresses);
    }
}

/// Beside a datagram's own bytes.
#[derive(Clone, Copy)]
pub(super) struct Beside {
    /// Number of the interface that it came in by.
    pub(super) interface: u32,
    /// When, since 1970.
    pub(super) time: Duration,
}

/// Gives a program what came, as recvmsg(2) does; returns what that returns.
pub(super) fn hand_over(
    arrived: &Arrived<'_>,
    beside: Beside,
    look: &Look,
    message: &mut Incoming<'_, '_>,
    flags: i32,
) -> usize {
    let payload = arrived.payload;
    let mut written = 0;
    for piece in message.pieces.iter_mut() {
        let part = &payload[written..];
        let length = part.len().min(piece.len());
        piece[..length].copy_from_slice(&part[..length]);
        written += length;
    }
    let cut = if written < payload.len() { libc::MSG_TRUNC } else { 0 };
    message.flags = cut | flags & libc::MSG_CMSG_CLOEXEC;
    if !message.name.is_empty() {
        message.name_length = name::write(arrived.from, beside.interface, look.v6, message.name);
    }
    message.control_length = 0;
    if look.wants != Wants::default() {
        tell(arrived, beside, look, message);
    }
    if flags & libc::MSG_TRUNC != 0 { payload.len() } else { written }
}

/// Control messages, in the order of the kernel's.
fn tell(arrived: &Arrived<'_>, Beside { interface, time }: Beside, look: &Look, message: &mut Incoming<'_, '_>) {
    let (v4, v6) = (libc::SOL_IP, libc::SOL_IPV6);
    let wants = look.wants;
    let mut writer = Writer::new(message.control);
    if wants.nanos {
        writer.put_time(libc::SO_TIMESTAMPNS, time.as_secs() as i64, time.subsec_nanos().into());
    } else if wants.micros {
        writer.put_time(libc::SO_TIMESTAMP, time.as_secs() as i64, time.subsec_micros().into());
    }
    if wants.v6_info {
        writer.put_info_v6(interface, arrived.to.ip());
    }
    match arrived.to.ip() {
        IpAddr::V4(to) => {
            if wants.v4_info {
                writer.put_info_v4(interface, to.octets());
            }
            if wants.v4_ttl {
                writer.put_number(v4, libc::IP_TTL, arrived.ttl);
            }
            if wants.v4_class {
                writer.put(v4, libc::IP_TOS, &[arrived.traffic_class]);
            }
        }
        IpAddr::V6(_) => {
            if wants.v6_hops {
                writer.put_number(v6, libc::IPV6_HOPLIMIT, arrived.ttl);
            }
            if wants.v6_class {
                writer.put_number(v6, libc::IPV6_TCLASS, arrived.traffic_class);
            }
        }
    }
    message.control_length = writer.length;
    if writer.cut {
        message.flags |= libc::MSG_CTRUNC;
    }
}
