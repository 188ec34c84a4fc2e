//! All that the threads of a process share of what goes past the kernel, behind one lock.

mod allowance;
mod cards;
mod inwards;
mod left;
mod outwards;
mod ports;
mod queue;
mod rings;
mod socket;

use std::{
    collections::{HashMap, VecDeque},
    net::IpAddr,
    ops::Range,
    os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd},
    sync::Arc,
};

use datagram::{Identifications, Input, SocketId};
use kernel::link;
use model::stream::Mac;
use xdp::{
    socket::{Frame, Umem},
    steer::FlowTable,
};

use crate::{
    Control, Grant, Reason, calls,
    control::Record,
    look::{Look, look},
    stack::Sleepers,
    ticks::{self, Ticks},
    ways::{Exit, Ways},
};
use cards::Cards;
use ports::Looks;
use queue::{OVERHEAD, Places};
use rings::Ring;
use socket::{Live, Local};

pub(crate) use inwards::Received;
pub(crate) use outwards::{Sent, Wake};

/// Frames that the kernel has to fill in each ring at least.
const LEAST_FILLED: usize = 256;

pub(crate) struct Engine {
    control: Arc<Control>,
    table: FlowTable,
    umem: Umem,
    /// Frames that are in no ring and no queue. It has room for all there are.
    free: Vec<Frame>,
    /// Frames that were sent from, to be sent from again: what another core has filled takes longer to write to.
    sent: Vec<Frame>,
    rings: Vec<Ring>,
    cards: Cards,
    /// Frames that the kernel shall have to fill in each ring.
    filled: usize,
    input: Input,
    places: Places,
    sockets: Vec<Option<Live>>,
    /// Their numbers, by the files behind them.
    inodes: HashMap<u64, u32>,
    /// Bytes that may wait to be received by all of them.
    room: usize,
    /// The one with the longest queue, as far as is known, and the last one that was looked at for that.
    longest: usize,
    looked_at: usize,
    /// Numbers of those that went, in this order.
    freed: VecDeque<u32>,
    ways: Ways,
    identifications: Identifications,
    /// Granted interfaces, and all of our addresses, as of this generation.
    exits: Vec<Exit>,
    /// Which rings are of which of them.
    exit_rings: Vec<Range<usize>>,
    locals: Vec<Local>,
    generation: u64,
    /// How often sockets are asked for what the kernel has: while nothing comes, and for errors before something is sent.
    ask_every: u64,
    errors_every: u64,
    /// How long it holds that a socket's calls return at once, where nobody says otherwise.
    sure_for: u64,
    /// Threads that are to be woken when something comes for a socket.
    pub(crate) sleepers: Sleepers,
    /// Whether something was put into a queue since sleepers were last told.
    pub(crate) queued: bool,
    /// The grant is ours as long as this is open at both ends.
    claim: Option<OwnedFd>,
    /// When that was last looked at, and how often it is, of what nobody tells: this, and who shares our ports.
    looked: u64,
    look_every: u64,
    /// How often the ports are not looked at before they are again.
    ports_wait: u32,
    looks: Looks,
}

impl Engine {
    pub(crate) fn new(grant: Grant) -> Self {
        let Grant { control, flows, umem, frames, interfaces, claim, .. } = grant;
        let ticks = Ticks::measure();
        let frames_in_all = umem.frames() as usize;
        let mut free = Vec::with_capacity(frames_in_all);
        free.extend(frames);
        // Half of them may wait for sockets; the others go round.
        let places = Places::new(free.len() as u32 / 2);
        let exit = |granted: &crate::Granted| Exit {
            index: granted.index,
            mac: Mac(granted.mac),
            mtu: granted.mtu,
            open: true,
        };
        let exits = interfaces.iter().map(exit).collect();
        let (mut rings, mut exit_rings) = (Vec::new(), Vec::new());
        for granted in interfaces {
            let first = rings.len();
            rings.extend(Ring::of(granted));
            exit_rings.push(first..rings.len());
        }
        let mut engine = Self {
            cards: Cards::new(&rings),
            rings,
            filled: LEAST_FILLED,
            exit_rings,
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
            ways: Ways::new(ticks),
            identifications: Identifications::default(),
            exits,
            locals: Vec::new(),
            generation: control.generation(),
            ask_every: ticks.of_us(2),
            errors_every: ticks.of_us(50),
            sure_for: ticks.of_us(100),
            sleepers: Sleepers::default(),
            queued: false,
            control: Arc::new(control),
            claim,
            looked: ticks::now(),
            look_every: ticks.of_us(100_000),
            ports_wait: 0,
            looks: Looks::new(ticks),
        };
        engine.read_interfaces();
        engine
    }

    /// Descriptors that become readable when something has come.
    pub(crate) fn descriptors(&self) -> impl Iterator<Item = RawFd> {
        self.rings.iter().map(Ring::fd)
    }

    /// The one by which the kernel is asked for ways.
    pub(crate) fn asks_by(&self) -> Option<RawFd> {
        self.ways.descriptor()
    }

    /// Where sockets are written down.
    pub(crate) fn page(&self) -> Arc<Control> {
        Arc::clone(&self.control)
    }

