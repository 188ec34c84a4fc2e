//! TCP that fills the path while messages are timed: a transfer of the goodput probe, which lasts as long as their schedule.

use std::{
    panic::resume_unwind,
    sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    thread,
    time::{Duration, Instant},
};

use model::{GoodputSide, LatencySpec, Side, SideFigures, SideSetup};

use crate::{Control, Prepared, ProbeError, Window, goodput, socket::STOP_CHECK};

/// Time that the transfer has to end once its side was told to stop. Socket buffers hold as much as a slow path carries in many seconds;
/// a side whose messages failed, or whose connections were closed, ends at once.
const GRACE: Duration = Duration::from_secs(60);

/// One side of the transfer.
pub(super) struct Background(Box<dyn Prepared>);

/// The moment from which the load counts, some seconds after its first byte.
pub(super) struct Opening(Receiver<()>);

struct Opener(Sender<()>);

impl Window for Opener {
    fn opened(&self) {
        // Nobody waits for it where the messages have failed.
        let _ = self.0.send(());
    }

    fn closed(&self) {}
}

impl Opening {
    /// Waits for it.
    pub(super) fn wait(&self, control: &Control) -> Result<(), ProbeError> {
        loop {
            match self.0.recv_timeout(STOP_CHECK) {
                Ok(()) => return Ok(()),
                Err(RecvTimeoutError::Timeout) if !control.stopped() => {}
                Err(_) => return Err(ProbeError::Cancelled),
            }
        }
    }
}

impl Background {
    /// Gets a side ready, where there is a load. A far side listens at this port.
    pub(super) fn prepare(
        spec: &LatencySpec,
        side: Side,
        setup: &SideSetup,
        port: u16,
    ) -> Result<Option<Self>, ProbeError> {
        let Some(transfer) = spec.transfer() else { return Ok(None) };
        // The core of the messages comes last.
        let mut setup = setup.clone();
        let first = 1.min(setup.cpus.len());
        setup.cpus.rotate_left(first);
        Ok(Some(Self(match side {
            Side::Near => goodput::prepare(&transfer, side, &setup)?,
            Side::Far => goodput::prepare_at(&transfer, &setup, port)?,
        })))
    }

    /// Measures beside the transfer. Where one of both fails, the other is stopped.
    pub(super) fn beside<T>(
        self,
        control: &Control,
        measure: impl FnOnce(&Opening) -> Result<T, ProbeError>,
    ) -> Result<(T, Box<GoodputSide>), ProbeError> {
        let own = Control::default();
        let (opener, opening) = channel();
        thread::scope(|scope| {
            let transferring = scope.spawn(|| {
                let _stops = control.stops_if_panicking();
                let outcome = self.0.run(&own, &Opener(opener));
                if outcome.is_err() {
                    control.stop();
                }
                outcome
            });
            let measured = measure(&Opening(opening));
            if measured.is_err() {
                own.stop();
            }
            let mut told = None;
            while !transferring.is_finished() {
                if control.stopped() && told.get_or_insert_with(Instant::now).elapsed() > GRACE {
                    own.stop();
                }
                thread::sleep(Duration::from_millis(1));
            }
            let side =
                transferring.join().unwrap_or_else(|panic| resume_unwind(panic)).and_then(|figures| match figures {
                    SideFigures::Goodput(side) => Ok(side),
                    _ => Err(ProbeError::Cancelled),
                });
            goodput::both(measured, side)
        })
    }
}
