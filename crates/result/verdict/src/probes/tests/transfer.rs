//! Limits of a transfer.

use model::{
    Evidence, Measured, Mtu, Place, TransferMethod, TransferResult, TransferSpec,
    trial::{Disks, Lack, Program, TcpState},
};

use super::{
    super::assess,
    fixture::{Story, at, run, trial},
};

fn result() -> TransferResult {
    TransferResult {
        mtu: Mtu(1500),
        lacks: vec![],
        commands: [None, None],
        size: 1 << 30,
        arrived: 1 << 30,
        seconds: 10.0,
        verified: Some(true),
        tcp: vec![],
        kernel_tls: None,
        disks: None,
    }
}

fn story(method: TransferMethod, result: TransferResult) -> Story {
    let spec = TransferSpec::new(method);
    Story { run: run(), trial: trial(Measured::Transfer { spec, result: Box::new(result) }) }
}

#[test]
fn a_core_without_time_limits_a_program_at_either_end() {
    let place = |method, end| story(method, result()).busy(end, 10.0).place();
    assert_eq!(place(TransferMethod::Nc, 0), at(Place::SenderCpu, "a"));
    assert_eq!(place(TransferMethod::Nc, 1), at(Place::ReceiverCpu, "b"));
    assert_eq!(place(TransferMethod::Http, 1), at(Place::SenderCpu, "b"), "the server sends");
    assert_eq!(story(TransferMethod::Scp, result()).place(), (Place::NotKnown, None));
}

#[test]
fn a_closed_window_limits_a_transfer_of_our_own() {
    let waiting = TcpState { busy_us: 10_000_000, receive_window_limited_us: 8_000_000, ..TcpState::default() };
    let own = || story(TransferMethod::Tcp, TransferResult { tcp: vec![waiting.clone()], ..result() });
    assert_eq!(own().place(), at(Place::Window, "b"));
    assert_eq!(own().busy(1, 10.0).place(), at(Place::ReceiverCpu, "b"));
}

#[test]
fn a_transfer_under_a_second_is_too_short_to_say() {
    let by = |seconds| story(TransferMethod::Nc, TransferResult { seconds, ..result() }).busy(0, 10.0).limited_by();
    assert_eq!(by(1.0).place, Place::SenderCpu);
    let short = by(0.99);
    assert_eq!(short.place, Place::NotKnown);
    assert_eq!(short.evidence, [Evidence::TooShort { seconds: 0.99, least: 1.0 }]);
}

#[test]
fn a_disk_limits_what_moves_as_quickly_as_it() {
    let bps = result().bps().expect("a rate");
    let by = |method, read, write| {
        let disks = Some(Disks { read_bps: read * bps, write_bps: write * bps });
        story(method, TransferResult { disks, ..result() }).place()
    };
    assert_eq!(by(TransferMethod::Nc, 1.1, 3.0), at(Place::Disk, "a"));
    assert_eq!(by(TransferMethod::Nc, 3.0, 0.5), at(Place::Disk, "b"), "what arrived is not on disk yet");
    assert_eq!(by(TransferMethod::Http, 1.1, 3.0), at(Place::Disk, "b"), "the server reads");
    assert_eq!(by(TransferMethod::Nc, 1.2, 3.0).0, Place::NotKnown);
}

#[test]
fn what_did_not_arrive_whole_has_no_limit() {
    let program = Program { name: "rsync".to_owned(), package: "rsync".to_owned() };
    let lacks = vec![Lack { endpoint: "b".to_owned(), program }];
    for result in [TransferResult { verified: Some(false), ..result() }, TransferResult { lacks, ..result() }] {
        let story = story(TransferMethod::Rsync, result).busy(0, 10.0);
        assert_eq!(assess(&story.run, &story.trial).limited_by, None);
    }
}
