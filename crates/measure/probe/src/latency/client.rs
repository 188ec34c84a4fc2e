//! The side that sends first and holds the clock.

use std::{net::SocketAddr, sync::PoisonError};

use kernel::clock;
use model::{
    Amount, FrameSize, LatencyResult, LatencySpec, Nanos, PacketRate, PayloadSize, Side, SideFigures, SideSetup,
    WaitMode,
};

use super::{
    background::{Background, Opening},
    carries_stamps, frame_of, load,
    ping_pong::round_trips,
    pipe::Pipe,
    reply_tracker::{Closed, ReplyTracker, Trace},
    session::Session,
    so_far::InterimSums,
    stages::Stages,
};
use crate::{
    Control, Prepared, ProbeError, Window,
    datagrams::Carrier,
    error::socket_error,
    schedule::{SendTimes, messages_within},
};

/// A prepared client: connected, with its socket set up.
pub(super) struct Client {
    spec: LatencySpec,
    pipe: Pipe,
    frame: FrameSize,
    tcp_timestamps: bool,
    setup: SideSetup,
    /// Messages to remember.
    window: usize,
    load: Option<Background>,
}

/// Results of a loop beside the reply tracker.
struct LoopResult {
    achieved_pps: f64,
    departures: Option<SendTimes>,
    stages: Option<Stages>,
}

impl Client {
    /// Connects to the server.
    pub(super) fn prepare(spec: &LatencySpec, setup: &SideSetup) -> Result<Self, ProbeError> {
        let window = load::window(spec)?;
        let (mut frame, mut tcp_timestamps) = (spec.frame_size, false);
        let carrier = Carrier::prepare(spec.stack, spec.mode, setup)?;
        let mut pipe = Pipe::connect(spec, &carrier, setup, |timestamps| {
            let (actual, payload) = frame_of(spec, timestamps, setup.mtu)?;
            (frame, tcp_timestamps) = (actual, timestamps);
            Ok(payload)
        })?;
        if spec.stamps {
            pipe.stamp(kernel::ethtool::stamps_in_hardware(&setup.interface)?)?;
        }
        let load = Background::prepare(spec, Side::Near, setup, 0)?;
        Ok(Self { spec: spec.clone(), pipe, frame, tcp_timestamps, setup: setup.clone(), window, load })
    }

    /// Measures; `trace` sees the times of each reply that counts, and is given back.
    pub(super) fn measure<T: Trace>(
        mut self,
        control: &Control,
        window: &dyn Window,
        trace: T,
    ) -> Result<(LatencyResult, T), ProbeError> {
        let (sums, feed) = InterimSums::new(self.known(clock::cost())?);
        let stream = self.pipe.stream().map(|stream| stream.try_clone()).transpose();
        let stream = stream.map_err(socket_error("duplicate the stream to", self.pipe.peer()))?;
        let _wakeable = stream.map(|stream| control.wakes(stream));
        let with_stamps = carries_stamps(&self.setup, self.pipe.length());
        let tracker = ReplyTracker::new(self.spec.warmup, self.spec.timeout, self.window, with_stamps, trace);
        let tracker = tracker.over(self.spec.protocol);
        let mut session = Session::new(&mut self.pipe, tracker, self.spec.timeout, &self.setup, control, feed);
        control.set_interim_source(Some(sums.clone()));
        let course = match self.spec.rate {
            None => ping_pong(&mut session, &self.spec, window),
            Some(rate) => under_load(&mut session, &self.spec, rate, window),
        };
        control.set_interim_source(None);
        // Being stopped ends the stream, which the loop may see as an error of its own.
        let course = course.map_err(|error| if control.stopped() { ProbeError::Cancelled } else { error })?;
        let mut closed = session.tracker.close();
        let mut sums = sums.lock().unwrap_or_else(PoisonError::into_inner);
        closed.rtt.merge(sums.all_handed_over());
        self.result(sums.known(), closed, course)
    }

    /// Facts known before the first message.
    fn known(&self, clock_cost_ns: f64) -> Result<LatencyResult, ProbeError> {
        Ok(LatencyResult {
            frame_size: self.frame,
            payload_size: PayloadSize(self.pipe.length() as u32),
            tcp_timestamps: self.tcp_timestamps,
            intended_pps: self.spec.rate.map(|rate| rate.0 as f64),
            napi: kernel::stamp::napi(&self.pipe)?,
            clock_cost_ns,
            ..LatencyResult::default()
        })
    }

