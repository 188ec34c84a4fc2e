//! Ends of watching.

use std::{sync::mpsc::Sender, thread};

use signal_hook::{
    consts::{SIGHUP, SIGINT, TERM_SIGNALS},
    iterator::Signals,
};

/// Why it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// By q, Ctrl-C, or because all was read that was asked for: that is how it is meant to end.
    Asked,
    /// By another signal.
    Signal,
    /// The screen cannot be drawn any more.
    Screen,
}

/// Sends word of each signal that ends programs.
pub(crate) fn end_on_signals(ends: Sender<Ending>) -> anyhow::Result<()> {
    let mut signals = Signals::new(TERM_SIGNALS.iter().chain(&[SIGHUP]))?;
    thread::Builder::new().name("signals".to_owned()).spawn(move || {
        for signal in signals.forever() {
            // Nobody listens any more: the program is about to end.
            let _ = ends.send(if signal == SIGINT { Ending::Asked } else { Ending::Signal });
        }
    })?;
    Ok(())
}
