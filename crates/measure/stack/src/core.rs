//! All that the threads of a process share of their bypassed sockets: frames, flows and queues.
//!
//! Nothing in here reads a clock or makes a system call, but for those of a queue itself (`xdp`): time is passed in, and [`Kernel`] answers.

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
    os::fd::{OwnedFd, RawFd},
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use datagram::{Identifications, Input, SocketId};
use grant::{Control, Grant, Granted};
use kernel::{diag::Bound, link::Link, neighbour::Neighbour, route::Way};
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
use port_sharing::Looks;
use queue::{OVERHEAD, Places};
use rings::Ring;
use route_cache::{Exit, RouteCache};
use socket::{Live, Local};

pub(crate) use leave::Retired;
pub(crate) use receive::Received;
pub(crate) use send::{Sent, Wake};

/// Questions of the core to the kernel.
pub(crate) trait Kernel: Send {
    /// All interfaces; none where the kernel does not say.
    fn links(&mut self) -> Option<Vec<Link>>;
    /// The route to a destination, from an address if one is chosen.
    fn route(&mut self, to: IpAddr, from: Option<IpAddr>) -> Option<Way>;
    /// A neighbour at an interface, where the kernel knows it.
    fn neighbour(&mut self, interface: u32, address: IpAddr) -> Option<Neighbour>;
    /// All UDP sockets of the namespace, or those of a port; whether the kernel named them.
    fn udp_sockets(&mut self, port: Option<u16>, each: &mut dyn FnMut(&Bound)) -> bool;
    /// The error that waits for a socket's next call; asking takes it away.
    fn pending_error(&self, fd: RawFd) -> Option<i32>;
    /// Whether the other end of a connection is closed.
    fn hangs_up(&self, fd: RawFd) -> bool;
    /// The time since 1970.
    fn realtime(&self) -> Duration;
    /// The time since the machine booted.
    fn monotonic(&self) -> Duration;
    /// The time that this thread has had a processor.
    fn processor_time(&self) -> Duration;
}

/// A socket of the kernel's, as its descriptor says.
pub(crate) struct Shadow {
    pub(crate) fd: RawFd,
    pub(crate) cookie: Option<u64>,
    /// The file behind it.
    pub(crate) inode: Option<u64>,
    pub(crate) ends: (Option<SocketAddr>, Option<SocketAddr>),
    /// Its options, or why it cannot be bypassed.
    pub(crate) options: Result<SocketOptions, Reason>,
}

/// Frames that the kernel has to fill in each ring at least.
const LEAST_FILLED: usize = 256;

pub(crate) struct Core {
    control: Arc<Control>,
    kernel: Box<dyn Kernel>,
    table: FlowTable,
    umem: Umem,
    /// Frames that are in no ring and no queue. It has room for all there are.
    free: Vec<Frame>,
    /// Frames that were sent from. They are used first: memory that another core has written takes longer to write to.
    sent: Vec<Frame>,
    rings: Vec<Ring>,
    busy_poll: BusyPoll,
    /// Frames that the kernel shall have to fill in each ring.
    filled: usize,
    input: Input,
    places: Places,
    sockets: Vec<Option<Live>>,
    /// Numbers of the sockets, by the files behind them.
    inodes: HashMap<u64, u32>,
    /// Bytes that may wait to be received by all sockets together.
    room: usize,
    /// The socket with the longest queue, as far as is known, and the last socket whose queue was looked at.
    longest: usize,
    looked_at: usize,
    /// Numbers of closed sockets, in the order of their closing.
    freed: VecDeque<u32>,
    routes: RouteCache,
    identifications: Identifications,
    /// Granted interfaces and all local addresses, as of this generation.
    exits: Vec<Exit>,
    /// The rings of each of these interfaces.
    exit_rings: Vec<Range<usize>>,
    locals: Vec<Local>,
    generation: u64,
    /// How often the kernel is asked for datagrams while none comes, and for errors before one is sent.
    ask_every: u64,
    errors_every: u64,
    /// How long a socket is taken to be non-blocking after its descriptor said so.
    sure_for: u64,
    /// Whether a datagram was put into a queue since sleepers were last told.
    pub(crate) queued: bool,
    /// The connection to the launcher: the grant is ours as long as it is open at both ends.
    claim: Option<OwnedFd>,
    /// Queues that were given up, until their descriptors are closed.
    retired: Option<Retired>,
    /// When what nobody announces was last looked at, and how often it is.
    looked: u64,
    look_every: u64,
    /// Looks until other sockets of our ports are asked for again.
    ports_wait: u32,
    looks: Looks,
    /// Set at each of these looks, for users of the stack that look after things of their own then.
    housekeeping: Arc<AtomicBool>,
}

