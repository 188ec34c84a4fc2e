//! A bypassed socket.

use std::{
    net::{IpAddr, SocketAddr},
    os::fd::RawFd,
    time::Duration,
};

use datagram::Arrived;
use grant::{Control, control::SlotId};
use model::bypass::Reason;
use xdp::steer::{Flow, FlowSlot, FlowTable, TableFull};

use super::queue::{OVERHEAD, Queue};
use crate::{
    ancillary::Writer,
    message::Incoming,
    sockaddr,
    socket_options::{RequestedControl, SocketOptions},
};

/// Bypassed datagrams after which the kernel is asked, so that its datagrams do not starve.
pub(super) const FAIR: u32 = 64;

/// Findings of a port query about one socket.
#[derive(Default)]
pub(super) struct Findings {
    /// Whether the kernel may give another socket datagrams for this one.
    pub(super) is_shared: bool,
    /// Place in the order of the port's sockets.
    pub(super) place: u64,
}

/// A local address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Local {
    pub(super) address: IpAddr,
    /// Whether its interface is granted.
    pub(super) granted: bool,
}

/// A bypassed socket.
pub(super) struct Live {
    /// The program's descriptor.
    pub(super) fd: RawFd,
    pub(super) options: SocketOptions,
    /// Entries in the flow table.
    flows: Vec<FlowSlot>,
    pub(super) queue: Queue,
    pub(super) slot: SlotId,
    /// Inode number, by which the kernel lists it.
    pub(super) inode: u64,
    /// Whether a kernel socket shares the port; while it does, the kernel demultiplexes it.
    pub(super) is_shared: bool,
    /// Findings of the last query of its port.
    pub(super) findings: Findings,
    /// Whether forked processes share the socket; if so, the kernel handles it.
    pub(super) is_inherited: bool,
    /// Whether the process has forked since, and a child may share the socket.
    pub(super) is_forked: bool,
    /// Datagrams counted as dropped before an `exec`.
    pub(super) left_behind: u64,
    /// Time of the last query for the kernel's datagrams, and bypassed datagrams received since.
    pub(super) asked: u64,
    /// Time of the last query for errors.
    pub(super) checked: u64,
    pub(super) since: u32,
    /// Datagrams that may wait in the kernel from before the flows were taken: they come first.
    pub(super) before: usize,
    /// Time of the last check whether it is non-blocking.
    pub(super) sure: u64,
    /// Timestamp of the last received datagram, and whether timestamps are kept from now on.
    stamp: Stamp,
    keeps_stamps: bool,
}

/// Timestamp of a socket's last datagram, for `SIOCGSTAMP`.
#[derive(Clone, Copy)]
enum Stamp {
    /// No bypassed datagram, or a later one through the kernel.
    Kernels,
    /// No program had asked for timestamps when it arrived.
    NotKept,
    At(Duration),
}

impl Live {
    pub(super) fn new(fd: RawFd, inode: u64, options: SocketOptions, slot: SlotId) -> Self {
        Self {
            fd,
            keeps_stamps: options.requested.time(),
            options,
            flows: Vec::new(),
            queue: Queue::default(),
            slot,
            inode,
            is_shared: false,
            findings: Findings::default(),
            is_inherited: false,
            is_forked: false,
            left_behind: 0,
            asked: 0,
            checked: 0,
            since: 0,
            before: 0,
            sure: 0,
            stamp: Stamp::Kernels,
        }
    }

    /// Updates options.
    pub(super) fn set_options(&mut self, options: SocketOptions) {
        self.keeps_stamps |= options.requested.time();
        self.options = options;
    }

    /// Takes back what was counted before an `exec` that failed.
    pub(super) fn has_gone_on(&mut self, control: &Control) {
        let left = std::mem::take(&mut self.left_behind);
        if left > 0 {
            control.slot(self.slot).dropped.add(left.wrapping_neg());
        }
    }

    /// Whether the times of its datagrams are needed.
    pub(super) fn keeps_time(&self) -> bool {
        self.keeps_stamps
    }

