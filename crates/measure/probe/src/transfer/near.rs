//! The end that asks: it runs the client, and takes the time.

use std::{
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
    time::Instant,
};

use model::{
    Direction, Side, SideFigures, SideSetup,
    probe::{TransferMethod, TransferSpec},
    trial::{Program, TransferSide},
};

use super::{
    DATA, LINE, contents,
    disk::DiskFile,
    lacking,
    line::{Line, connect, explained},
    make_ready,
    methods::{self, Call, Method},
    own::Source,
    place::Place,
    run::Running,
    said::{self, Answer, LACKS},
    sends, size, source, unable,
};
use crate::{Control, Prepared, ProbeError, Window, error::socket_error, far_address};

/// A prepared near end.
pub(super) struct Near {
    spec: TransferSpec,
    setup: SideSetup,
    peer: SocketAddr,
    /// Client, where a program of others is one.
    program: Option<Result<PathBuf, Program>>,
}

/// Edges of the counted time, and the way to tell the far end of them.
struct Clock<'a> {
    line: Line,
    control: &'a Control,
    window: &'a dyn Window,
}

/// The far end's answer.
struct Offer {
    size: u64,
    port: u16,
    words: String,
}

impl Near {
    pub(super) fn prepare(spec: &TransferSpec, setup: &SideSetup) -> Result<Self, ProbeError> {
        let program = methods::of(spec.method)
            .map(|method| methods::find_others(method, spec, None).and_then(|()| method.client().find()));
        Ok(Self { spec: spec.clone(), setup: setup.clone(), peer: far_address(setup)?, program })
    }

    fn connect(&self, purpose: u32) -> Result<std::net::TcpStream, ProbeError> {
        connect(SocketAddr::new(self.setup.local, 0), self.peer, self.setup.token, purpose)
    }

    fn measure(&self, control: &Control, window: &dyn Window) -> Result<TransferSide, ProbeError> {
        let mut clock = Clock { line: Line::new(self.connect(LINE)?)?, control, window };
        match (methods::of(self.spec.method), &self.program) {
            (Some(_), Some(Err(lacks))) => {
                clock.line.say(LACKS)?;
                // The far end tells whether it lacks one as well, and is not left in the middle of that.
                let _ = clock.line.hear(control, || Ok(()));
                Ok(lacking(lacks.clone()))
            }
            (Some(method), Some(Ok(program))) => self.ask(method, program, source(&self.spec, Side::Near)?, clock),
            _ => self.send(source(&self.spec, Side::Near)?, clock),
        }
    }

    /// Sends the contents itself.
    fn send(&self, on_disk: Option<DiskFile>, mut clock: Clock<'_>) -> Result<TransferSide, ProbeError> {
        let (spec, control) = (&self.spec, clock.control);
        let Some(offer) = clock.agree(spec, on_disk.as_ref(), "")? else { return Ok(TransferSide::default()) };
        let (source, before) = Source::make(spec, on_disk.as_ref(), self.setup.token, offer.size)?;
        control.expect(offer.size);
        let mut tcp = None;
        let seconds = clock.time(|| {
            let stream = self.connect(DATA)?;
            let copy = stream.try_clone().map_err(socket_error("copy the socket to", self.peer))?;
            let _wakeable = control.wakes(copy);
            let sent = source.send(spec.method, &stream, offer.size, control, self.peer);
            tcp = Some(sent.map_err(|error| explained(control, error))?);
            Ok(())
        })?;
        on_disk.map_or(Ok(()), |file| file.check())?;
        clock.line.hear(control, || Ok(()))?;
        Ok(TransferSide {
            bytes: offer.size,
            seconds: Some(seconds),
            sha256: before.hash,
            disk_bps: before.disk_bps,
            tcp: tcp.into_iter().collect(),
            ..TransferSide::default()
        })
    }

