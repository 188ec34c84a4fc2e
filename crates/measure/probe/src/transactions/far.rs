//! The side that answers: wireproof's own server, or nginx.

mod tcp;
mod udp;

use std::{net::SocketAddr, panic::resume_unwind, thread};

use kernel::socket::set_ample_buffers;
use model::{
    Protocol, SideFigures, SideSetup, WaitMode,
    probe::{Exchange, HttpServer, TransactionsSpec},
    trial::TransactionsServed,
};
use socket2::{Socket, Type};

use super::{backlog, nginx::Nginx, pin, served::Service, threads};
use crate::{
    Control, Prepared, ProbeError, Window,
    error::socket_error,
    socket::{BACKLOG, bind, busy_poll, open},
};

/// Gets the server ready that is asked for.
pub(super) fn prepare(spec: &TransactionsSpec, setup: &SideSetup) -> Result<Box<dyn Prepared>, ProbeError> {
    Ok(match &spec.exchange {
        Exchange::Http { server: HttpServer::Nginx, paths, .. } => Box::new(Nginx::start(paths, spec, setup)?),
        _ => Box::new(Server::prepare(spec, setup)?),
    })
}

/// A prepared server: it listens, with a socket for each thread.
pub(super) struct Server {
    spec: TransactionsSpec,
    setup: SideSetup,
    service: Service,
    address: SocketAddr,
    doors: Vec<Socket>,
}

impl Server {
    /// Listens on a free port of the setup's address.
    pub(super) fn prepare(spec: &TransactionsSpec, setup: &SideSetup) -> Result<Self, ProbeError> {
        let threads = threads(spec, setup);
        let mut local = SocketAddr::new(setup.local, 0);
        let mut doors = Vec::with_capacity(threads);
        for _ in 0..threads {
            let door = door(spec, local, threads > 1)?;
            let address = door.local_addr().map_err(socket_error("ask the port of", local))?;
            local = address.as_socket().unwrap_or(local);
            doors.push(door);
        }
        let service = Service::new(&spec.exchange);
        Ok(Self { spec: spec.clone(), setup: setup.clone(), service, address: local, doors })
    }

    /// Answers until stopped.
    pub(super) fn serve(self, control: &Control) -> Result<TransactionsServed, ProbeError> {
        let Self { spec, setup, service, address, doors } = self;
        let is_udp = spec.exchange.protocol() == Protocol::Udp;
        let (spec, setup, service) = (&spec, &setup, &service);
        let served: Result<(), ProbeError> = thread::scope(|scope| {
            let work = |(number, door): (usize, Socket)| {
                scope.spawn(move || {
                    let _stops = control.stops_if_panicking();
                    let done = pin(&setup.cpus, number).and_then(|()| match is_udp {
                        true => udp::serve(&door.into(), spec, setup.token, control),
                        false => tcp::Server::new(spec, service, door, address)?.serve(control),
                    });
                    if done.is_err() {
                        control.stop();
                    }
                    done
                })
            };
            let workers: Vec<_> = doors.into_iter().enumerate().map(work).collect();
            let done: Vec<_> =
                workers.into_iter().map(|worker| worker.join().unwrap_or_else(|panic| resume_unwind(panic))).collect();
            done.into_iter().collect()
        });
        served?;
        let backlog = if is_udp { None } else { backlog::effective() };
        Ok(TransactionsServed { server: concat!("wireproof ", env!("CARGO_PKG_VERSION")).to_owned(), backlog })
    }
}

/// A socket that takes connections or datagrams; `is_shared` where others beside it have its port.
fn door(spec: &TransactionsSpec, local: SocketAddr, is_shared: bool) -> Result<Socket, ProbeError> {
    const ROOM: usize = 8 << 20;
    let is_udp = spec.exchange.protocol() == Protocol::Udp;
    let kind = if is_udp { Type::DGRAM } else { Type::STREAM };
    let socket = open(local, kind)?;
    if is_shared {
        socket.set_reuse_port(true).map_err(socket_error("set SO_REUSEPORT for", local))?;
    }
    let socket = bind(socket, local)?;
    if is_udp {
        set_ample_buffers(&socket, ROOM, ROOM)?;
        return Ok(socket);
    }
    // Connections inherit both.
    socket.set_tcp_nodelay(true).map_err(socket_error("set TCP_NODELAY for", local))?;
    if spec.mode == WaitMode::BusyPoll {
        busy_poll(&socket)?;
    }
    socket.listen(BACKLOG as i32).map_err(socket_error("listen on", local))?;
    socket.set_nonblocking(true).map_err(socket_error("set O_NONBLOCK for", local))?;
    Ok(socket)
}

impl Prepared for Server {
    fn address(&self) -> Option<SocketAddr> {
        Some(self.address)
    }

    fn run(self: Box<Self>, control: &Control, _window: &dyn Window) -> Result<SideFigures, ProbeError> {
        Ok(SideFigures::TransactionsFar(self.serve(control)?))
    }
}
