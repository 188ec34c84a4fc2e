//! The side that listens.

use std::{
    io::Read,
    net::{SocketAddr, TcpListener, TcpStream},
    thread,
    time::{Duration, Instant},
};

use model::{GoodputSpec, Protocol, Seat, SideFigures, WaitMode};
use socket2::Type;

use super::{
    ARRIVAL,
    hello::{HELLO, Hello, Way, look_up_often, ways},
    tcp,
    transfer::{Line, Lines, transfer},
    udp,
};
use crate::{
    Control, Prepared, ProbeError, Window,
    datagrams::{Carrier, Datagrams},
    error::socket_error,
    socket::{bound, is_nothing_yet},
};

/// Time for a new connection to give its purpose.
const GREETING: Duration = Duration::from_secs(1);

/// A prepared far side: it listens.
pub(super) struct Far {
    spec: GoodputSpec,
    cpus: Vec<usize>,
    listener: TcpListener,
    address: SocketAddr,
    /// For each way that datagrams go, a socket for each flow.
    sockets: Vec<(Way, Vec<Datagrams>)>,
}

impl Far {
    /// Listens on a free port of this seat's address.
    pub(super) fn prepare(spec: &GoodputSpec, seat: &Seat) -> Result<Self, ProbeError> {
        let any_port = SocketAddr::new(seat.local, 0);
        let socket = bound(any_port, Type::STREAM)?;
        if spec.protocol == Protocol::Tcp {
            // Accepted sockets inherit them.
            tcp::set_options(&socket, spec, seat, any_port)?;
        }
        socket.listen(i32::from(spec.streams) * 2).map_err(socket_error("listen on", any_port))?;
        socket.set_nonblocking(true).map_err(socket_error("set O_NONBLOCK for", any_port))?;
        let listener = TcpListener::from(socket);
        let address = listener.local_addr().map_err(socket_error("ask the port of", any_port))?;
        let sockets = match spec.protocol {
            Protocol::Tcp => Vec::new(),
            Protocol::Udp => {
                let carrier = Carrier::prepare(spec.stack, WaitMode::Spin, seat)?;
                let bind = |way| Ok((way, udp::bind_all(spec, &carrier, seat.local)?));
                ways(spec).map(bind).collect::<Result<_, ProbeError>>()?
            }
        };
        Ok(Self { spec: spec.clone(), cpus: seat.cpus.clone(), listener, address, sockets })
    }

    /// Waits for all connections, in the order of their purposes.
    fn accept_all(&self, control: &Control) -> Result<Vec<(Hello, TcpStream)>, ProbeError> {
        let each_way = if self.spec.protocol == Protocol::Tcp { self.spec.streams } else { 1 };
        let expected = each_way * ways(&self.spec).count() as u16;
        let (waiting, mut greeted) = (Instant::now(), Vec::new());
        while greeted.len() < usize::from(expected) {
            if control.stopped() {
                return Err(ProbeError::Cancelled);
            }
            if waiting.elapsed() > ARRIVAL {
                let connected = greeted.len();
                return Err(ProbeError::StreamsMissing { connected, expected, local: self.address, waited: ARRIVAL });
            }
            match self.listener.accept() {
                Ok((stream, peer)) => greeted.extend(greeting(stream, peer)?),
                Err(error) if is_nothing_yet(&error) => thread::sleep(Duration::from_millis(1)),
                Err(error) => return Err(socket_error("accept on", self.address)(error)),
            }
        }
        greeted.sort_by_key(|(hello, _)| *hello);
        Ok(greeted)
    }

    fn lines(&mut self, control: &Control) -> Result<Lines, ProbeError> {
        let mut streams = self.accept_all(control)?;
        let mut lines = Lines::default();
        for way in ways(&self.spec) {
            let of_way: Vec<_> = streams.extract_if(.., |(hello, _)| hello.way == way).collect();
            let line = match self.spec.protocol {
                Protocol::Tcp => Line::Tcp(of_way.into_iter().map(|(_, stream)| stream).collect()),
                Protocol::Udp => Line::Udp(self.answer(way, of_way, control)?),
            };
            match way {
                Way::Forward => lines.incoming = Some(line),
                Way::Reverse => lines.outgoing = Some(line),
            }
        }
        Ok(lines)
    }

    fn answer(
        &mut self,
        way: Way,
        greeted: Vec<(Hello, TcpStream)>,
        control: &Control,
    ) -> Result<udp::Flow, ProbeError> {
        let sockets = self.sockets.extract_if(.., |(of, _)| *of == way).flat_map(|(_, sockets)| sockets).collect();
        match greeted.into_iter().next() {
            Some((hello, stream)) => udp::Flow::answer(hello, stream, sockets, control),
            None => Err(ProbeError::StreamsMissing {
                connected: 0,
                expected: 1,
                local: self.address,
                waited: Duration::ZERO,
            }),
        }
    }
}

/// Purpose of this connection; `None` if it is not from a near side, and then it is closed.
fn greeting(mut stream: TcpStream, peer: SocketAddr) -> Result<Option<(Hello, TcpStream)>, ProbeError> {
    let ready = stream.set_nonblocking(false).and_then(|()| stream.set_read_timeout(Some(GREETING)));
    ready.map_err(socket_error("set SO_RCVTIMEO for", peer))?;
    let mut hello = [0; HELLO];
    if stream.read_exact(&mut hello).is_err() {
        return Ok(None);
    }
    look_up_often(&stream).map_err(socket_error("set SO_RCVTIMEO for", peer))?;
    Ok(Hello::decode(hello).map(|hello| (hello, stream)))
}

impl Prepared for Far {
    fn address(&self) -> Option<SocketAddr> {
        Some(self.address)
    }

    fn run(mut self: Box<Self>, control: &Control, window: &dyn Window) -> Result<SideFigures, ProbeError> {
        let lines = self.lines(control)?;
        let side = transfer(&self.spec, &self.cpus, lines, control, window)?;
        Ok(SideFigures::Goodput(Box::new(side)))
    }
}
