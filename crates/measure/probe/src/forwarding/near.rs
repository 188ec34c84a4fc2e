//! The side that sends, and hears what the device answers.

use std::{
    net::SocketAddr,
    thread,
    time::{Duration, Instant},
};

use kernel::{
    neighbour,
    packet::{Capture, Frames},
};
use model::{ForwardingSide, ForwardingSpec, SideFigures, SideSetup};

use super::{
    answers::Answers,
    craft::{Crafted, Group, Setting, craft},
    link::Port,
    trial_socket::{Message, TrialSocket},
    unable,
};
use crate::{Control, Prepared, ProbeError, Window, far_address};

/// An EtherType for experiments (IEEE 802), which nobody sends: the sending socket receives nothing.
const NOTHING: u16 = 0x88b5;

/// A message that is not answered is said again after this time.
const AGAIN: Duration = Duration::from_millis(100);
/// A side that does not answer for this long counts as ended.
const GONE: Duration = Duration::from_secs(5);

/// Frames that are sent together, and the pause behind them: no queue on the way fills.
const TOGETHER: usize = 8;
const PAUSE: Duration = Duration::from_millis(1);

/// Time to wait for an answer: routers send some kinds once a second.
const ANSWER: Duration = Duration::from_millis(1_100);
/// The same where the router asks for an address first: three times, a second each (RFC 4861, section 10).
const LATE_ANSWER: Duration = Duration::from_millis(4_500);

/// Frames on the way arrive within this time, or are lost.
const QUIET: Duration = Duration::from_millis(300);

/// A prepared near side.
pub(super) struct Near {
    spec: ForwardingSpec,
    setup: SideSetup,
    peer: SocketAddr,
    trial_socket: TrialSocket,
    capture: Capture,
    frames: Frames,
}

/// Frames being sent, and what comes meanwhile.
struct Sending<'n> {
    capture: &'n mut Capture,
    frames: &'n Frames,
    control: &'n Control,
    answers: Answers,
    crafted: Vec<Crafted>,
    /// Frames sent.
    sent: u64,
    /// Packets sent that had to be answered, by group.
    asked: Vec<(Group, u64)>,
}

impl Near {
    /// Opens its sockets.
    pub(super) fn prepare(spec: &ForwardingSpec, setup: &SideSetup) -> Result<Self, ProbeError> {
        Ok(Self {
            spec: spec.clone(),
            setup: setup.clone(),
            peer: far_address(setup)?,
            trial_socket: TrialSocket::open(setup.local, setup.token)?,
            capture: Capture::open(&setup.interface, false)?,
            frames: Frames::open(&setup.interface, NOTHING)?,
        })
    }

    fn measure(mut self, control: &Control, window: &dyn Window) -> Result<ForwardingSide, ProbeError> {
        let setting = self.greet(control)?;
        let routed = setting.routed;
        window.opened();
        let mut sending = Sending {
            capture: &mut self.capture,
            frames: &self.frames,
            control,
            answers: Answers::new(setting.clone()),
            crafted: craft(&setting),
            sent: 0,
            asked: Vec::new(),
        };
        let began = Instant::now();
        sending.ask_once(Group::Unreachable, 0)?;
        sending.one_way()?;
        sending.ask(Group::TimeExceeded)?;
        sending.ask(Group::TooBig)?;
        sending.ask_late(Group::Unreachable, began)?;
        sending.listen(QUIET, |_| false)?;
        window.closed();
        let Sending { answers, sent, asked, .. } = sending;
        let asked = |group: Group| -> u64 { asked.iter().filter(|(of, _)| *of == group).map(|(_, count)| count).sum() };
        let checks = answers.finish(sent, asked);
        if self.capture.dropped()? > 0 {
            return Err(unable("the near end's socket dropped frames; is another program sending at the same time?"));
        }
        Ok(ForwardingSide { routed, frames: sent, checks })
    }

