//! State of the bypassed sockets of a process, shared by its threads: frames, flows and queues.
//!
//! The core reads no clock and makes no system calls except on its queues (`xdp`). Callers pass the time; [`Kernel`]
//! answers questions.

mod allowance;
mod busy_poll;
mod leave;
mod other_socket;
mod port_sharing;
mod queue;
mod receive;
mod rings;
mod route_cache;
mod send;
mod socket;

use std::{
    collections::{HashMap, VecDeque},
    net::{IpAddr, SocketAddr},
    ops::Range,
    os::fd::{BorrowedFd, OwnedFd, RawFd},
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use datagram::{Identifications, Input, SocketId};
use grant::{Control, Grant, Granted, Returned};
use kernel::{diag::Bound, link::Link, neighbour::Neighbour, route::PacketRoute};
use model::{
    bypass::{Reason, Record},
    stream::Mac,
};
use xdp::{
    socket::{Frame, Umem},
    steer::FlowTable,
};

use crate::{sockaddr::needs_scope, socket_options::SocketOptions, ticks::Ticks};
use busy_poll::BusyPoll;
use port_sharing::PortQueries;
use queue::{OVERHEAD, Places};
use rings::Ring;
use route_cache::{Exit, RouteCache};
use socket::{Live, Local};

pub(crate) use leave::Retired;
pub(crate) use receive::Received;
pub(crate) use send::{Sent, Wake};

/// Questions of the core to the kernel.
pub(crate) trait Kernel: Send {
    /// All interfaces; `None` if the kernel does not tell.
    fn links(&mut self) -> Option<Vec<Link>>;
    /// The route to a destination, from a source address if one is chosen.
    fn route(&mut self, to: IpAddr, from: Option<IpAddr>) -> Option<PacketRoute>;
    /// A neighbour at an interface, if the kernel knows it.
    fn neighbour(&mut self, interface: u32, address: IpAddr) -> Option<Neighbour>;
    /// Calls `each` with the UDP sockets of the namespace, or of one port; returns whether the kernel answered.
    fn udp_sockets(&mut self, port: Option<u16>, each: &mut dyn FnMut(&Bound)) -> bool;
    /// Takes a socket's pending error.
    fn pending_error(&self, fd: RawFd) -> Option<i32>;
    /// Whether the other end of a connection is closed.
    fn hangs_up(&self, fd: RawFd) -> bool;
    /// Moves a datagram into the kernel's queue of a socket, with the launcher at the other end of `claim`; returns
    /// whether it was done.
    fn deliver(&self, claim: BorrowedFd<'_>, fd: RawFd, returned: &Returned, payload: &[u8]) -> bool;
    /// The time since 1970.
    fn realtime(&self) -> Duration;
    /// The time since the machine booted.
    fn monotonic(&self) -> Duration;
    /// CPU time of this thread.
    fn processor_time(&self) -> Duration;
}

/// A kernel socket as its descriptor describes it.
pub(crate) struct KernelSocketState {
    pub(crate) fd: RawFd,
    pub(crate) cookie: Option<u64>,
    /// Inode number of the file behind it.
    pub(crate) inode: Option<u64>,
    pub(crate) ends: (Option<SocketAddr>, Option<SocketAddr>),
    /// Options, or the reason why it cannot be bypassed.
    pub(crate) options: Result<SocketOptions, Reason>,
}

/// Least number of frames for the kernel to fill in each ring.
const LEAST_FILLED: usize = 256;

pub(crate) struct Core {
    control: Arc<Control>,
    kernel: Box<dyn Kernel>,
    table: FlowTable,
    umem: Umem,
    /// Frames in no ring and no queue. The vector has room for all frames.
    free: Vec<Frame>,
    /// Frames of sent packets, used first: writing to memory that another core has written takes longer.
    sent: Vec<Frame>,
    rings: Vec<Ring>,
    busy_poll: BusyPoll,
    /// Target number of frames for the kernel to fill in each ring.
    filled: usize,
    input: Input,
    places: Places,
    sockets: Vec<Option<Live>>,
    /// Socket numbers by inode.
    inodes: HashMap<u64, u32>,
    /// Receive buffer of all sockets together, in bytes.
    room: usize,
    /// The socket with the longest known queue, and the last socket that the search visited.
    longest: usize,
    looked_at: usize,
    /// Numbers of closed sockets, in order of closing.
    freed: VecDeque<u32>,
    routes: RouteCache,
    identifications: Identifications,
    /// Granted interfaces and all local addresses, as of this generation.
    exits: Vec<Exit>,
    /// The rings of each of these interfaces.
    exit_rings: Vec<Range<usize>>,
    locals: Vec<Local>,
    generation: u64,
    /// Interval of the queries to the kernel: for datagrams while none arrives, and for errors before one is sent.
    ask_every: u64,
    errors_every: u64,
    /// Time for which a socket counts as non-blocking after a check of its descriptor.
    sure_for: u64,
    /// Whether a datagram was queued since sleepers were last woken.
    pub(crate) queued: bool,
    /// Connection to the launcher: the grant holds while both ends are open.
    claim: Option<OwnedFd>,
    /// Queues given up, until their descriptors are closed.
    retired: Option<Retired>,
    /// Time and interval of the checks for changes without a notification.
    looked: u64,
    look_every: u64,
    /// Checks left until the next query for other sockets on our ports.
    ports_wait: u32,
    looks: PortQueries,
    /// Set at each of these checks, for housekeeping by users of the stack.
    housekeeping: Arc<AtomicBool>,
}

impl Core {
    pub(crate) fn new(grant: Grant, kernel: Box<dyn Kernel>, ticks: Ticks, now: u64) -> Self {
        let Grant { control, flows, umem, frames, interfaces, claim, .. } = grant;
        let frames_in_all = umem.frames() as usize;
        let mut free = Vec::with_capacity(frames_in_all);
        free.extend(frames);
        // Half of the frames may wait for sockets; the others circulate.
        let places = Places::new(free.len() as u32 / 2);
        let exit =
            |granted: &Granted| Exit { index: granted.index, mac: Mac(granted.mac), mtu: granted.mtu, open: true };
        let exits = interfaces.iter().map(exit).collect();
        let (mut rings, mut exit_rings) = (Vec::new(), Vec::new());
        for granted in interfaces {
            let first = rings.len();
            rings.extend(Ring::of(granted));
            exit_rings.push(first..rings.len());
        }
        let mut core = Self {
            busy_poll: BusyPoll::new(&rings),
            rings,
            filled: LEAST_FILLED,
            exit_rings,
            kernel,
            table: flows,
            umem,
            free,
            sent: Vec::with_capacity(frames_in_all),
            input: Input::default(),
            places,
            sockets: Vec::new(),
            inodes: HashMap::new(),
            room: 0,
            longest: 0,
            looked_at: 0,
            freed: VecDeque::new(),
            routes: RouteCache::new(ticks),
            identifications: Identifications::default(),
            exits,
            locals: Vec::new(),
            generation: control.generation(),
            ask_every: ticks.of_us(2),
            errors_every: ticks.of_us(50),
            sure_for: ticks.of_us(100),
            queued: false,
            control: Arc::new(control),
            claim,
            retired: None,
            looked: now,
            look_every: ticks.of_us(100_000),
            ports_wait: 0,
            looks: PortQueries::new(ticks),
            housekeeping: Arc::default(),
        };
        core.read_interfaces();
        core
    }

    /// Descriptors that become readable when a packet arrives.
    pub(crate) fn descriptors(&self) -> impl Iterator<Item = RawFd> {
        self.rings.iter().map(Ring::fd)
    }

    /// The page with the sockets' records.
    pub(crate) fn page(&self) -> Arc<Control> {
        Arc::clone(&self.control)
    }

    /// Set at each check for changes without a notification.
    pub(crate) fn housekeeping(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.housekeeping)
    }

    /// The record of a socket.
    pub(crate) fn record(&self, id: SocketId) -> Option<Record> {
        let live = self.sockets.get(id.0 as usize)?.as_ref()?;
        Some(self.control.record(live.slot))
    }

    /// Takes the flows of a socket; with `later`, also accepts a socket that cannot be bypassed yet.
    pub(crate) fn open(&mut self, shadow: KernelSocketState, later: bool, now: u64) -> Result<SocketId, Reason> {
        self.follow_changes(now);
        let KernelSocketState { fd, cookie, inode, ends, options } = shadow;
        let admitted = options.and_then(|options| {
            let slot = self.control.add(fd, cookie.ok_or(Reason::Unreadable)?);
            self.control.slot(slot).set_ends(Some(options.local), options.peer);
            let mut live = Live::new(fd, inode.ok_or(Reason::Unreadable)?, options, slot);
            live.reserve(self.locals.len());
            self.admit(live, later, now)
        });
        // An unbound socket is examined again later.
        if let Err(why) = admitted
            && why != Reason::NotBound
        {
            self.control.note(fd, cookie.unwrap_or_default(), ends, why);
            // Datagrams for other sockets of its port may now be for it.
            ends.0.into_iter().for_each(|local| self.look_at_port(local.port(), now));
        }
        admitted
    }

    fn admit(&mut self, live: Live, later: bool, now: u64) -> Result<SocketId, Reason> {
        let slot = live.slot;
        // Packets from before are not for it.
        self.empty_rings(None);
        let id = self.add(live);
        match self.take(id, true, now) {
            Err(why) if !(later && self.may_pass(why, id)) => {
                self.remove(id);
                Err(why)
            }
            fate => {
                self.control.slot(slot).set_fate(fate);
                self.set_filled();
                Ok(id)
            }
        }
    }

    /// Assigns the number freed longest ago: a thread may still wait for a closed socket.
    fn add(&mut self, live: Live) -> SocketId {
        const SOON: usize = 1024;
        let number = match self.freed.len() {
            SOON.. => self.freed.pop_front().unwrap_or_default(),
            _ => {
                self.sockets.push(None);
                self.sockets.len() as u32 - 1
            }
        };
        self.inodes.insert(live.inode, number);
        self.room += live.options.room;
        self.sockets[number as usize] = Some(live);
        SocketId(number)
    }

    fn remove(&mut self, id: SocketId) -> Option<Live> {
        let live = self.sockets.get_mut(id.0 as usize)?.take()?;
        self.input.release(id);
        if self.inodes.get(&live.inode) == Some(&id.0) {
            self.inodes.remove(&live.inode);
        }
        self.room -= live.options.room;
        self.freed.push_back(id.0);
        Some(live)
    }

    /// Determines the socket's place on its port and takes its flows; with `asks`, queries the port's other sockets
    /// first.
    fn take(&mut self, id: SocketId, asks: bool, now: u64) -> Result<(), Reason> {
        let options = &self.live(id).ok_or(Reason::NotBound)?.options;
        let (device, binding) = (options.device, options.binding);
        let is_elsewhere = |index: u32| self.exits.len() != 1 || self.exits[0].index != index;
        if device.is_some_and(is_elsewhere) {
            return Err(Reason::OtherDevice);
        }
        self.input.bind(id, binding);
        if asks {
            self.meet(id, now);
        }
        let Self { sockets, exits, table, locals, .. } = self;
        let live = sockets[id.0 as usize].as_mut().ok_or(Reason::NotBound)?;
        if live.keeps_time() {
            table.stamp();
        }
        take_flows(live, exits, table, locals)
    }

    /// Whether the socket can be bypassed later, because changes of this reason are followed.
    ///
    /// A socket bound to an address of another interface stays with the kernel, which is faster there.
    fn may_pass(&self, why: Reason, id: SocketId) -> bool {
        let own = self.sockets[id.0 as usize].as_ref().and_then(|live| live.options.binding.address);
        let is_elsewhere = |address: IpAddr| {
            address.is_loopback() || self.locals.iter().any(|local| local.address == address && !local.granted)
        };
        match why {
            Reason::SharedPort | Reason::Inherited => true,
            Reason::InterfaceGone => self.exit_rings.iter().any(|rings| !rings.is_empty()),
            Reason::OtherInterface => !own.is_some_and(is_elsewhere),
            _ => false,
        }
    }

    /// Updates a socket's options.
    pub(crate) fn refresh(
        &mut self,
        id: SocketId,
        fd: RawFd,
        options: Result<SocketOptions, Reason>,
        now: u64,
    ) -> Result<(), Reason> {
        self.follow_changes(now);
        // Packets from before are for the socket with its old options.
        self.empty_rings(None);
        let slot = self.live(id).ok_or(Reason::NotBound)?.slot;
        match options.and_then(|options| self.change(id, fd, options, now)) {
            Err(why) if !self.may_pass(why, id) => {
                self.leave(id, why, now);
                return Err(why);
            }
            fate => self.control.slot(slot).set_fate(fate),
        }
        self.set_filled();
        Ok(())
    }

    fn change(&mut self, id: SocketId, fd: RawFd, options: SocketOptions, now: u64) -> Result<(), Reason> {
        let Self { sockets, control, room, .. } = self;
        let live = sockets[id.0 as usize].as_mut().ok_or(Reason::NotBound)?;
        control.slot(live.slot).set_ends(Some(options.local), options.peer);
        *room = *room - live.options.room + options.room;
        // Most options do not change which socket receives a datagram.
        let asks = !live.options.hears_as(&options);
        live.fd = fd;
        live.set_options(options);
        self.take(id, asks, now)
    }

    /// Removes a socket; also returns the number of datagrams lost in its queue.
    ///
    /// Packets that have already arrived count among them: they are not for the next socket on its port. With
    /// `hands_over`, the kernel gets them first.
    fn forget(&mut self, id: SocketId, hands_over: bool) -> Option<(Live, u64)> {
        let Self { sockets, table, .. } = self;
        sockets.get_mut(id.0 as usize)?.as_mut()?.give_flows(table);
        self.empty_rings(None);
        if hands_over {
            self.hand_over(id);
        }
        // Wakes threads that wait for it.
        self.queued = true;
        let mut live = self.remove(id)?;
        let waited = self.places.clear(&mut live.queue, &mut self.free);
        Some((live, waited))
    }

    /// Adjusts the rings' fill level to the number of small datagrams that the kernel would buffer for these sockets.
    fn set_filled(&mut self) {
        self.filled = (self.room / OVERHEAD).max(LEAST_FILLED);
    }

    fn live(&mut self, id: SocketId) -> Option<&mut Live> {
        self.sockets.get_mut(id.0 as usize)?.as_mut()
    }

    /// Follows changes in the kernel.
    #[inline]
    pub(crate) fn follow_changes(&mut self, now: u64) {
        if now.wrapping_sub(self.looked) > self.look_every {
            self.look_around(now);
        }
        let generation = self.control.generation();
        if generation != self.generation {
            self.generation = generation;
            self.read_interfaces();
            self.take_flows_anew();
        }
    }

    /// Without an answer from the kernel, everything stays as it was.
    #[cold]
    fn read_interfaces(&mut self) {
        let Some(links) = self.kernel.links() else { return };
        for (number, exit) in self.exits.iter_mut().enumerate() {
            let link = links.iter().find(|link| link.index == exit.index);
            let has_queues = !self.exit_rings[number].is_empty();
            exit.open = has_queues && link.is_some_and(|link| link.up) && !self.control.is_gone(number);
            if let Some(link) = link {
                exit.mtu = link.mtu.0;
                exit.mac = link.mac.parse().unwrap_or(exit.mac);
            }
        }
        let granted = |index: u32| self.exits.iter().any(|exit| exit.index == index && exit.open);
        let locals = links.iter().filter(|link| link.up).flat_map(|link| {
            link.addresses.iter().map(|(address, _)| Local { address: *address, granted: granted(link.index) })
        });
        let is_taken = |local: &Local| !local.address.is_loopback() && !needs_scope(local.address);
        self.locals = locals.filter(is_taken).collect();
    }

    /// A socket whose local address is gone stays registered and receives through the kernel.
    fn take_flows_anew(&mut self) {
        for live in self.sockets.iter_mut().flatten() {
            live.has_gone_on(&self.control);
            let fate = take_flows(live, &self.exits, &mut self.table, &self.locals);
            self.control.slot(live.slot).set_fate(fate);
        }
    }
}

/// Takes the flows of a socket, as far as an interface is usable.
fn take_flows(live: &mut Live, exits: &[Exit], table: &mut FlowTable, locals: &[Local]) -> Result<(), Reason> {
    let fate = live.take_flows(table, locals);
    if exits.iter().any(|exit| exit.open) { fate } else { Err(Reason::InterfaceGone) }
}
