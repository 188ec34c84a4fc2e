//! Both ways of one side at the same time.

use std::{net::TcpStream, panic::resume_unwind, thread};

use model::{GoodputReceived, GoodputSent, GoodputSide, GoodputSpec};

use super::{setting::Setting, tcp, udp};
use crate::{Control, ProbeError, Window};

/// Carrier of the data one way.
pub(super) enum Line {
    /// A connection for each stream.
    Tcp(Vec<TcpStream>),
    /// A pair of sockets for each flow.
    Udp(udp::Flow),
}

/// Carrier of the data of one side.
#[derive(Default)]
pub(super) struct Lines {
    pub(super) outgoing: Option<Line>,
    pub(super) incoming: Option<Line>,
}

/// For the one of two ways that does not tell when the counted time begins and ends.
pub(super) struct Untold;

impl Window for Untold {
    fn opened(&self) {}
    fn closed(&self) {}
}

/// Sends and receives to the end. Where one side does both, the window is told by the receiver, whose count is the figure.
pub(super) fn transfer(
    spec: &GoodputSpec,
    cpus: &[usize],
    lines: Lines,
    control: &Control,
    window: &dyn Window,
) -> Result<GoodputSide, ProbeError> {
    let told = Setting { spec, cpus, control, window };
    let (sent, received) = match (lines.outgoing, lines.incoming) {
        (Some(outgoing), Some(incoming)) => {
            let untold = Setting { window: &Untold, ..told };
            let (sent, received) = thread::scope(|scope| {
                let sending = scope.spawn(move || stopping(untold, send(outgoing, untold)));
                let received = stopping(told, receive(incoming, told));
                (sending.join().unwrap_or_else(|panic| resume_unwind(panic)), received)
            });
            let (sent, received) = both(sent, received)?;
            (Some(sent), Some(received))
        }
        (outgoing, incoming) => {
            (outgoing.map(|line| send(line, told)).transpose()?, incoming.map(|line| receive(line, told)).transpose()?)
        }
    };
    Ok(GoodputSide { sent, received })
}

fn send(line: Line, setting: Setting<'_>) -> Result<GoodputSent, ProbeError> {
    match line {
        Line::Tcp(streams) => tcp::send(&streams, setting),
        Line::Udp(flow) => udp::send(&flow, setting),
    }
}

fn receive(line: Line, setting: Setting<'_>) -> Result<GoodputReceived, ProbeError> {
    match line {
        Line::Tcp(streams) => tcp::receive(streams, setting),
        Line::Udp(flow) => udp::receive(flow, setting),
    }
}

/// Where one way failed, the other need not go on to the end.
pub(super) fn stopping<T>(setting: Setting<'_>, outcome: Result<T, ProbeError>) -> Result<T, ProbeError> {
    if outcome.is_err() {
        setting.control.stop();
    }
    outcome
}

/// Both outcomes, or the error of the way that failed first: the other was cancelled for it.
pub(crate) fn both<A, B>(a: Result<A, ProbeError>, b: Result<B, ProbeError>) -> Result<(A, B), ProbeError> {
    match (a, b) {
        (Ok(a), Ok(b)) => Ok((a, b)),
        (Err(ProbeError::Cancelled), Err(error)) | (Err(error), _) | (_, Err(error)) => Err(error),
    }
}
