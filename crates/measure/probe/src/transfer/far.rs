//! The end that listens.

use std::{
    fs::File,
    io,
    net::{SocketAddr, TcpListener, TcpStream},
    path::PathBuf,
};

use model::{
    Side, SideFigures, SideSetup,
    probe::{TransferMethod, TransferSpec},
    trial::{Program, TransferSide},
};
use socket2::Type;

use super::{
    Before, DATA, HASHED, LINE, contents,
    disk::DiskFile,
    kernel_tls, lacking,
    line::Line,
    make_ready, many,
    methods::{self, Call, Method},
    own,
    place::Place,
    run::Running,
    said::{self, Hello, LACKS},
    sends, size, source, unable,
};
use crate::{
    Control, Prepared, ProbeError, Window,
    error::socket_error,
    greeting::PendingConnections,
    socket::{BACKLOG, bound},
};

/// A prepared far end: it listens for the near one.
pub(super) struct Far {
    spec: TransferSpec,
    setup: SideSetup,
    pending: PendingConnections,
    /// Server, where a program of others is one.
    program: Option<Result<PathBuf, Program>>,
}

/// Agreement of the ends.
struct Agreed<'a> {
    line: Line,
    size: u64,
    /// File on disk that this end sends.
    on_disk: Option<DiskFile>,
    control: &'a Control,
    window: &'a dyn Window,
}

impl Far {
    pub(super) fn prepare(spec: &TransferSpec, setup: &SideSetup) -> Result<Self, ProbeError> {
        let any = SocketAddr::new(setup.local, 0);
        let socket = bound(any, Type::STREAM)?;
        socket.listen(BACKLOG as i32).map_err(socket_error("listen on", any))?;
        socket.set_nonblocking(true).map_err(socket_error("set O_NONBLOCK for", any))?;
        let listener = TcpListener::from(socket);
        let address = listener.local_addr().map_err(socket_error("ask the port of", any))?;
        let program = methods::of(spec.method)
            .map(|method| methods::find_others(method, spec, method.maker()).and_then(|()| method.server().find()));
        let pending = PendingConnections::new(listener, address, setup.token);
        Ok(Self { spec: spec.clone(), setup: setup.clone(), pending, program })
    }

    /// The next connection of the near end for a purpose.
    fn accept(&mut self, wanted: u32, control: &Control) -> Result<TcpStream, ProbeError> {
        while !control.stopped() {
            match self.pending.next()? {
                Some((stream, purpose)) if purpose == wanted => return Ok(stream),
                _ => {}
            }
        }
        Err(ProbeError::Cancelled)
    }

    fn serve(mut self, control: &Control, window: &dyn Window) -> Result<TransferSide, ProbeError> {
        let mut line = Line::new(self.accept(LINE, control)?)?;
        let hello = line.hear(control, || Ok(()))?;
        let program = match self.program.take() {
            Some(Err(lacks)) => {
                line.say(LACKS)?;
                return Ok(lacking(lacks));
            }
            Some(Ok(program)) => Some(program),
            None => None,
        };
        let Some(Hello { available, of_file: of_near, words }) = said::hello(&hello) else {
            // The near end lacks its program.
            line.say(LACKS)?;
            return Ok(TransferSide::default());
        };
        let on_disk = source(&self.spec, Side::Far)?;
        let size = match (&on_disk, of_near) {
            (Some(file), _) => file.size(),
            (None, of_near) if self.spec.file.is_some() => of_near,
            (None, _) => size(&self.spec, available.min(contents::available()))?,
        };
        let agreed = Agreed { line, size, on_disk, control, window };
        match methods::of(self.spec.method).zip(program) {
            Some((method, program)) => self.serve_by(method, &program, words, agreed),
            None => self.receive(agreed),
        }
    }

    /// Takes the contents that wireproof itself sends.
    fn receive(&mut self, mut agreed: Agreed<'_>) -> Result<TransferSide, ProbeError> {
        if self.spec.is_many() || self.spec.file.is_some() {
            return self.receive_files(agreed);
        }
        let mut memory = own::memory(agreed.size)?;
        let bytes = self.take(&mut agreed, |stream, control| own::receive(stream, &mut memory, control))?;
        let have = memory.len().min(usize::try_from(bytes).unwrap_or(usize::MAX));
        let (_, hash) = contents::hashed(&mut &memory[..have]).map_err(|error| unable("contents", error))?;
        agreed.line.say(HASHED)?;
        Ok(TransferSide { bytes, sha256: Some(hash), ..TransferSide::default() })
    }

