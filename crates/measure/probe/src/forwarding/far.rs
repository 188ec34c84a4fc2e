//! The side that judges what arrives, until it is stopped.

use std::{
    net::{IpAddr, SocketAddr},
    time::{Duration, Instant},
};

use kernel::packet::Capture;
use model::{ForwardingSide, ForwardingSpec, Mac, SideFigures, SideSetup};

use super::{
    craft::Setting,
    frame_checker::FrameChecker,
    link::{Port, UnusedAddresses},
    trial_socket::{Message, TrialSocket},
    unable,
};
use crate::{Control, Prepared, ProbeError, Window};

/// Time that it waits for frames before it looks for messages.
const GLANCE: Duration = Duration::from_millis(20);
/// The kernel hands over the last frames within this time.
const LAST: Duration = Duration::from_millis(100);
/// Traffic of others does not put off the end.
const LONGEST: Duration = Duration::from_secs(1);

/// A prepared far side.
pub(super) struct Far {
    spec: ForwardingSpec,
    setup: SideSetup,
    port: Port,
    spares: UnusedAddresses,
    trial_socket: TrialSocket,
    capture: Capture,
}

impl Far {
    /// Opens its sockets, and has the kernel ask for addresses of nobody.
    pub(super) fn prepare(spec: &ForwardingSpec, setup: &SideSetup) -> Result<Self, ProbeError> {
        let (port, trial_socket) = (Port::of(setup)?, TrialSocket::open(setup.local, setup.token)?);
        let spares = UnusedAddresses::ask(setup, &port, &trial_socket)?;
        let capture = Capture::open(&setup.interface, false)?;
        Ok(Self { spec: spec.clone(), setup: setup.clone(), port, spares, trial_socket, capture })
    }

    fn serve(mut self, control: &Control, window: &dyn Window) -> Result<ForwardingSide, ProbeError> {
        let mut frame_checker: Option<FrameChecker> = None;
        let mut chosen = None;
        while !control.stopped() {
            // One message a round: however many come, frames are judged, and the end is seen.
            if let Some((Message::Hello { mac, mtu, routed }, from)) = self.trial_socket.receive()? {
                let spare = match &chosen {
                    Some(spare) => *spare,
                    None => *chosen.insert(self.spares.choose(&self.setup.interface)?),
                };
                if frame_checker.is_none() {
                    let setting = self.setting(from.ip(), mac, mtu, routed, spare);
                    setting.check().map_err(|why| unable(&why))?;
                    window.opened();
                    frame_checker = Some(FrameChecker::new(setting));
                }
                self.trial_socket.send(Message::Welcome { mac: self.port.mac, mtu: self.port.mtu, spare }, from)?;
            }
            self.take(GLANCE, &mut frame_checker)?;
        }
        let ended = Instant::now();
        while self.take(LAST, &mut frame_checker)? && ended.elapsed() < LONGEST {}
        window.closed();
        if self.capture.dropped()? > 0 {
            return Err(unable("the far end's socket dropped frames; is another program sending at the same time?"));
        }
        let frame_checker = frame_checker.ok_or(ProbeError::Cancelled)?;
        Ok(ForwardingSide { routed: false, frames: frame_checker.frames(), checks: frame_checker.finish() })
    }

    /// Judges the next frames, if some come within `patience`.
    fn take(&mut self, patience: Duration, frame_checker: &mut Option<FrameChecker>) -> Result<bool, ProbeError> {
        let each = |frame: kernel::packet::Captured<'_>| {
            if let Some(frame_checker) = frame_checker.as_mut() {
                frame_checker.take(frame.bytes);
            }
        };
        Ok(self.capture.take(patience, each)?)
    }

    fn setting(&self, near: IpAddr, near_mac: Mac, near_mtu: u32, routed: bool, spare: Option<IpAddr>) -> Setting {
        Setting {
            near_mac,
            next_hop_mac: self.port.mac,
            far_mac: self.port.mac,
            source: near,
            destination: self.setup.local,
            port: self.trial_socket.address().port(),
            token: self.setup.token,
            near_mtu,
            far_mtu: self.port.mtu,
            routed,
            spare,
            flow: self.spec.frames,
        }
    }
}

impl Prepared for Far {
    fn address(&self) -> Option<SocketAddr> {
        Some(self.trial_socket.address())
    }

    fn run(self: Box<Self>, control: &Control, window: &dyn Window) -> Result<SideFigures, ProbeError> {
        Ok(SideFigures::Forwarding(self.serve(control, window)?))
    }
}
