//! A bypassed socket.

use std::{
    net::{IpAddr, SocketAddr},
    os::fd::RawFd,
    time::Duration,
};

use datagram::Arrived;
use grant::control::SlotId;
use model::bypass::Reason;
use xdp::steer::{Flow, FlowTable, TableFull, Taken};

use super::queue::{OVERHEAD, Queue};
use crate::{
    ancillary::Writer,
    message::Incoming,
    sockaddr,
    socket_options::{SocketOptions, Wants},
};

/// Bypassed datagrams after which the kernel is asked too, so that its datagrams do not wait for ever.
pub(super) const FAIR: u32 = 64;

/// Findings of a look at a port, of one of its sockets.
#[derive(Default)]
pub(super) struct Findings {
    /// Whether the kernel may give another socket what comes for this one.
    pub(super) is_shared: bool,
    /// Its place among the sockets of the port.
    pub(super) place: u64,
}

/// A local address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Local {
    pub(super) address: IpAddr,
    /// Whether it is of a granted interface.
    pub(super) granted: bool,
}

/// A bypassed socket.
pub(super) struct Live {
    /// The program's descriptor.
    pub(super) fd: RawFd,
    pub(super) options: SocketOptions,
    /// What is in the table of flows of it.
    flows: Vec<Taken>,
    pub(super) queue: Queue,
    pub(super) slot: SlotId,
    /// The file behind it, by which the kernel names it among those that have its port.
    pub(super) inode: u64,
    /// Whether a socket of the kernel may get what comes for this one: as long, the kernel demultiplexes the port.
    pub(super) is_shared: bool,
    /// Findings of the last look at its port.
    pub(super) findings: Findings,
    /// Whether forked processes share the socket: as long, the kernel has all of it.
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
    pub(super) fn new(fd: RawFd, inode: u64, options: SocketOptions, slot: SlotId) -> Self {
        Self {
            fd,
            keeps_stamps: options.wants.time(),
            options,
            flows: Vec::new(),
            queue: Queue::default(),
            slot,
            inode,
            is_shared: false,
            findings: Findings::default(),
            is_inherited: false,
            asked: 0,
            checked: 0,
            since: 0,
            before: 0,
            sure: 0,
            stamp: Stamp::Kernels,
        }
    }

    /// Takes over options that were changed.
    pub(super) fn set_options(&mut self, options: SocketOptions) {
        self.keeps_stamps |= options.wants.time();
        self.options = options;
    }

    /// Whether it has to be known when its datagrams come.
    pub(super) fn keeps_time(&self) -> bool {
        self.keeps_stamps
    }

    /// Gives the program a datagram as recvmsg(2) does; returns the call's result. The socket keeps the time, unless a control message told it
    /// (`sock_recv_cmsgs` of Linux).
    #[inline]
    pub(super) fn hand_over(
        &mut self,
        arrived: &Arrived<'_>,
        beside: Beside,
        message: &mut Incoming<'_, '_>,
        flags: i32,
    ) -> usize {
        if !self.options.wants.time() {
            self.stamp = if self.keeps_stamps { Stamp::At(beside.time) } else { Stamp::NotKept };
        }
        hand_over(arrived, beside, &self.options, message, flags)
    }

    /// One that came through the kernel was received.
    pub(super) fn is_stamped_by_kernel(&mut self) {
        self.stamp = Stamp::Kernels;
    }

    /// When the last datagram came, since 1970; `now` for the first question (`sock_gettstamp` of Linux). `None` where only the kernel knows.
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
        let hears = |local: &&Local| self.options.binding.hears(local.address);
        if !addresses.iter().filter(hears).any(|local| local.granted) {
            self.give_flows(table);
            return Err(Reason::OtherInterface);
        }
        let (port, peer) = (self.options.local.port(), self.options.peer);
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
            self.before = self.options.room / OVERHEAD + 1;
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

fn hand_over(
    arrived: &Arrived<'_>,
    beside: Beside,
    options: &SocketOptions,
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
        message.name_length = sockaddr::write(arrived.from, beside.interface, options.v6, message.name);
    }
    message.control_length = 0;
    if options.wants != Wants::default() {
        tell(arrived, beside, options, message);
    }
    if flags & libc::MSG_TRUNC != 0 { payload.len() } else { written }
}

/// Control messages, in the order of the kernel's.
fn tell(
    arrived: &Arrived<'_>,
    Beside { interface, time }: Beside,
    options: &SocketOptions,
    message: &mut Incoming<'_, '_>,
) {
    let (v4, v6) = (libc::SOL_IP, libc::SOL_IPV6);
    let wants = options.wants;
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
