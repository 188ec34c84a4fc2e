//! The side that opens all connections.

use std::net::SocketAddr;

use model::{GoodputSpec, Protocol, SideFigures, SideSetup, WaitMode};

use super::{
    hello::{DataDirection, ways},
    tcp,
    transfer::{Line, Lines, transfer},
    udp,
};
use crate::{Control, Prepared, ProbeError, Window, datagrams::Carrier, far_address};

/// A prepared near side: everything is open, nothing sent yet.
pub(super) struct Near {
    spec: GoodputSpec,
    setup: SideSetup,
    lines: Vec<(DataDirection, Line)>,
}

impl Near {
    pub(super) fn prepare(spec: &GoodputSpec, setup: &SideSetup) -> Result<Self, ProbeError> {
        let peer = far_address(setup)?;
        let carrier = Carrier::prepare(spec.stack, WaitMode::Spin, setup)?;
        let open = |way| {
            Ok(match spec.protocol {
                Protocol::Tcp => (way, Line::Tcp(tcp::connect_all(spec, setup, peer, way)?)),
                Protocol::Udp => (way, Line::Udp(udp::Flow::open(spec, setup, &carrier, peer, way)?)),
            })
        };
        let lines = ways(spec).map(open).collect::<Result<_, ProbeError>>()?;
        Ok(Self { spec: spec.clone(), setup: setup.clone(), lines })
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
                DataDirection::Forward => lines.outgoing = Some(line),
                DataDirection::Reverse => lines.incoming = Some(line),
            }
        }
        let side = transfer(&self.spec, &self.setup.cpus, lines, control, window)?;
        Ok(SideFigures::Goodput(Box::new(side)))
    }
}
