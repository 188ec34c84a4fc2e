//! Both ends over loopback, with real programs.

use std::{
    fs,
    io::{Read, Write},
    net::TcpListener,
    os::unix::fs::PermissionsExt,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    thread,
};

use model::{
    IpVersion,
    fixture::setup,
    probe::{TransferContents, TransferMethod},
};

use super::*;
use crate::{Control, Window};

const SIZE: u64 = (3 << 20) + 17;

/// Counts the edges of the counted time.
#[derive(Default)]
struct Edges(AtomicUsize);

impl Window for Edges {
    fn opened(&self) {
        self.0.fetch_add(1, Relaxed);
    }
    fn closed(&self) {
        self.0.fetch_add(10, Relaxed);
    }
}

/// Sides of a transfer: near, far.
fn transfer(method: TransferMethod, ip: IpVersion) -> [TransferSide; 2] {
    let spec = TransferSpec { ip, size: Some(Bytes(SIZE)), ..TransferSpec::new(method) };
    both(&spec)
}

fn both(spec: &TransferSpec) -> [TransferSide; 2] {
    let TransferSpec { method, ip, .. } = *spec;
    let far = prepare(spec, Side::Far, &setup(ip, None)).expect("it listens");
    let near = prepare(spec, Side::Near, &setup(ip, far.address())).expect("it knows the far end");
    let run = |side: Box<dyn Prepared>| {
        let (control, edges) = (Control::default(), Edges::default());
        let figures = side.run(&control, &edges).unwrap_or_else(|error| panic!("{method}: {error}"));
        let model::SideFigures::Transfer(side) = figures else { panic!("{figures:?}") };
        assert_eq!(edges.0.into_inner(), if side.lacks.is_none() { 11 } else { 0 }, "{method}");
        *side
    };
    thread::scope(|scope| {
        let far = scope.spawn(|| run(far));
        let near = run(near);
        [near, far.join().expect("no panic")]
    })
}

#[test]
fn contents_arrive_whole_by_wireproof_itself() {
    for (method, ip) in [
        (TransferMethod::Tcp, IpVersion::V4),
        (TransferMethod::TcpJumbo, IpVersion::V6),
        (TransferMethod::Sendfile, IpVersion::V4),
    ] {
        let [near, far] = transfer(method, ip);
        assert_eq!((near.bytes, far.bytes), (SIZE, SIZE), "{method}");
        assert!(near.sha256.is_some() && near.sha256 == far.sha256, "{method}: {near:?} {far:?}");
        assert!(near.seconds.expect("timed") > 0.0 && far.seconds.is_none());
        assert!(near.tcp[0].mss > 500, "{:?}", near.tcp);
    }
}

#[test]
fn contents_arrive_whole_by_each_program() {
    // A server of NFS takes a namespace of its own: it moves files in a story.
    let is_nfs = |method| matches!(method, TransferMethod::Nfs3 | TransferMethod::Nfs4);
    for method in TransferMethod::ALL.into_iter().filter(|method| !method.is_own() && !is_nfs(*method)) {
        for ip in [IpVersion::V4, IpVersion::V6] {
            let [near, far] = transfer(method, ip);
            assert_eq!((near.bytes, far.bytes), (SIZE, SIZE), "{method}");
            assert_eq!(near.sha256.is_some(), method != TransferMethod::Iperf3);
            assert_eq!(near.sha256, far.sha256, "{method}");
            let [client, server] = [near, far].map(|side| side.command.expect("a program"));
            assert!(client.starts_with('/') && server.starts_with('/'), "{client}; {server}");
        }
    }
}

#[test]
fn a_far_end_asks_for_no_more_than_there_is_room_for() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let spec = TransferSpec::new(TransferMethod::Tcp);
    let near = prepare(&spec, Side::Near, &setup(IpVersion::V4, listener.local_addr().ok())).expect("it knows it");
    let liar = thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("the near end");
        stream.write_all(b"4611686018427387904 0 \n").expect("it listens");
        stream.read_to_end(&mut Vec::new()).expect("its hello, and its end");
    });
    let error = near.run(&Control::default(), &Edges::default()).expect_err("there is not so much memory").to_string();
    assert!(error.contains("it told no size that fits"), "{error}");
    liar.join().expect("no panic");
}

#[test]
fn small_files_arrive_whole_by_each_method_that_moves_many() {
    let contents = TransferContents::SmallFiles;
    let all = TransferMethod::ALL.into_iter().filter(|method| method.can_move(contents));
    let specs: Vec<_> = all.map(|method| TransferSpec { contents, ..TransferSpec::new(method) }).collect();
    assert!(specs.len() > 7, "{specs:?}");
    for spec in specs {
        let [near, far] = both(&spec);
        assert_eq!((near.bytes, far.bytes), (SMALL_FILES * SMALL_FILE.0, SMALL_FILES * SMALL_FILE.0), "{spec}");
        assert!(near.sha256.is_some() && near.sha256 == far.sha256, "{spec}");
        assert_eq!(near.command.is_none(), spec.method.is_own(), "{spec}");
    }
}

#[test]
fn a_file_goes_from_disk_to_disk_and_stays_what_it_was() {
    let folder = tempfile::tempdir().expect("room for it");
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("ours");
    let path = folder.path().join("a file");
    contents::make(7, SIZE, &mut fs::File::create(&path).expect("room for it")).expect("room for it");
    for method in [
        TransferMethod::Tcp,
        TransferMethod::Sendfile,
        TransferMethod::Nc,
        TransferMethod::Http,
        TransferMethod::Rsync,
        TransferMethod::FtpPut,
        TransferMethod::FtpGet,
        TransferMethod::Scp,
        TransferMethod::Sftp,
        TransferMethod::Smb,
        TransferMethod::Iperf3,
    ] {
        let file = Some(path.to_str().expect("plain").to_owned());
        let [near, far] = both(&TransferSpec { file, ..TransferSpec::new(method) });
        assert_eq!((near.bytes, far.bytes), (SIZE, SIZE), "{method}");
        assert_eq!(near.sha256, far.sha256, "{method}");
        let is_file = method != TransferMethod::Iperf3;
        assert!([near.disk_bps, far.disk_bps].iter().all(|bps| bps.is_some() == is_file), "{method}");
        assert_eq!(fs::read_dir(folder.path()).expect("ours").count(), 1, "{method}: what arrived is gone");
    }
}

#[test]
fn the_user_of_programs_has_a_name() {
    let name = own_name();
    assert!(fs::read_to_string("/etc/passwd").expect("readable").contains(&format!("{name}:")), "{name}");
}

#[test]
fn contents_take_an_eighth_of_the_memory_at_most() {
    let spec = |size| TransferSpec { size, ..TransferSpec::new(TransferMethod::Nc) };
    let of = |asked, available| size(&spec(asked), available).map_err(|error| error.to_string());
    assert_eq!(of(None, 1 << 40), Ok(1 << 30));
    assert_eq!(of(None, 80 << 20), Ok(10 << 20));
    assert_eq!(of(Some(Bytes(7)), 14), Ok(7));
    assert_eq!(
        of(Some(Bytes(2 << 30)), 3 << 30).unwrap_err(),
        "memory: an end has 3 GiB available, of which 2 GiB would be more than half; ask for less (--size)"
    );
}
