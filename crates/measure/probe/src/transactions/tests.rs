//! Both sides against each other over loopback: real sockets. Busy polling alone needs root.

mod failures;
mod strangers;

use std::{net::SocketAddr, thread};

use model::{
    Bytes, IpVersion, Nanos, PayloadSize, Protocol, Side, SideFigures, SideSetup, WaitMode,
    fixture::setup,
    probe::{Exchange, HttpPath, HttpServer, TransactionsSpec},
    trial::{TransactionsResult, TransactionsServed},
    units::TransactionRate,
};

use super::prepare;
use crate::{Control, ProbeError, control::NoWindow};

fn spec(exchange: Exchange) -> TransactionsSpec {
    TransactionsSpec {
        exchange,
        ip: IpVersion::V4,
        mode: WaitMode::Block,
        connections: 1,
        duration: Nanos::from_millis(300),
        warmup: Nanos::from_millis(20),
        timeout: Nanos::from_secs(5),
        rate: None,
    }
}

fn rr(protocol: Protocol) -> Exchange {
    Exchange::Rr { protocol, request: PayloadSize(64), response: PayloadSize(100) }
}

fn crr() -> Exchange {
    Exchange::Crr { request: PayloadSize(64), response: PayloadSize(100) }
}

fn http(server: HttpServer, new_connections: bool) -> Exchange {
    let paths = [("/index.html", 1024), ("/folder/large", 300_000), ("/empty", 0)];
    let paths = paths.map(|(path, size)| HttpPath { path: path.to_owned(), size: Bytes(size) });
    Exchange::Http { server, paths: paths.into(), new_connections }
}

/// Asks the server that the setup knows.
fn ask(spec: &TransactionsSpec, setup: &SideSetup) -> Result<TransactionsResult, ProbeError> {
    let near = prepare(spec, Side::Near, setup)?;
    match near.run(&Control::default(), &NoWindow)? {
        SideFigures::TransactionsNear(result) => Ok(*result),
        other => panic!("{other:?} of a client of transactions"),
    }
}

/// Both sides against each other.
fn measure(spec: &TransactionsSpec) -> (TransactionsResult, TransactionsServed) {
    measure_on(spec, &[])
}

fn measure_on(spec: &TransactionsSpec, cpus: &[usize]) -> (TransactionsResult, TransactionsServed) {
    let setup = SideSetup { cpus: cpus.to_vec(), ..setup(spec.ip, None) };
    let far = prepare(spec, Side::Far, &setup).expect("a server");
    let peer = far.address().expect("it listens");
    let control = Control::default();
    thread::scope(|scope| {
        let serving = scope.spawn(|| far.run(&control, &NoWindow));
        let result = ask(spec, &SideSetup { peer: Some(peer), ..setup });
        control.stop();
        let served = serving.join().expect("no panic").expect("it served");
        let SideFigures::TransactionsFar(served) = served else { panic!("{served:?} of a server of transactions") };
        (result.expect("it measured"), served)
    })
}

/// Rules of each trial in which nothing goes wrong.
fn assert_whole(spec: &TransactionsSpec, result: &TransactionsResult) {
    assert_eq!(result.failed, [], "{spec}");
    assert!(result.completed > 0 && result.completed_in_all >= result.completed, "{spec}: {result:?}");
    // Transactions that began in the counted time and ended after it are in the sample too.
    let difference = result.response_ns.n.abs_diff(result.completed);
    assert!(difference <= u64::from(spec.connections), "{spec}: {} of {}", result.response_ns.n, result.completed);
    assert_eq!(result.counted_s, spec.duration.as_secs_f64());
    let connected = result.connected > 0;
    assert_eq!(connected, spec.exchange.connects_each_time(), "{spec}: {} connections", result.connected);
}

