//! The side that opens all connections.

use std::net::SocketAddr;

use model::{GoodputSpec, Protocol, Seat, SideFigures, WaitMode};

use super::{
    hello::{Way, ways},
    tcp,
    transfer::{Line, Lines, transfer},
    udp,
};
use crate::{Control, Prepared, ProbeError, Window, datagrams::Carrier, far_address};

/// A prepared near side: everything is open, nothing sent yet.
pub(super) struct Near {
    spec: GoodputSpec,
    seat: Seat,
    lines: Vec<(Way, Line)>,
}

impl Near {
    pub(super) fn prepare(spec: &GoodputSpec, seat: &Seat) -> Result<Self, ProbeError> {
        let peer = far_address(seat)?;
        let carrier = Carrier::prepare(spec.stack, WaitMode::Spin, seat)?;
        let open = |way| {
            Ok(match spec.protocol {
                Protocol::Tcp => (way, Line::Tcp(tcp::connect_all(spec, seat, peer, way)?)),
                Protocol::Udp => (way, Line::Udp(udp::Flow::open(spec, seat, &carrier, peer, way)?)),
            })
        };
        let lines = ways(spec).map(open).collect::<Result<_, ProbeError>>()?;
        Ok(Self { spec: spec.clone(), seat: seat.clone(), lines })
    }
}

impl Prepared for Near {
    fn address(&self) -> Option<SocketAddr> {
        None
    }

    fn run(self: Box<Self>, control: &Control, window: &dyn Window) -> Result<SideFigures, ProbeError> {
        let mut lines = Lines::default();
        for (way, mut line) in self.lines {
            if let Line::Udp(flow) = &mut line {
                flow.join(control)?;
            }
            match way {
                Way::Forward => lines.outgoing = Some(line),
                Way::Reverse => lines.incoming = Some(line),
            }
        }
        let side = transfer(&self.spec, &self.seat.cpus, lines, control, window)?;
        Ok(SideFigures::Goodput(Box::new(side)))
    }
}