    /// Takes the small files that wireproof itself sends, or one that goes to disk.
    fn receive_files(&mut self, mut agreed: Agreed<'_>) -> Result<TransferSide, ProbeError> {
        let failed = |error| unable("contents", error);
        let place = Place::of(&self.spec, false)?;
        let Before { disk_bps, .. } = make_ready(&self.spec, false, &place, None, self.setup.token, agreed.size)?;
        if self.spec.is_many() {
            place.make_folder().map_err(failed)?;
            self.take(&mut agreed, |stream, _| many::receive(stream, &place.contents()))?;
        } else {
            let file = File::create_new(place.contents()).map_err(failed)?;
            let size = agreed.size;
            self.take(&mut agreed, |stream, control| own::receive_file(stream, file, size, control))?;
        }
        let (bytes, hash) = place.hashed(&self.spec, agreed.size)?;
        agreed.line.say(HASHED)?;
        Ok(TransferSide { bytes, sha256: Some(hash), disk_bps, ..TransferSide::default() })
    }

    /// Takes what comes on a connection of the near end.
    fn take(
        &mut self,
        agreed: &mut Agreed<'_>,
        receive: impl FnOnce(&TcpStream, &Control) -> io::Result<u64>,
    ) -> Result<u64, ProbeError> {
        agreed.line.say(&format!("{} 0 ", agreed.size))?;
        agreed.begin(|| Ok(()))?;
        let control = agreed.control;
        let stream = self.accept(DATA, control)?;
        let address = self.pending.address();
        stream.set_nonblocking(false).map_err(socket_error("clear O_NONBLOCK for", address))?;
        let copy = stream.try_clone().map_err(socket_error("copy the socket of", address))?;
        let wakeable = control.wakes(copy);
        let bytes = receive(&stream, control).map_err(socket_error("receive on", address))?;
        drop((wakeable, stream));
        agreed.end(|| Ok(()))?;
        Ok(bytes)
    }

    /// Runs the server of a program.
    fn serve_by(
        &self,
        method: &dyn Method,
        program: &std::path::Path,
        words: &str,
        mut agreed: Agreed<'_>,
    ) -> Result<TransferSide, ProbeError> {
        let (spec, sends) = (&self.spec, sends(&self.spec, Side::Far));
        let place = Place::of(spec, sends)?;
        let before = make_ready(spec, sends, &place, agreed.on_disk.as_ref(), self.setup.token, agreed.size)?;
        let server = free_address(&self.setup)?;
        let own_words = method.of_server(&place)?;
        let is_many = spec.is_many();
        let call = Call { place: &place, program, server, local: self.setup.local, is_many, size: agreed.size, words };
        let encrypted = kernel_tls::connections();
        let mut running = Running::start(method.server().name, &call, method.serve(&call)?, &self.setup)?;
        running.wait_until_it_listens(server, agreed.control)?;
        agreed.line.say(&format!("{} {} {own_words}", agreed.size, server.port()))?;
        agreed.begin(|| running.check())?;
        agreed.end(|| running.check())?;
        running.finish(agreed.control)?;
        running.check()?;
        let command = Some(running.command.clone());
        drop(running);
        agreed.on_disk.map_or(Ok(()), |file| file.check())?;
        let is_file = spec.method != TransferMethod::Iperf3;
        let (bytes, sha256) = match before.hash {
            Some(hash) => (agreed.size, Some(hash)),
            None if is_file => place.hashed(spec, agreed.size).map(|(bytes, hash)| (bytes, Some(hash)))?,
            None => (agreed.size, None),
        };
        agreed.line.say(HASHED)?;
        let kernel_tls = (spec.method == TransferMethod::Https).then(|| kernel_tls::since(encrypted));
        let disk_bps = before.disk_bps;
        Ok(TransferSide { command, bytes, sha256, kernel_tls, disk_bps, ..TransferSide::default() })
    }
}

impl Agreed<'_> {
    /// The near end begins: so does the counted time.
    fn begin(&mut self, check: impl FnMut() -> Result<(), ProbeError>) -> Result<(), ProbeError> {
        self.line.hear(self.control, check)?;
        self.window.opened();
        self.line.say("go")
    }

    /// The near end is done.
    fn end(&mut self, check: impl FnMut() -> Result<(), ProbeError>) -> Result<(), ProbeError> {
        self.line.hear(self.control, check)?;
        self.window.closed();
        Ok(())
    }
}

/// An address whose port nobody has now.
fn free_address(setup: &SideSetup) -> Result<SocketAddr, ProbeError> {
    let any = SocketAddr::new(setup.local, 0);
    let address = bound(any, Type::STREAM)?.local_addr().map_err(socket_error("ask the port of", any))?;
    Ok(address.as_socket().unwrap_or(any))
}

impl Prepared for Far {
    fn address(&self) -> Option<SocketAddr> {
        Some(self.pending.address())
    }

    fn run(self: Box<Self>, control: &Control, window: &dyn Window) -> Result<SideFigures, ProbeError> {
        Ok(SideFigures::Transfer(Box::new(self.serve(control, window)?)))
    }
}
