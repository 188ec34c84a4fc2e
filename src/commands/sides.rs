//! One side of numbered packets alone: two hosts that know nothing of each other, or two shells.

use std::{
    path::Path,
    sync::{Arc, mpsc},
    thread,
    time::{Duration, Instant},
};

use agent::alone::{Control, Listener, Outgoing, prepare_sender};
use model::{Direction, IpVersion, ListenerCounts, PacketsSent, PacketsSpec, stream::Stream};
use report::{Notice, ReceivedDocument, ReceivedSchemaName, SentDocument, SentSchemaName};

use super::{answer, beforehand, language, plans, tell, watch::ending};
use crate::{
    cli::{Common, ReceiveOptions, SendOptions},
    exit::{Exit, Words},
    output::say,
};

/// Interval of interim lines.
const LINE: Duration = Duration::from_secs(1);

/// Interval of checks whether enough has come.
const LOOK: Duration = Duration::from_millis(50);

/// `wireproof packets send`
pub(super) fn send_alone(options: &SendOptions, common: &Common) -> anyhow::Result<Exit> {
    if !options.i_know_this_is_my_uplink && agent::alone::is_uplink(&options.interface)? {
        anyhow::bail!(
            "{} carries the default route or an ssh session, which a generator would cut off; name another interface, or add \
             --i-know-this-is-my-uplink",
            options.interface
        );
    }
    let sender = prepare_sender(&outgoing(options)?)?;
    let control = Arc::new(Control::default());
    let (ends, ended) = mpsc::channel();
    ending::end_on_signals(ends)?;
    let stop = Arc::clone(&control);
    thread::spawn(move || ended.recv().map(|_| stop.stop()));
    tell(Notice::Sending { interface: &options.interface, to: &options.to.to_string() }, common);
    let sent = sender.send(&control)?;
    let document = SentDocument {
        schema: SentSchemaName::V1,
        interface: options.interface.clone(),
        to: options.to,
        token: options.token,
        streams: sent,
    };
    let sent = &document.streams;
    answer(&document, || report::sent(sent, language(common)), common)?;
    Ok(if control.stopped() { Exit::Interrupted } else { done(sent) })
}

/// Nothing that left is no success.
fn done(sent: &[PacketsSent]) -> Exit {
    if sent.iter().any(|stream| stream.frames > 0) { Exit::Done } else { Exit::CouldNot }
}

fn outgoing(options: &SendOptions) -> anyhow::Result<Outgoing> {
    let SendOptions { interface, to, mac, engine, duration, count, cpus, token, .. } = options.clone();
    let ip = IpVersion::of(to);
    let streams = match &options.stream_file {
        Some(file) => plans::streams_of(file)?,
        None => vec![stream(options, ip)],
    };
    streams.iter().try_for_each(Stream::check).map_err(|error| Words(error.to_string()))?;
    if let Some(other) = streams.iter().find(|stream| stream.replay.is_none() && stream.ip != ip) {
        let why = format!("stream \"{}\" is {}, and {to} is {ip}: write ip = {}", other.name, other.ip, u8::from(ip));
        return Err(Words(why).into());
    }
    beforehand::check_cores(&cpus)?;
    let spec = PacketsSpec { streams, direction: Direction::Forward, duration, engine, mtu: None, modifier: None };
    Ok(Outgoing { interface, to, mac, spec, most: count, cpus, token })
}

fn stream(options: &SendOptions, ip: IpVersion) -> Stream {
    let SendOptions { sizes, flows, rate, .. } = options.clone();
    let any = Stream::default();
    Stream { ip, flows, sizes: sizes.unwrap_or(any.sizes), load: rate.unwrap_or(any.load), ..Stream::default() }
}

/// `wireproof packets receive`
pub(super) fn receive(options: &ReceiveOptions, common: &Common) -> anyhow::Result<Exit> {
    let streams = options.stream_file.as_deref().map_or(Ok(Vec::new()), |file: &Path| plans::streams_of(file))?;
    let listener = Listener::attach(&options.interface, &streams, options.token, options.one_clock)?;
    let (ends, ended) = mpsc::channel();
    ending::end_on_signals(ends)?;
    let lang = language(common);
    tell(Notice::Listening { interface: &options.interface }, common);
    let began = Instant::now();
    let (mut told, mut before) = (began, 0);
    let is_over = || options.duration.is_some_and(|duration| began.elapsed() >= Duration::from(duration));
    let is_enough = |counts: &ListenerCounts| options.count.is_some_and(|count| counts.sum(|it| it.received) >= count);
    let mut counts = listener.counts()?;
    while !is_over() && !is_enough(&counts) && ended.recv_timeout(LOOK).is_err() {
        counts = listener.counts()?;
        if told.elapsed() >= LINE {
            let received = counts.sum(|sequence| sequence.received);
            let pps = (received - before) as f64 / told.elapsed().as_secs_f64();
            if !common.quiet && received > 0 {
                say(&report::received_so_far(&counts, pps, lang));
            }
            (told, before) = (Instant::now(), received);
        }
    }
    counts = listener.counts()?;
    let document = ReceivedDocument {
        schema: ReceivedSchemaName::V1,
        interface: options.interface.clone(),
        token: options.token,
        seconds: began.elapsed().as_secs_f64(),
        counts,
    };
    answer(&document, || report::received(&document.counts, lang), common)?;
    Ok(Exit::Done)
}
