//! The side that asks.

use std::{
    net::{SocketAddr, UdpSocket},
    panic::resume_unwind,
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};

use kernel::{clock, sysctl};
use model::{
    Nanos, SideFigures, SideSetup, WaitMode,
    probe::{Exchange, TransactionsSpec},
    trial::TransactionsResult,
};

use socket2::Type;

use super::{
    pin,
    setting::{Request, Setting},
    so_far::{self, InterimSums},
    tally::{Span, Tally},
    threads,
    worker::Worker,
};
use crate::{
    Control, Prepared, ProbeError, Window, far_address,
    socket::{busy_poll, open},
};

/// A prepared client with its requests.
pub(super) struct Client {
    spec: TransactionsSpec,
    setup: SideSetup,
    peer: SocketAddr,
    requests: Vec<Request>,
}

impl Client {
    pub(super) fn prepare(spec: &TransactionsSpec, setup: &SideSetup) -> Result<Self, ProbeError> {
        let peer = far_address(setup)?;
        let requests: Vec<Request> = match &spec.exchange {
            Exchange::Rr { request, response, .. } | Exchange::Crr { request, response } => {
                vec![Request { bytes: vec![b'r'; request.0 as usize], answer: response.0.into() }]
            }
            Exchange::Http { paths, new_connections, .. } => {
                let close = if *new_connections { "Connection: close\r\n" } else { "" };
                let head = |path: &str| format!("GET {path} HTTP/1.1\r\nHost: {peer}\r\n{close}\r\n");
                let request =
                    |path: &model::probe::HttpPath| Request { bytes: head(&path.path).into(), answer: path.size.0 };
                paths.iter().map(request).collect()
            }
        };
        if requests.is_empty() {
            let why = "there is no path to ask for; name one, like \"/index.html 4 KiB\"".to_owned();
            return Err(ProbeError::Unable { what: "HTTP".to_owned(), why });
        }
        if spec.mode == WaitMode::BusyPoll {
            // Refused here, with advice, and not on each connection.
            busy_poll(&open(peer, Type::DGRAM)?)?;
        }
        Ok(Self { spec: spec.clone(), setup: setup.clone(), peer, requests })
    }

    fn known(&self, threads: usize) -> TransactionsResult {
        TransactionsResult {
            intended_per_s: self.spec.rate.map(|rate| rate.0 as f64),
            threads,
            ports: ephemeral_ports(),
            ..TransactionsResult::default()
        }
    }

    fn measure(&self, control: &Control, window: &dyn Window) -> Result<TransactionsResult, ProbeError> {
        let threads = threads(&self.spec, &self.setup);
        let setting = Setting {
            spec: &self.spec,
            requests: &self.requests,
            peer: self.peer,
            local: needed_bind(&self.setup, self.peer),
            token: self.setup.token,
            threads,
            control,
            ready: AtomicUsize::new(0),
            began: AtomicU64::new(0),
            polled: OnceLock::new(),
        };
        let exchanges: Arc<Vec<so_far::Exchange>> =
            Arc::new((0..threads).map(|_| so_far::Exchange::default()).collect());
        let (setting, of_threads) = (&setting, &exchanges);
        thread::scope(|scope| {
            let work = |number: usize| {
                scope.spawn(move || {
                    let _stops = control.stops_if_panicking();
                    let done = pin(&self.setup.cpus, number)
                        .and_then(|()| Worker::new(setting, number, &of_threads[number])?.run());
                    if done.is_err() {
                        // Nothing more can be counted.
                        control.stop();
                    }
                    done
                })
            };
            let workers: Vec<_> = (0..threads).map(work).collect();
            let sums = follow(setting, window, |span| InterimSums::new(exchanges.clone(), self.known(threads), span));
            let rest: Vec<Result<Tally, ProbeError>> =
                workers.into_iter().map(|worker| worker.join().unwrap_or_else(|panic| resume_unwind(panic))).collect();
            control.set_interim_source(None);
            let time_wait = time_wait();
            let (mut tallies, mut cancelled) = (Vec::new(), false);
            for tally in rest {
                match tally {
                    Ok(tally) => tallies.push(tally),
                    Err(ProbeError::Cancelled) => cancelled = true,
                    Err(error) => return Err(error),
                }
            }
            match sums {
                Some(sums) if !cancelled => {
                    let result = sums.lock().unwrap_or_else(PoisonError::into_inner).close(&tallies, time_wait);
                    Ok(TransactionsResult { napi: setting.polled.get().copied().flatten(), ..result })
                }
                _ => Err(ProbeError::Cancelled),
            }
        })
    }
}

