//! The side that listens.

use std::{
    collections::BTreeMap,
    net::{SocketAddr, TcpListener, TcpStream},
    time::{Duration, Instant},
};

use model::{GoodputSpec, Protocol, SideFigures, SideSetup, WaitMode};
use socket2::Type;

use super::{
    ARRIVAL,
    hello::{DataDirection, Hello, look_up_often, ways},
    tcp,
    transfer::{Line, Lines, transfer},
    udp,
};
use crate::{
    Control, Prepared, ProbeError, Window,
    datagrams::{Carrier, Datagrams},
    error::socket_error,
    greeting::PendingConnections,
    socket::{BACKLOG, bound},
};

/// A prepared far side: it listens.
pub(super) struct Far {
    spec: GoodputSpec,
    cpus: Vec<usize>,
    token: u32,
    pending: PendingConnections,
    /// For each way that datagrams go, a socket for each flow.
    pub(super) sockets: Vec<(DataDirection, Vec<Datagrams>)>,
}

impl Far {
    /// Listens on this port of the setup's address; 0 is any free one.
    pub(super) fn prepare(spec: &GoodputSpec, setup: &SideSetup, port: u16) -> Result<Self, ProbeError> {
        let local = SocketAddr::new(setup.local, port);
        let socket = bound(local, Type::STREAM)?;
        if spec.protocol == Protocol::Tcp {
            // Accepted sockets inherit them.
            tcp::set_options(&socket, spec, setup, local)?;
        }
        socket.listen(BACKLOG as i32).map_err(socket_error("listen on", local))?;
        socket.set_nonblocking(true).map_err(socket_error("set O_NONBLOCK for", local))?;
        let listener = TcpListener::from(socket);
        let address = listener.local_addr().map_err(socket_error("ask the port of", local))?;
        let sockets = match spec.protocol {
            Protocol::Tcp => Vec::new(),
            Protocol::Udp => {
                let carrier = Carrier::prepare(spec.stack, WaitMode::Spin, setup)?;
                let bind = |way| Ok((way, udp::bind_all(spec, &carrier, setup.local)?));
                ways(spec).map(bind).collect::<Result<_, ProbeError>>()?
            }
        };
        let pending = PendingConnections::new(listener, address, setup.token);
        Ok(Self { spec: spec.clone(), cpus: setup.cpus.clone(), token: setup.token, pending, sockets })
    }

    /// Waits for all connections. Others are closed.
    fn accept_all(&mut self, control: &Control) -> Result<BTreeMap<Hello, TcpStream>, ProbeError> {
        let each_way = if self.spec.protocol == Protocol::Tcp { self.spec.streams } else { 1 };
        let expected = each_way * ways(&self.spec).count() as u16;
        let (waiting, mut greeted) = (Instant::now(), BTreeMap::new());
        while greeted.len() < usize::from(expected) {
            if control.stopped() {
                return Err(ProbeError::Cancelled);
            }
            if waiting.elapsed() > ARRIVAL {
                let connected = greeted.len();
                let local = self.pending.address();
                return Err(ProbeError::StreamsMissing { connected, expected, local, waited: ARRIVAL });
            }
            let Some((stream, purpose)) = self.pending.next()? else { continue };
            let hello = Hello::of(purpose).filter(|hello| is_expected(&self.spec, *hello, &greeted));
            if let Some(hello) = hello {
                look_up_often(&stream).map_err(socket_error("set SO_RCVTIMEO for", self.pending.address()))?;
                greeted.insert(hello, stream);
            }
        }
        Ok(greeted)
    }

    fn lines(&mut self, control: &Control) -> Result<Lines, ProbeError> {
        let mut streams: Vec<_> = self.accept_all(control)?.into_iter().collect();
        let mut lines = Lines::default();
        for way in ways(&self.spec) {
            let of_way: Vec<_> = streams.extract_if(.., |(hello, _)| hello.way == way).collect();
            let line = match self.spec.protocol {
                Protocol::Tcp => Line::Tcp(of_way.into_iter().map(|(_, stream)| stream).collect()),
                Protocol::Udp => Line::Udp(self.answer(way, of_way, control)?),
            };
            match way {
                DataDirection::Forward => lines.incoming = Some(line),
                DataDirection::Reverse => lines.outgoing = Some(line),
            }
        }
        Ok(lines)
    }

    fn answer(
        &mut self,
        way: DataDirection,
        greeted: Vec<(Hello, TcpStream)>,
        control: &Control,
    ) -> Result<udp::Flow, ProbeError> {
        let sockets = self.sockets.extract_if(.., |(of, _)| *of == way).flat_map(|(_, sockets)| sockets).collect();
        match greeted.into_iter().next() {
            Some((hello, stream)) => udp::Flow::answer(hello, stream, sockets, self.token, control),
            None => Err(ProbeError::StreamsMissing {
                connected: 0,
                expected: 1,
                local: self.pending.address(),
                waited: Duration::ZERO,
            }),
        }
    }
}

/// Whether a connection for this is still to come.
fn is_expected(spec: &GoodputSpec, hello: Hello, greeted: &BTreeMap<Hello, TcpStream>) -> bool {
    ways(spec).any(|way| way == hello.way)
        && match spec.protocol {
            Protocol::Tcp => hello.value < spec.streams && !greeted.contains_key(&hello),
            Protocol::Udp => udp::is_payload(hello.value) && greeted.keys().all(|known| known.way != hello.way),
        }
}

impl Prepared for Far {
    fn address(&self) -> Option<SocketAddr> {
        Some(self.pending.address())
    }

    fn run(mut self: Box<Self>, control: &Control, window: &dyn Window) -> Result<SideFigures, ProbeError> {
        let lines = self.lines(control)?;
        let side = transfer(&self.spec, &self.cpus, lines, control, window)?;
        Ok(SideFigures::Goodput(Box::new(side)))
    }
}