    fn result<T>(
        &self,
        known: &LatencyResult,
        closed: Closed<T>,
        course: LoopResult,
    ) -> Result<(LatencyResult, T), ProbeError> {
        let Closed { sent, tally, rtt, variation, one_way, trace } = closed;
        let result = LatencyResult {
            sent,
            lost: Some(tally.lost),
            late: tally.late,
            reordered: tally.reordered,
            duplicated: tally.duplicated,
            overflowed: self.pipe.overflowed()?,
            // The far side tells these.
            answered: 0,
            far_overflowed: 0,
            through_kernel: self.pipe.through_kernel(),
            zero_copy: self.pipe.is_zero_copy(),
            segments: self.pipe.segments()?,
            rtt_ns: rtt.summary(),
            achieved_pps: course.achieved_pps,
            pacing: course.departures.as_ref().map(SendTimes::pacing),
            variation,
            one_way,
            stages: course.stages.as_ref().map(Stages::figures).unwrap_or_default(),
            hardware_stamps: course.stages.as_ref().is_some_and(Stages::by_card),
            napi: kernel::stamp::napi(&self.pipe)?,
            histogram: rtt.encode(),
            ..known.clone()
        };
        Ok((result, trace))
    }
}

fn ping_pong<T: Trace>(
    session: &mut Session<'_, T>,
    spec: &LatencySpec,
    window: &dyn Window,
) -> Result<LoopResult, ProbeError> {
    session.control.expect(match spec.amount {
        Amount::Count(count) => spec.warmup + count,
        Amount::Duration(duration) => duration.0,
    });
    let [mut warm_up, mut stages] = [spec.stamps, spec.stamps].map(|stamps| stamps.then(Stages::new));
    round_trips(session, Amount::Count(spec.warmup), spec.timeout, warm_up.as_mut())?;
    window.opened();
    session.open();
    let began = clock::now();
    round_trips(session, spec.amount, spec.timeout, stages.as_mut())?;
    let seconds = Nanos(clock::now().0 - began.0).as_secs_f64();
    window.closed();
    Ok(LoopResult { achieved_pps: session.tracker.answered() as f64 / seconds, departures: None, stages })
}

/// The warm-up has a schedule of its own, at the same rate: counters are read between it and the counted time, which would
/// put the sender behind.
fn under_load<T: Trace>(
    session: &mut Session<'_, T>,
    spec: &LatencySpec,
    rate: PacketRate,
    window: &dyn Window,
) -> Result<LoopResult, ProbeError> {
    let messages = match spec.amount {
        Amount::Count(count) => count,
        Amount::Duration(duration) => messages_within(duration, rate),
    };
    session.control.expect(spec.warmup + messages);
    if spec.mode == WaitMode::Block {
        clock::wake_on_time()?;
    }
    let [mut warm_up, mut departures] = [rate, rate].map(SendTimes::new);
    load::send_by_schedule(session, rate, spec.warmup, spec.mode, &mut warm_up)?;
    window.opened();
    session.open();
    load::send_by_schedule(session, rate, messages, spec.mode, &mut departures)?;
    load::drain(session, spec.timeout, spec.mode)?;
    window.closed();
    Ok(LoopResult { achieved_pps: departures.achieved_pps(), departures: Some(departures), stages: None })
}

impl Prepared for Client {
    fn address(&self) -> Option<SocketAddr> {
        None
    }

    fn run(mut self: Box<Self>, control: &Control, window: &dyn Window) -> Result<SideFigures, ProbeError> {
        let (result, load) = match self.load.take() {
            None => (self.measure(control, window, ())?.0, None),
            Some(load) => {
                let beside = |opening: &Opening| {
                    opening.wait(control)?;
                    Ok(self.measure(control, window, ())?.0)
                };
                let (result, side) = load.beside(control, beside)?;
                (result, Some(side))
            }
        };
        Ok(SideFigures::LatencyNear { result: Box::new(result), load })
    }
}