impl Core {
    pub(crate) fn new(grant: Grant, kernel: Box<dyn Kernel>, ticks: Ticks, now: u64) -> Self {
        let Grant { control, flows, umem, frames, interfaces, claim, .. } = grant;
        let frames_in_all = umem.frames() as usize;
        let mut free = Vec::with_capacity(frames_in_all);
        free.extend(frames);
        // Half of them may wait for sockets; the others go round.
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
            looks: Looks::new(ticks),
            housekeeping: Arc::default(),
        };
        core.read_interfaces();
        core
    }

    /// Descriptors that become readable when something has come.
    pub(crate) fn descriptors(&self) -> impl Iterator<Item = RawFd> {
        self.rings.iter().map(Ring::fd)
    }

    /// The page with the records of sockets.
    pub(crate) fn page(&self) -> Arc<Control> {
        Arc::clone(&self.control)
    }

    /// Set at each look at what nobody announces.
    pub(crate) fn housekeeping(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.housekeeping)
    }

    /// The record of a socket.
    pub(crate) fn record(&self, id: SocketId) -> Option<Record> {
        let live = self.sockets.get(id.0 as usize)?.as_ref()?;
        Some(self.control.record(live.slot))
    }

    /// Takes the flows of a socket; `later` also one that cannot have them just now.
    pub(crate) fn open(&mut self, shadow: Shadow, later: bool, now: u64) -> Result<SocketId, Reason> {
        self.follow_changes(now);
        let Shadow { fd, cookie, inode, ends, options } = shadow;
        let admitted = options.and_then(|options| {
            let slot = self.control.add(fd, cookie.ok_or(Reason::Unreadable)?);
            self.control.slot(slot).set_ends(Some(options.local), options.peer);
            let mut live = Live::new(fd, inode.ok_or(Reason::Unreadable)?, options, slot);
            live.reserve(self.locals.len());
            self.admit(live, later, now)
        });
        // A socket that is not bound is looked at again.
        if let Err(why) = admitted
            && why != Reason::NotBound
        {
            self.control.note(fd, cookie.unwrap_or_default(), ends, why);
            // Datagrams that others hear on its port may be for it.
            ends.0.into_iter().for_each(|local| self.look_at_port(local.port(), now));
        }
        admitted
    }

    fn admit(&mut self, live: Live, later: bool, now: u64) -> Result<SocketId, Reason> {
        let slot = live.slot;
        // What has come until now is not for it.
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

    /// Gives it a number that no socket had for long: a thread may still wait for a closed socket.
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

    /// Its place among the sockets of its port, and its flows; `asks` for other sockets of the port first.
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

    /// Whether it can be bypassed later, as a change of this reason is followed. A socket with an address of another interface stays with the
    /// kernel, which is quicker with it.
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

    /// Takes over what was changed about a socket.
    pub(crate) fn refresh(
        &mut self,
        id: SocketId,
        fd: RawFd,
        options: Result<SocketOptions, Reason>,
        now: u64,
    ) -> Result<(), Reason> {
        self.follow_changes(now);
        // What came until now is for the socket as it was.
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
        // Most options do not change which socket hears.
        let asks = !live.options.hears_as(&options);
        live.fd = fd;
        live.set_options(options);
        self.take(id, asks, now)
    }

    /// Removes a socket; also returns how many datagrams waited for it. Those that have come until now are among them, and not for the next socket
    /// of its port.
    fn forget(&mut self, id: SocketId) -> Option<(Live, u64)> {
        let Self { sockets, table, .. } = self;
        sockets.get_mut(id.0 as usize)?.as_mut()?.give_flows(table);
        self.empty_rings(None);
        // Threads that wait for it are woken.
        self.queued = true;
        let mut live = self.remove(id)?;
        let waited = self.places.clear(&mut live.queue, &mut self.free);
        Some((live, waited))
    }

    /// The rings take as many small datagrams as the kernel would keep for these sockets.
    fn set_filled(&mut self) {
        self.filled = (self.room / OVERHEAD).max(LEAST_FILLED);
    }

    fn live(&mut self, id: SocketId) -> Option<&mut Live> {
        self.sockets.get_mut(id.0 as usize)?.as_mut()
    }

    /// Follows what changed in the kernel.
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

    /// Where the kernel does not say, all stays as it was.
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

    /// A socket without a local address any more stays, and hears through the kernel.
    fn take_flows_anew(&mut self) {
        for live in self.sockets.iter_mut().flatten() {
            let fate = take_flows(live, &self.exits, &mut self.table, &self.locals);
            self.control.slot(live.slot).set_fate(fate);
        }
    }
}

/// The flows of a socket, as far as an interface can be used.
fn take_flows(live: &mut Live, exits: &[Exit], table: &mut FlowTable, locals: &[Local]) -> Result<(), Reason> {
    let fate = live.take_flows(table, locals);
    if exits.iter().any(|exit| exit.open) { fate } else { Err(Reason::InterfaceGone) }
}