    /// Runs the client of a program.
    fn ask(
        &self,
        method: &dyn Method,
        program: &Path,
        on_disk: Option<DiskFile>,
        mut clock: Clock<'_>,
    ) -> Result<TransferSide, ProbeError> {
        let (spec, control, sends) = (&self.spec, clock.control, sends(&self.spec, Side::Near));
        let place = Place::of(spec, sends)?;
        let words = method.of_client(&place)?;
        let Some(offer) = clock.agree(spec, on_disk.as_ref(), &words)? else { return Ok(TransferSide::default()) };
        let before = make_ready(spec, sends, &place, on_disk.as_ref(), self.setup.token, offer.size)?;
        let server = SocketAddr::new(self.peer.ip(), offer.port);
        let Offer { size, words, .. } = &offer;
        let (local, is_many) = (self.setup.local, spec.is_many());
        let call = Call { place: &place, program, server, local, is_many, size: *size, words };
        let run = method.ask(&call)?;
        let progress = Progress::of(&self.setup, spec, *size);
        control.expect(*size);
        let mut command = None;
        let seconds = clock.time(|| {
            let mut running = Running::start(method.client().name, &call, run, &self.setup)?;
            let done = running.wait(control, || progress.tell(control));
            command = Some(running.command.clone());
            done.map_err(|error| explained(control, error))
        })?;
        on_disk.map_or(Ok(()), |file| file.check())?;
        let is_file = spec.method != TransferMethod::Iperf3;
        let (bytes, sha256) = match before.hash {
            Some(hash) => (*size, Some(hash)),
            None if is_file => place.hashed(spec, *size).map(|(bytes, hash)| (bytes, Some(hash)))?,
            None => (*size, None),
        };
        clock.line.hear(control, || Ok(()))?;
        let (seconds, disk_bps) = (Some(seconds), before.disk_bps);
        Ok(TransferSide { command, bytes, seconds, sha256, disk_bps, ..TransferSide::default() })
    }
}

/// Whether the far end may offer this size: that of the file here, what a disk has room for, or what the memory here allows.
fn fits(spec: &TransferSpec, on_disk: Option<&DiskFile>, offered: u64, available: u64) -> Result<bool, ProbeError> {
    Ok(match on_disk {
        Some(file) => offered == file.size(),
        // The room on the disk is looked at before anything moves.
        None if spec.file.is_some() => true,
        None => offered <= size(spec, available)?,
    })
}

impl Clock<'_> {
    /// Tells the far end of the memory here, and of a file; `None` where it lacks a program.
    fn agree(
        &mut self,
        spec: &TransferSpec,
        on_disk: Option<&DiskFile>,
        words: &str,
    ) -> Result<Option<Offer>, ProbeError> {
        let available = contents::available();
        self.line.say(&format!("{available} {} {words}", on_disk.map_or(0, DiskFile::size)))?;
        let answer = self.line.hear(self.control, || Ok(()))?;
        match said::answer(&answer) {
            Some(Answer::Lacks) => Ok(None),
            // It has chosen for the end with less memory.
            Some(Answer::Offer { size: offered, port, words }) if fits(spec, on_disk, offered, available)? => {
                Ok(Some(Offer { size: offered, port, words: words.to_owned() }))
            }
            _ => {
                Err(unable("the far end", "it told no size that fits; this is a fault in wireproof, please report it"))
            }
        }
    }

    /// Seconds that a transfer takes, with the counted time of both ends around it.
    fn time(&mut self, transfer: impl FnOnce() -> Result<(), ProbeError>) -> Result<f64, ProbeError> {
        self.line.say("begin")?;
        self.line.hear(self.control, || Ok(()))?;
        self.window.opened();
        let began = Instant::now();
        transfer()?;
        let seconds = began.elapsed().as_secs_f64();
        self.window.closed();
        self.line.say("done")?;
        Ok(seconds)
    }
}

/// Bytes that the interface has moved since, which tell how far a program is.
struct Progress {
    counter: PathBuf,
    before: u64,
    size: u64,
}

impl Progress {
    fn of(setup: &SideSetup, spec: &TransferSpec, size: u64) -> Self {
        let name = if spec.method.direction() == Direction::Forward { "tx_bytes" } else { "rx_bytes" };
        let counter = Path::new("/sys/class/net").join(&setup.interface).join("statistics").join(name);
        Self { before: read(&counter), counter, size }
    }

    fn tell(&self, control: &Control) {
        control.reached(read(&self.counter).saturating_sub(self.before).min(self.size));
    }
}

fn read(counter: &Path) -> u64 {
    fs::read_to_string(counter).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0)
}

impl Prepared for Near {
    fn address(&self) -> Option<SocketAddr> {
        None
    }

    fn run(self: Box<Self>, control: &Control, window: &dyn Window) -> Result<SideFigures, ProbeError> {
        Ok(SideFigures::Transfer(Box::new(self.measure(control, window)?)))
    }
}