/// Interval of the watching thread's checks.
const LOOK: Duration = Duration::from_millis(20);

/// Begins once all connections are open, and tells when the counted time begins and ends. `None` where it was stopped.
fn follow(
    setting: &Setting<'_>,
    window: &dyn Window,
    sums: impl FnOnce(Span) -> InterimSums,
) -> Option<Arc<Mutex<InterimSums>>> {
    let (control, spec) = (setting.control, setting.spec);
    control.expect(spec.warmup.0 + spec.duration.0);
    while setting.ready.load(Relaxed) < setting.threads {
        if control.stopped() {
            return None;
        }
        thread::sleep(Duration::from_millis(1));
    }
    // Threads allocate their memory before the first counted transaction.
    let began = Nanos(clock::now().0 + 1_000_000);
    setting.began.store(began.0, Relaxed);
    let span = setting.span()?;
    let sums = Arc::new(Mutex::new(sums(span)));
    control.set_interim_source(Some(sums.clone()));
    sleep_till(span.opened, began, control)?;
    window.opened();
    sleep_till(span.closed, began, control)?;
    window.closed();
    Some(sums)
}

fn sleep_till(end: Nanos, began: Nanos, control: &Control) -> Option<()> {
    loop {
        let now = clock::now();
        control.reached(now.0.saturating_sub(began.0));
        if control.stopped() {
            return None;
        }
        if now >= end {
            return Some(());
        }
        clock::sleep_until(end.min(Nanos(now.0 + LOOK.as_nanos() as u64)));
    }
}

/// Connections need not be bound to the setup's address where the kernel gives it to them anyway.
fn needed_bind(setup: &SideSetup, peer: SocketAddr) -> Option<SocketAddr> {
    let any = SocketAddr::new(if peer.is_ipv4() { [0; 4].into() } else { [0u16; 8].into() }, 0);
    let source = UdpSocket::bind(any).and_then(|socket| {
        socket.connect(peer)?;
        socket.local_addr()
    });
    let is_given = source.is_ok_and(|source| source.ip() == setup.local);
    (!is_given).then(|| SocketAddr::new(setup.local, 0))
}

/// Ports that a connection may have here.
fn ephemeral_ports() -> Option<u32> {
    let range = sysctl::read("net.ipv4.ip_local_port_range").ok()?;
    let (low, high) = range.split_once(char::is_whitespace)?;
    let (low, high): (u32, u32) = (low.trim().parse().ok()?, high.trim().parse().ok()?);
    let reserved = sysctl::read("net.ipv4.ip_local_reserved_ports").unwrap_or_default();
    let taken: u32 = reserved
        .split(',')
        .filter_map(|part| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
            (last.min(high) + 1).checked_sub(first.max(low))
        })
        .sum();
    (high + 1).checked_sub(low + taken)
}

/// Connections of this network namespace in TIME_WAIT.
fn time_wait() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/net/sockstat").ok()?;
    let tcp = text.lines().find_map(|line| line.strip_prefix("TCP:"))?;
    let words: Vec<&str> = tcp.split_whitespace().collect();
    words.chunks_exact(2).find(|pair| pair[0] == "tw")?[1].parse().ok()
}

impl Prepared for Client {
    fn address(&self) -> Option<SocketAddr> {
        None
    }

    fn run(self: Box<Self>, control: &Control, window: &dyn Window) -> Result<SideFigures, ProbeError> {
        Ok(SideFigures::TransactionsNear(Box::new(self.measure(control, window)?)))
    }
}