    /// Tells the far side of this port, and learns its own.
    fn greet(&mut self, control: &Control) -> Result<Setting, ProbeError> {
        let port = Port::of(&self.setup)?;
        let began = Instant::now();
        while began.elapsed() < GONE {
            let hop = neighbour::known(&self.setup.interface, self.peer.ip())?;
            let routed = hop.address != self.peer.ip();
            self.trial_socket.send(Message::Hello { mac: port.mac, mtu: port.mtu, routed }, self.peer)?;
            let said = Instant::now();
            while said.elapsed() < AGAIN {
                if control.stopped() {
                    return Err(ProbeError::Cancelled);
                }
                if let Some((Message::Welcome { mac, mtu, spare }, from)) = self.trial_socket.receive()?
                    && from == self.peer
                {
                    let setting = Setting {
                        near_mac: port.mac,
                        next_hop_mac: neighbour::next_hop(&self.setup.interface, self.peer.ip())?,
                        far_mac: mac,
                        source: self.setup.local,
                        destination: self.peer.ip(),
                        port: self.peer.port(),
                        token: self.setup.token,
                        near_mtu: port.mtu,
                        far_mtu: mtu,
                        routed,
                        spare,
                        flow: self.spec.frames,
                    };
                    setting.check().map_err(|why| unable(&why))?;
                    return Ok(setting);
                }
                thread::sleep(PAUSE);
            }
        }
        Err(ProbeError::NoAnswer { peer: self.peer, waited: began.elapsed() })
    }
}

impl Sending<'_> {
    /// Sends all frames that need no answer.
    fn one_way(&mut self) -> Result<(), ProbeError> {
        let places: Vec<usize> = (0..self.crafted.len()).filter(|at| self.crafted[*at].group.is_one_way()).collect();
        self.control.expect(places.len() as u64);
        for (number, place) in places.into_iter().enumerate() {
            self.send(place)?;
            if number % TOGETHER == TOGETHER - 1 {
                thread::sleep(PAUSE);
                self.control.reached(number as u64);
                self.listen(Duration::ZERO, |_| true)?;
            }
        }
        Ok(())
    }

    fn send(&mut self, place: usize) -> Result<(), ProbeError> {
        for frame in &self.crafted[place].frames {
            self.frames.send(frame)?;
            self.sent += 1;
        }
        Ok(())
    }

    /// Packets of a group that have to be answered.
    fn places(&self, group: Group) -> Vec<usize> {
        (0..self.crafted.len()).filter(|at| self.crafted[*at].group == group).collect()
    }

    /// Sends one packet that has to be answered, if there is one.
    fn ask_once(&mut self, group: Group, number: usize) -> Result<(), ProbeError> {
        let Some(place) = self.places(group).get(number).copied() else { return Ok(()) };
        self.asked.push((group, 1));
        self.send(place)
    }

    /// Sends packets of a group until one is answered.
    fn ask(&mut self, group: Group) -> Result<(), ProbeError> {
        for number in 0..self.places(group).len() {
            self.ask_once(group, number)?;
            self.listen(ANSWER, |answers| answers.has(group))?;
            if self.answers.has(group) {
                break;
            }
        }
        Ok(())
    }

    /// Waits for the answer to a packet that was sent long before; asks once more where none comes.
    fn ask_late(&mut self, group: Group, began: Instant) -> Result<(), ProbeError> {
        if self.places(group).is_empty() {
            return Ok(());
        }
        self.listen(LATE_ANSWER.saturating_sub(began.elapsed()), |answers| answers.has(group))?;
        if !self.answers.has(group) {
            self.ask_once(group, 1)?;
            self.listen(LATE_ANSWER, |answers| answers.has(group))?;
        }
        Ok(())
    }

    /// Receives for this long, or until it is enough.
    fn listen(&mut self, patience: Duration, enough: impl Fn(&Answers) -> bool) -> Result<(), ProbeError> {
        const GLANCE: Duration = Duration::from_millis(50);
        let began = Instant::now();
        loop {
            if self.control.stopped() {
                return Err(ProbeError::Cancelled);
            }
            let left = patience.saturating_sub(began.elapsed());
            let answers = &mut self.answers;
            self.capture.take(left.min(GLANCE), |frame| answers.take(frame.bytes))?;
            if left.is_zero() || enough(&self.answers) {
                return Ok(());
            }
        }
    }
}

impl Prepared for Near {
    fn address(&self) -> Option<SocketAddr> {
        None
    }

    fn run(self: Box<Self>, control: &Control, window: &dyn Window) -> Result<SideFigures, ProbeError> {
        Ok(SideFigures::Forwarding(self.measure(control, window)?))
    }
}