    /// Gives the program a datagram as recvmsg(2) does; returns the call's result.
    ///
    /// The socket keeps the timestamp unless a control message carried it (`sock_recv_cmsgs` of Linux).
    #[inline]
    pub(super) fn hand_over(
        &mut self,
        arrived: &Arrived<'_>,
        info: ArrivalInfo,
        message: &mut Incoming<'_, '_>,
        flags: i32,
    ) -> usize {
        if !self.options.requested.time() {
            self.stamp = if self.keeps_stamps { Stamp::At(info.time) } else { Stamp::NotKept };
        }
        hand_over(arrived, info, &self.options, message, flags)
    }

    /// The last datagram came through the kernel.
    pub(super) fn is_stamped_by_kernel(&mut self) {
        self.stamp = Stamp::Kernels;
    }

    /// Time of the last datagram, since 1970; `None` if only the kernel knows.
    ///
    /// The first query starts timestamps and gives `now` (`sock_gettstamp` of Linux).
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

    /// Adds its flows to the table, one for each of its addresses. At least one has to be an address of a granted
    /// interface.
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
        // The previous ones are removed afterwards: unchanged flows stay in place throughout.
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
            // The kernel accepts one datagram beyond the limit.
            self.before = self.options.room / OVERHEAD + 1;
            self.since = FAIR;
        }
        self.flows.drain(..before).for_each(|flow| table.remove(flow));
        Ok(())
    }

    /// Keeps the memory: sockets that go to the kernel and back take flows again while datagrams wait.
    pub(super) fn give_flows(&mut self, table: &mut FlowTable) {
        self.flows.drain(..).for_each(|flow| table.remove(flow));
    }

    /// Reserves memory for flows of so many addresses, and as many again for a change.
    pub(super) fn reserve(&mut self, addresses: usize) {
        self.flows.reserve(2 * addresses);
    }
}

/// Metadata of a datagram.
#[derive(Clone, Copy)]
pub(super) struct ArrivalInfo {
    /// Index of the interface of arrival.
    pub(super) interface: u32,
    /// Time of arrival, since 1970.
    pub(super) time: Duration,
}

fn hand_over(
    arrived: &Arrived<'_>,
    info: ArrivalInfo,
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
        message.name_length = sockaddr::write(arrived.from, info.interface, options.v6, message.name);
    }
    message.control_length = 0;
    if options.requested != RequestedControl::default() {
        tell(arrived, info, options, message);
    }
    if flags & libc::MSG_TRUNC != 0 { payload.len() } else { written }
}

/// Writes control messages in the kernel's order.
fn tell(
    arrived: &Arrived<'_>,
    ArrivalInfo { interface, time }: ArrivalInfo,
    options: &SocketOptions,
    message: &mut Incoming<'_, '_>,
) {
    let (v4, v6) = (libc::SOL_IP, libc::SOL_IPV6);
    let requested = options.requested;
    let mut writer = Writer::new(message.control);
    if requested.nanos {
        writer.put_time(libc::SO_TIMESTAMPNS, time.as_secs() as i64, time.subsec_nanos().into());
    } else if requested.micros {
        writer.put_time(libc::SO_TIMESTAMP, time.as_secs() as i64, time.subsec_micros().into());
    }
    if requested.v6_info {
        writer.put_info_v6(interface, arrived.to.ip());
    }
    match arrived.to.ip() {
        IpAddr::V4(to) => {
            if requested.v4_info {
                writer.put_info_v4(interface, to.octets());
            }
            if requested.v4_ttl {
                writer.put_number(v4, libc::IP_TTL, arrived.ttl);
            }
            if requested.v4_class {
                writer.put(v4, libc::IP_TOS, &[arrived.traffic_class]);
            }
        }
        IpAddr::V6(_) => {
            if requested.v6_hops {
                writer.put_number(v6, libc::IPV6_HOPLIMIT, arrived.ttl);
            }
            if requested.v6_class {
                writer.put_number(v6, libc::IPV6_TCLASS, arrived.traffic_class);
            }
        }
    }
    message.control_length = writer.length;
    if writer.cut {
        message.flags |= libc::MSG_CTRUNC;
    }
}
