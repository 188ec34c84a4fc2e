//! The process that holds a tuning until it is confirmed, and undoes it otherwise.

use std::{
    io::{Read, Write},
    net::Shutdown,
    os::unix::net::UnixStream,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    time::{Duration, Instant},
};

use kernel::local::Listener;
use model::{
    json::Json,
    tuning::{Progress, TuningOrder, TuningState, Undone},
};

use super::{
    Made,
    errors::TuningError,
    message::{Answer, CONFIRM, SOCKET, STATE, UNDO},
    need_root, standing,
};

/// Time between two looks at an interrupt.
const LOOK: Duration = Duration::from_millis(200);

/// Makes a tuning and holds it. `answer` is called with the outcome, as soon as there is one; its error undoes the tuning.
///
/// # Errors
/// It could not be made, or not be undone.
pub fn hold<E: From<TuningError>>(
    order: &str,
    answer: impl FnOnce(&str) -> Result<(), E>,
    interrupt: &AtomicBool,
) -> Result<(), E> {
    let made = make(order);
    let said = match &made {
        Ok(held) => Answer::State(held.state()),
        Err(error) => Answer::Failed(error.to_string()),
    };
    let answered = answer(&serde_json::to_string(&said).unwrap_or_default());
    let Ok(mut held) = made else { return answered };
    match answered {
        Ok(()) => Ok(held.wait(interrupt)?),
        Err(error) => {
            held.undo()?;
            Err(error)
        }
    }
}

fn make(order: &str) -> Result<Held, TuningError> {
    need_root()?;
    let order = TuningOrder::from_json(order).map_err(|error| TuningError::Holder(error.to_string()))?;
    let listener = Listener::open(SOCKET)?.ok_or(TuningError::Waits)?;
    let within = Duration::from_nanos(order.confirm_within.unwrap_or_default().0);
    let made = Made::new(&order)?;
    Ok(Held { listener, made, until: Instant::now() + within })
}

/// A tuning that waits to be confirmed.
struct Held {
    listener: Listener,
    made: Made,
    until: Instant,
}

impl Held {
    fn state(&self) -> TuningState {
        let seconds = self.until.saturating_duration_since(Instant::now()).as_secs_f64().ceil() as u64;
        let progress = Progress::Waiting { seconds };
        TuningState { progress, ..standing::state(&self.made.ledger, &self.made.tuning) }
    }

    fn wait(mut self, interrupt: &AtomicBool) -> Result<(), TuningError> {
        while Instant::now() < self.until && !interrupt.load(Relaxed) {
            let Some(mut peer) = self.listener.accept(LOOK)? else { continue };
            let mut word = [0; 16];
            // A peer that says nothing is none.
            let length = peer.read(&mut word).unwrap_or_default();
            match &word[..length] {
                word if word == STATE => answer(peer, &Answer::State(self.state())),
                word if word == CONFIRM => {
                    let kept = self.made.ledger.keep(&self.made.tuning);
                    if let Err(error) = kept {
                        answer(peer, &Answer::Failed(error.to_string()));
                        return self.undo().map(drop);
                    }
                    answer(peer, &Answer::State(standing::state(&self.made.ledger, &self.made.tuning)));
                    return Ok(());
                }
                word if word == UNDO => {
                    let undone = self.undo();
                    let said = match &undone {
                        Ok(undone) => Answer::Undone(undone.clone()),
                        Err(error) => Answer::Failed(error.to_string()),
                    };
                    answer(peer, &said);
                    return undone.map(drop);
                }
                _ => {}
            }
        }
        self.undo().map(drop)
    }

    /// All is undone, also where somebody else has changed it again: nobody relied on it for long.
    fn undo(&mut self) -> Result<Undone, TuningError> {
        let undone = self.made.ledger.undo_all()?;
        Ok(Undone { undone: undone.iter().map(ToString::to_string).collect(), left: vec![] })
    }
}

/// The peer may have ended.
fn answer(mut peer: UnixStream, answer: &Answer) {
    let text = serde_json::to_string(answer).unwrap_or_default();
    let _ = peer.write_all(text.as_bytes()).and_then(|()| peer.shutdown(Shutdown::Write));
}
