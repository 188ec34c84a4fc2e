//! Both sides against each other over loopback: real sockets, no privileges.

use std::{net::Ipv4Addr, thread};

use model::{GoodputSpec, IpVersion, Nanos, Protocol};

use super::{Receiver, Sender};
use crate::{Control, ProbeError, control::NoWindow};

fn spec(streams: u16) -> GoodputSpec {
    GoodputSpec {
        protocol: Protocol::Tcp,
        ip: IpVersion::V4,
        streams,
        duration: Nanos::from_secs(1),
        warmup: Nanos::from_millis(100),
    }
}

#[test]
fn both_sides_count_the_same_bytes() {
    for streams in [1, 3] {
        let receiver = Receiver::prepare(&spec(streams), Ipv4Addr::LOCALHOST.into()).expect("receiver");
        let peer = receiver.address();
        thread::scope(|scope| {
            let received = scope.spawn(|| receiver.serve(&Control::default(), &NoWindow));
            let sender = Sender::prepare(&spec(streams), Ipv4Addr::LOCALHOST.into(), peer).expect("sender");
            let sent = sender.run(&Control::default(), &NoWindow).expect("sent");
            let received = received.join().expect("joins").expect("received");
            assert_eq!(sent.total_bytes, received.total_bytes);
            assert_eq!(received.intervals_bps.len(), 1);
            assert!(received.counted_bytes < received.total_bytes && received.counted_bytes > 0);
        });
    }
}

#[test]
fn a_receiver_that_nobody_connects_to_can_be_stopped() {
    let receiver = Receiver::prepare(&spec(1), Ipv4Addr::LOCALHOST.into()).expect("receiver");
    let control = Control::default();
    control.stop();
    assert!(matches!(receiver.serve(&control, &NoWindow), Err(ProbeError::Cancelled)));
}
