//! All that the threads of a process share of what goes past the kernel, behind one lock.

mod cards;
mod inwards;
mod left;
mod outwards;
mod ports;
mod queue;
mod rings;
mod socket;

use std::{
    net::IpAddr,
    ops::Range,
    os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd},
};

use datagram::{Identifications, Input, SocketId};
use kernel::{diag::Bound, link};
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
use queue::{OVERHEAD, Places};
use rings::Ring;
use socket::{Live, Local};

pub(crate) use inwards::Received;
pub(crate) use outwards::{Sent, Wake};

/// Frames that the kernel has to fill in each ring at least.
const LEAST_FILLED: usize = 256;

pub(crate) struct Engine {
    control: Control,
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
    /// The one with the longest queue, as far as is known, and the last one that was looked at for that.
    longest: usize,
    looked_at: usize,
    /// Where the next free number is looked for first.
    next: usize,
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
            longest: 0,
            looked_at: 0,
            next: 0,
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
            control,
            claim,
            looked: ticks::now(),
            look_every: ticks.of_us(100_000),
            ports_wait: 0,
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
        let number = self.free_number();
        let id = SocketId(number as u32);
        self.control.slot(slot).set_ends(Some(look.local), look.peer);
        let inode = calls::inode(fd.as_raw_fd()).ok_or(Reason::Unreadable)?;
        let mut live = Live::new(fd.as_raw_fd(), inode, look, slot);
        let port = self.who_shares(&live.look);
        // What has come until now is not for it.
        self.pump();
        match self.take(id, &mut live, &port) {
            Err(why) if !(later && self.may_pass(why, &live)) => {
                self.input.release(id);
                return Err(why);
            }
            fate => self.control.slot(slot).set_fate(fate),
        }
        if number == self.sockets.len() {
            self.sockets.push(None);
        }
        self.sockets[number] = Some(live);
        self.set_filled();
        self.settle_port(&port);
        Ok(id)
    }

    /// A number that nobody had for long: who still waits for a socket that was closed must not take another one for it.
    fn free_number(&mut self) -> usize {
        const SOON: usize = 1024;
        let count = self.sockets.len();
        let is_free = |number: &usize| self.sockets[*number].is_none();
        let free = if count < SOON { None } else { (self.next..count).chain(0..self.next).find(is_free) };
        let number = free.unwrap_or(count);
        self.next = number + 1;
        number
    }

    /// Its flows, and its place among those that hear; `port` are those who have its port too.
    fn take(&mut self, id: SocketId, live: &mut Live, port: &[Bound]) -> Result<(), Reason> {
        let is_elsewhere = |index: u32| self.exits.len() != 1 || self.exits[0].index != index;
        if live.look.device.is_some_and(is_elsewhere) {
            return Err(Reason::OtherDevice);
        }
        live.is_shared = self.is_shared(live, port);
        self.input.bind(id, live.look.binding);
        take_flows(live, &self.exits, &mut self.table, &self.locals)
    }

    /// Whether it may go past the kernel later, when what is the matter now has changed: that is followed. What has an address of another interface
    /// stays with the kernel, which is quicker with it.
    fn may_pass(&self, why: Reason, live: &Live) -> bool {
        let is_elsewhere = |address: IpAddr| {
            address.is_loopback() || self.locals.iter().any(|local| local.address == address && !local.granted)
        };
        match why {
            Reason::SharedPort | Reason::Inherited => true,
            Reason::InterfaceGone => self.exit_rings.iter().any(|rings| !rings.is_empty()),
            Reason::OtherInterface => !live.look.binding.address.is_some_and(is_elsewhere),
            _ => false,
        }
    }

    /// Looks again.
    pub(crate) fn refresh(&mut self, id: SocketId, fd: BorrowedFd<'_>) -> Result<(), Reason> {
        self.follow_changes(ticks::now());
        // What came until now is for the socket as it was.
        self.pump();
        let Some(mut live) = self.sockets.get_mut(id.0 as usize).and_then(Option::take) else {
            return Err(Reason::NotBound);
        };
        let mut port = Vec::new();
        let taken = look(fd).and_then(|look| {
            self.control.slot(live.slot).set_ends(Some(look.local), look.peer);
            live.fd = fd.as_raw_fd();
            live.look = look;
            port = self.who_shares(&live.look);
            self.take(id, &mut live, &port)
        });
        match taken {
            Err(why) if !self.may_pass(why, &live) => {
                self.leaves(id, live, why);
                return Err(why);
            }
            fate => self.control.slot(live.slot).set_fate(fate),
        }
        self.sockets[id.0 as usize] = Some(live);
        self.set_filled();
        self.settle_port(&port);
        Ok(())
    }

    /// Returns how many datagrams waited for it.
    fn forget(&mut self, id: SocketId, mut live: Live) -> u64 {
        live.give_flows(&mut self.table);
        // What has come until now is for it, and not for who hears on its port from now on.
        self.sockets[id.0 as usize] = Some(live);
        self.pump();
        self.input.release(id);
        let live = self.sockets[id.0 as usize].take();
        live.map_or(0, |mut live| self.places.clear(&mut live.queue, &mut self.free))
    }

    /// As many small datagrams come in while nobody looks as the kernel would keep for these sockets.
    fn set_filled(&mut self) {
        let room: usize = self.sockets.iter().flatten().map(|live| live.look.room).sum();
        self.filled = (room / OVERHEAD).max(LEAST_FILLED);
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