    /// What is written down of a socket.
    pub(crate) fn record(&self, id: SocketId) -> Option<Record> {
        let live = self.sockets.get(id.0 as usize)?.as_ref()?;
        Some(self.control.record(live.slot))
    }

    /// Looks at a descriptor, and takes its flows; `later` where it cannot have them just now.
    pub(crate) fn open(&mut self, fd: BorrowedFd<'_>, later: bool) -> Result<SocketId, Reason> {
        self.follow_changes(ticks::now());
        let admitted = look(fd).and_then(|look| self.admit(fd, look, later));
        // One that is not bound is looked at again.
        if let Err(why) = admitted
            && why != Reason::NotBound
        {
            self.control.note(fd, why);
            self.stays_beside(fd);
        }
        admitted
    }

    fn admit(&mut self, fd: BorrowedFd<'_>, look: Look, later: bool) -> Result<SocketId, Reason> {
        let slot = self.control.add(fd.as_raw_fd(), calls::cookie(fd.as_raw_fd()).ok_or(Reason::Unreadable)?);
        self.control.slot(slot).set_ends(Some(look.local), look.peer);
        let inode = calls::inode(fd.as_raw_fd()).ok_or(Reason::Unreadable)?;
        let mut live = Live::new(fd.as_raw_fd(), inode, look, slot);
        live.reserve(self.locals.len());
        // What has come until now is not for it.
        self.pump();
        let id = self.add(live);
        match self.take(id, true) {
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

    /// Gives it a number that nobody had for long: who still waits for a socket that was closed must not take another one for it.
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
        self.room += live.look.room;
        self.sockets[number as usize] = Some(live);
        SocketId(number)
    }

    fn remove(&mut self, id: SocketId) -> Option<Live> {
        let live = self.sockets.get_mut(id.0 as usize)?.take()?;
        self.input.release(id);
        if self.inodes.get(&live.inode) == Some(&id.0) {
            self.inodes.remove(&live.inode);
        }
        self.room -= live.look.room;
        self.freed.push_back(id.0);
        Some(live)
    }

    /// Its place among those that hear, and its flows. Who else has its port is asked where that is not known.
    fn take(&mut self, id: SocketId, asks: bool) -> Result<(), Reason> {
        let look = &self.live(id).ok_or(Reason::NotBound)?.look;
        let (device, binding) = (look.device, look.binding);
        let is_elsewhere = |index: u32| self.exits.len() != 1 || self.exits[0].index != index;
        if device.is_some_and(is_elsewhere) {
            return Err(Reason::OtherDevice);
        }
        self.input.bind(id, binding);
        if asks {
            self.meet(id);
        }
        let Self { sockets, exits, table, locals, .. } = self;
        let live = sockets[id.0 as usize].as_mut().ok_or(Reason::NotBound)?;
        if live.keeps_time() {
            table.stamp();
        }
        take_flows(live, exits, table, locals)
    }

    /// Whether it may go past the kernel later, when what is the matter now has changed: that is followed. What has an address of another interface
    /// stays with the kernel, which is quicker with it.
    fn may_pass(&self, why: Reason, id: SocketId) -> bool {
        let own = self.sockets[id.0 as usize].as_ref().and_then(|live| live.look.binding.address);
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

    /// Looks again.
    pub(crate) fn refresh(&mut self, id: SocketId, fd: BorrowedFd<'_>) -> Result<(), Reason> {
        self.follow_changes(ticks::now());
        // What came until now is for the socket as it was.
        self.pump();
        let slot = self.live(id).ok_or(Reason::NotBound)?.slot;
        match look(fd).and_then(|look| self.change(id, fd, look)) {
            Err(why) if !self.may_pass(why, id) => {
                self.leave(id, why);
                return Err(why);
            }
            fate => self.control.slot(slot).set_fate(fate),
        }
        self.set_filled();
        Ok(())
    }

    fn change(&mut self, id: SocketId, fd: BorrowedFd<'_>, look: Look) -> Result<(), Reason> {
        let Self { sockets, control, room, .. } = self;
        let live = sockets[id.0 as usize].as_mut().ok_or(Reason::NotBound)?;
        control.slot(live.slot).set_ends(Some(look.local), look.peer);
        *room = *room - live.look.room + look.room;
        // Most options have nothing to do with who hears.
        let asks = !live.look.hears_as(&look);
        live.fd = fd.as_raw_fd();
        live.set_look(look);
        self.take(id, asks)
    }

    /// It is the kernel's or nobody's from now on: itself, and how many datagrams waited for it. What has come until now is among them, and is not for
    /// who hears on its port next.
    fn forget(&mut self, id: SocketId) -> Option<(Live, u64)> {
        let Self { sockets, table, .. } = self;
        sockets.get_mut(id.0 as usize)?.as_mut()?.give_flows(table);
        self.pump();
        let mut live = self.remove(id)?;
        let waited = self.places.clear(&mut live.queue, &mut self.free);
        Some((live, waited))
    }

    /// As many small datagrams come in while nobody looks as the kernel would keep for these sockets.
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
        let Ok(links) = link::list() else { return };
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
        let is_taken = |local: &Local| !local.address.is_loopback() && !crate::look::needs_scope(local.address);
        self.locals = locals.filter(is_taken).collect();
    }

    /// What has no address of ours any more stays, and hears through the kernel.
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