#[test]
fn values_that_no_plan_has_are_refused() {
    let sizes = |request, response| Exchange::Rr { protocol: Protocol::Tcp, request, response };
    let wrong = [
        TransactionsSpec { connections: 0, ..spec(crr()) },
        TransactionsSpec { duration: Nanos(u64::MAX), ..spec(crr()) },
        TransactionsSpec { rate: Some(TransactionRate(0)), ..spec(crr()) },
        spec(sizes(PayloadSize(0), PayloadSize(1))),
        spec(sizes(PayloadSize(1), PayloadSize(u32::MAX))),
        spec(Exchange::Rr { protocol: Protocol::Udp, request: PayloadSize(8), response: PayloadSize(7) }),
    ];
    for spec in wrong {
        for side in [Side::Near, Side::Far] {
            assert!(
                prepare(&spec, side, &setup(IpVersion::V4, None))
                    .is_err_and(|error| error.to_string().starts_with("transactions: ")),
                "{spec}"
            );
        }
    }
}

#[test]
fn every_exchange_is_completed_in_every_mode() {
    for mode in [WaitMode::Block, WaitMode::Spin, WaitMode::BusyPoll] {
        for (ip, connections) in [(IpVersion::V4, 1), (IpVersion::V6, 5)] {
            let own = |new_connections| http(HttpServer::Own, new_connections);
            for exchange in [rr(Protocol::Tcp), rr(Protocol::Udp), crr(), own(false), own(true)] {
                let spec = TransactionsSpec { mode, ip, connections, ..spec(exchange) };
                let (result, served) = measure(&spec);
                assert_whole(&spec, &result);
                assert!(served.server.starts_with("wireproof "), "{served:?}");
                assert_eq!(served.backlog.is_some(), spec.exchange.protocol() == Protocol::Tcp);
            }
        }
    }
}

#[test]
fn a_thousand_connections_are_served() {
    for exchange in [rr(Protocol::Tcp), rr(Protocol::Udp), crr(), http(HttpServer::Own, false)] {
        let spec = TransactionsSpec { connections: 1000, duration: Nanos::from_secs(1), ..spec(exchange) };
        let (result, _) = measure(&spec);
        assert_whole(&spec, &result);
        assert_eq!((result.seconds.len(), result.threads), (1, 1));
    }
}

#[test]
fn each_core_has_a_thread_at_both_sides() {
    let cpus = kernel::cpu::allowed().expect("readable");
    for exchange in [rr(Protocol::Tcp), rr(Protocol::Udp), http(HttpServer::Own, true), http(HttpServer::Nginx, false)]
    {
        let spec = TransactionsSpec { connections: 20, ..spec(exchange) };
        let (result, _) = measure_on(&spec, &cpus);
        assert_whole(&spec, &result);
        assert_eq!(result.threads, cpus.len().min(20));
    }
}

#[test]
fn large_requests_and_responses_are_whole() {
    for mode in [WaitMode::Block, WaitMode::Spin] {
        for connections in [1, 2] {
            let large = PayloadSize(1 << 20);
            let exchange = Exchange::Rr { protocol: Protocol::Tcp, request: large, response: large };
            let spec = TransactionsSpec { mode, connections, ..spec(exchange) };
            assert_whole(&spec, &measure(&spec).0);
        }
    }
}

#[test]
fn a_schedule_keeps_its_times() {
    for (exchange, connections) in [(rr(Protocol::Tcp), 1), (crr(), 4), (rr(Protocol::Udp), 3)] {
        let spec = TransactionsSpec { rate: Some(TransactionRate(1000)), connections, ..spec(exchange) };
        let (result, _) = measure(&spec);
        assert_eq!((result.response_ns.n, result.failed.as_slice()), (300, [].as_slice()), "{spec}");
        assert_eq!(result.intended_per_s, Some(1000.0));
        let pacing = result.pacing.expect("a schedule");
        assert_eq!((pacing.behind_ns.n, pacing.gap_ns.n, pacing.intended_gap_ns), (300, 299, 1_000_000.0));
    }
}

#[test]
fn nginx_answers() {
    for (ip, new_connections) in [(IpVersion::V4, false), (IpVersion::V6, true)] {
        let spec = TransactionsSpec { ip, connections: 5, ..spec(http(HttpServer::Nginx, new_connections)) };
        let (result, served) = measure(&spec);
        assert_whole(&spec, &result);
        assert!(served.server.starts_with("nginx/1."), "{served:?}");
        assert!(served.backlog.is_some());
    }
}
