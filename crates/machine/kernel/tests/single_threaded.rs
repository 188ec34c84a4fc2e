//! Functions for single-threaded processes: the test program starts itself again for each story. Needs root, and fails
//! without.

use std::{
    fs,
    io::Write,
    net::{IpAddr, UdpSocket},
    os::unix::process::CommandExt,
    process::{Command, Output},
};

use model::{LinkEnd, Mtu, Privilege};
use wireproof_kernel::{fd, link, namespace, privilege, sysctl, user_namespace};

/// Story of the started program.
const STORY: &str = "WIREPROOF_TEST_STORY";
/// A directory in the BPF file system, which stands for pinned objects.
const PIN: &str = "/sys/fs/bpf/wptest";
/// The user `nobody`, who owns nothing.
const NOBODY: u32 = 65_534;

fn main() {
    match std::env::var(STORY).as_deref() {
        Ok("stdout") => take_stdout(),
        Ok("enter") => enter(&std::env::args().nth(1).expect("a namespace")),
        Ok("become-root") => become_root(),
        Ok("give-up") => give_up(),
        _ => tell_all(),
    }
}

fn tell_all() {
    standard_output_is_taken();
    a_process_enters_a_namespace_and_sees_its_interfaces_only();
    nobody_becomes_root_in_a_world_of_its_own();
    unused_rights_are_gone_for_good();
    println!("4 stories passed");
}

fn story(name: &str) -> Command {
    // The link and not the path, which may be inaccessible to another user.
    let mut command = Command::new("/proc/self/exe");
    command.env(STORY, name);
    command
}

/// A story with a private BPF file system.
fn story_with_bpf(name: &str) -> Command {
    let script = format!("mount -t bpf bpf /sys/fs/bpf && mkdir {PIN} && exec \"$0\" \"$@\"");
    let mut command = Command::new("unshare");
    command.args(["--mount", "--propagation", "private", "sh", "-c", &script]);
    command.arg(std::env::current_exe().expect("this program")).env(STORY, name);
    command
}

fn run(command: &mut Command) -> Output {
    let output = command.output().expect("this program");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {errors}");
    output
}

fn unused_rights_are_gone_for_good() {
    run(&mut story("give-up"));
    run(story("give-up").uid(NOBODY).gid(NOBODY));
}

fn give_up() {
    const MKNOD: u64 = 1 << 27;
    const NET_ADMIN: u64 = 1 << 12;
    privilege::give_up_unused().expect("it asks for nothing");
    if privilege::current() != Privilege::Root {
        return;
    }
    let own = fs::read_to_string("/proc/self/status").expect("readable");
    let child = String::from_utf8(run(Command::new("cat").arg("/proc/self/status")).stdout).expect("text");
    for line in [own, child].iter().flat_map(|status| status.lines()) {
        let Some((set @ ("CapPrm" | "CapEff" | "CapBnd"), bits)) = line.split_once(':') else { continue };
        let bits = u64::from_str_radix(bits.trim(), 16).expect("a number");
        assert_eq!((bits & MKNOD, bits & NET_ADMIN), (0, NET_ADMIN), "{set}");
    }
}

fn standard_output_is_taken() {
    let output = run(&mut story("stdout"));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "kept clean\n");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "noise\n");
}

fn take_stdout() {
    let mut own = fd::take_stdout().expect("it is open");
    println!("noise");
    own.write_all(b"kept clean\n").expect("a pipe");
}

fn a_process_enters_a_namespace_and_sees_its_interfaces_only() {
    let name = format!("wptest{}enter-a", std::process::id());
    let ours = interfaces();
    namespace::create(&name).expect("this test needs root");
    let end = |interface: &str| LinkEnd { namespace: name.clone(), interface: interface.into() };
    let made = link::create_veth(&end("one"), &end("two"), Mtu(1500));
    let output = made.map(|()| story_with_bpf("enter").arg(&name).output());
    namespace::delete(&name).expect("it exists");
    let output = output.expect("two free names").expect("this program");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(interfaces(), ours);
}

fn enter(name: &str) {
    namespace::enter(name).expect("root");
    assert!(fs::exists(PIN).expect("readable"), "the BPF file system is gone");
    assert_eq!(interfaces(), ["lo", "one", "two"]);
    let names: Vec<_> = link::list().expect("readable").into_iter().map(|link| link.name).collect();
    assert_eq!(names.len(), 3, "{names:?}");
}

fn interfaces() -> Vec<String> {
    let entries = fs::read_dir("/sys/class/net").expect("sysfs");
    let name = |entry: std::io::Result<fs::DirEntry>| entry.expect("readable").file_name().into_string();
    let mut names: Vec<_> = entries.map(|entry| name(entry).expect("ASCII")).collect();
    names.sort();
    names
}

fn nobody_becomes_root_in_a_world_of_its_own() {
    user_namespace::allowed().expect("this test needs user namespaces");
    run(story("become-root").uid(NOBODY).gid(NOBODY));
}

fn become_root() {
    assert_eq!(privilege::current(), Privilege::User);
    user_namespace::allowed().expect("not only for root");
    user_namespace::become_root().expect("allowed");
    assert_eq!(privilege::current(), Privilege::UserNamespace);
    assert_eq!(namespace::list().expect("readable"), Vec::<String>::new());

    let ends = ["a", "b"].map(|name| LinkEnd { namespace: name.into(), interface: "wire".into() });
    for end in &ends {
        namespace::create(&end.namespace).expect("root here");
    }
    link::create_veth(&ends[0], &ends[1], Mtu(1500)).expect("two namespaces");
    for (end, address) in ends.iter().zip(["198.18.0.1", "198.18.0.2"]) {
        link::add_address(&end.namespace, "wire", ip(address), 24).expect("no address yet");
        link::set_up(&end.namespace, "wire").expect("it exists");
        let set = || sysctl::write("net.ipv4.tcp_timestamps", "0");
        namespace::within(&end.namespace, set).expect("it exists").expect("our own");
    }
    one_datagram_crosses();
    no_more_user_namespaces();
    namespace::enter("a").expect("root here");
    assert_eq!(interfaces(), ["lo", "wire"]);
}

fn one_datagram_crosses() {
    let bind = |name, address: &str| namespace::within(name, || UdpSocket::bind((ip(address), 0)));
    let sender = bind("a", "198.18.0.1").expect("it exists").expect("our address");
    let receiver = bind("b", "198.18.0.2").expect("it exists").expect("our address");
    receiver.set_read_timeout(Some(std::time::Duration::from_secs(5))).expect("valid");
    sender.send_to(b"x", receiver.local_addr().expect("bound")).expect("a route");
    assert_eq!(receiver.recv(&mut [0]).expect("it arrives"), 1);
}

/// The setting applies to our own user namespace, not to the machine.
fn no_more_user_namespaces() {
    sysctl::write("user.max_user_namespaces", "0").expect("root here");
    let reason = user_namespace::allowed().expect_err("forbidden now");
    assert!(reason.contains("user.max_user_namespaces is 0"), "{reason}");
}

fn ip(text: &str) -> IpAddr {
    text.parse().expect("an address")
}
