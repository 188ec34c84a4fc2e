//! A second host with its own ssh server: namespaces for its network, its files and its name, on the same kernel.

use std::{
    fs::{self, DirBuilder},
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use tempfile::TempDir;

use crate::{
    machine::{agents, children},
    program::{Desk, Done, WIREPROOF, done, text, without_caller},
    waiting::soon,
};

/// The namespace of the first host.
pub(crate) const NEAR: &str = "wptest-near";

/// Address of the second host for ssh.
pub(crate) const ADDRESS: &str = "198.18.100.2";

/// Options of the wire between the two: an address that the far end lacks.
pub(crate) const WIRE: &str = "dev=wire-f&addr=198.18.101.2/24";

/// Mounts its own file systems, sets its name, then executes the server. $1 is the host's folder, $2 the options of its
/// /tmp, $3 its name.
const BECOME: &str = "set -e
    hostname \"$3\"
    mount -t tmpfs -o mode=755 none /run && mkdir -m 755 /run/sshd
    mount -t tmpfs -o \"mode=1777,$2\" none /tmp
    mkdir -p /var/lib/wireproof && mount --bind \"$1/state\" /var/lib/wireproof
    for file in passwd shadow sudoers; do mount --bind \"$1/$file\" /etc/$file; done
    exec /usr/sbin/sshd -D -e -f \"$1/sshd_config\" -E \"$1/log\"";

/// The host. Dropping it ends its server and removes its network.
pub(crate) struct OtherHost {
    folder: TempDir,
    server: Child,
    name: &'static str,
    /// Address for ssh.
    pub(crate) address: String,
}

impl OtherHost {
    /// A host with wireproof on its path, and these mount options for /tmp.
    pub(crate) fn with_tmp(options: &str) -> Self {
        make_namespace(NEAR);
        let host = Self::start("far-host", "", 100, options);
        ip(&format!("-n {NEAR} addr add 198.18.101.1/24 dev wire-n"));
        host
    }

    /// A further host with the same key: wire-f is connected to wire-n2 of the first host.
    pub(crate) fn beside(first: &Self) -> Self {
        let host = Self::start("third-host", "2", 102, "size=1g");
        fs::copy(first.path("key.pub"), host.path("key.pub")).unwrap();
        let known = fs::read_to_string(first.path("known_hosts")).unwrap();
        let more = fs::read_to_string(host.path("known_hosts")).unwrap();
        fs::write(first.path("known_hosts"), known + &more).unwrap();
        host
    }

    /// A router between two ports of the first host, port1 and port2, whose other ends are router1 and router2. Only
    /// the ssh server is configured on it.
    pub(crate) fn router() -> Self {
        make_namespace(NEAR);
        let host = Self::start("the-router", "", 100, "size=1g");
        for port in ["1", "2"] {
            let peer = format!("router{port} netns {}", namespace_of("the-router"));
            ip(&format!("link add port{port} netns {NEAR} type veth peer name {peer}"));
        }
        host
    }

    /// Undoes what is left there, as its user does.
    pub(crate) fn clean(&self) -> Done {
        self.there(&[text(&self.path("bin/wireproof")), "clean"])
    }

    fn there(&self, words: &[&str]) -> Done {
        let pid = self.server.id().to_string();
        done(Command::new("nsenter").args(["-t", &pid, "-m", "-n", "-u", "--"]).args(words).output().unwrap())
    }

    /// Standard error of a program there.
    pub(crate) fn says(&self, words: &[&str]) -> String {
        self.there(words).err
    }

    /// Runs a command of `ip`, `tc` or `sysctl` there, which has to succeed.
    pub(crate) fn set(&self, words: &str) {
        let pid = self.server.id().to_string();
        let mut command = Command::new("nsenter");
        command.args(["-t", &pid, "-m", "-n", "-u", "--"]).args(words.split_whitespace());
        let done = command.output().unwrap();
        assert!(done.status.success(), "{words}: {}", String::from_utf8_lossy(&done.stderr));
    }

    /// Its network namespace has the host's name; `suffix` makes its wires' names unique at the first host.
    fn start(name: &'static str, suffix: &str, network: u8, options: &str) -> Self {
        // Not in /tmp, because the second host has its own.
        let folder = tempfile::Builder::new().prefix("wptest-").tempdir_in("/var/tmp").unwrap();
        let (namespace, address) = (namespace_of(name), format!("198.18.{network}.2"));
        make_namespace(&namespace);
        for wire in ["control", "wire"] {
            ip(&format!("link add {wire}-n{suffix} netns {NEAR} type veth peer name {wire}-f netns {namespace}"));
            ip(&format!("-n {NEAR} link set {wire}-n{suffix} up"));
            ip(&format!("-n {namespace} link set {wire}-f up"));
        }
        ip(&format!("-n {NEAR} addr add 198.18.{network}.1/24 dev control-n{suffix}"));
        ip(&format!("-n {namespace} addr add {address}/24 dev control-f"));
        write_files(folder.path(), &address);
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &namespace, "unshare", "--uts", "sh", "-c", BECOME, "sh"]);
        command.args([text(folder.path()), options, name]);
        let server = command.stdin(Stdio::null()).spawn().unwrap();
        let host = Self { folder, server, name, address };
        host.wait_until_it_listens();
        host
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A file of the second host, by its path there.
    pub(crate) fn file(&self, path: &str) -> PathBuf {
        PathBuf::from(format!("/proc/{}/root{path}", self.server.id()))
    }

    /// Output of a program on the second host.
    pub(crate) fn prints(&self, words: &[&str]) -> String {
        let pid = self.server.id().to_string();
        let output = Command::new("nsenter").args(["-t", &pid, "-m", "-n", "-u", "--"]).args(words).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Addresses and MTU of the second host's end of the wire.
    pub(crate) fn wire(&self) -> String {
        let shown = self.prints(&["ip", "-o", "addr", "show", "dev", "wire-f"])
            + &self.prints(&["cat", "/sys/class/net/wire-f/mtu"]);
        // The kernel adds these by itself, at any time.
        shown.lines().filter(|line| !line.contains("fe80::")).collect()
    }

    /// Processes of the ssh server for open connections.
    pub(crate) fn connections(&self) -> Vec<u32> {
        children(self.server.id())
    }

    /// Our machine agent there: the first one started.
    pub(crate) fn machine_agent(&self) -> u32 {
        let network = |pid: u32| fs::read_link(format!("/proc/{pid}/ns/net")).ok();
        let own = network(self.server.id());
        agents().into_iter().find(|pid| network(*pid) == own).expect("there is one")
    }

    /// The ssh command for `--ssh`, with keys and settings of this test only.
    pub(crate) fn ssh(&self) -> String {
        format!("ssh -F {}", self.path("ssh_config").display())
    }

    /// A command on the first host.
    pub(crate) fn program(&self, desk: &Desk, words: &[&str]) -> Command {
        let mut command = without_caller("ip".as_ref());
        command.args(["netns", "exec", NEAR, WIREPROOF, "--store", text(&desk.path("runs.db"))]).args(words);
        command.args(["--out", text(&desk.path("out"))]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// The same with the bed at its end, and a core for each host: both would take the same first core.
    pub(crate) fn command(&self, desk: &Desk, words: &[&str], user: &str, query: &str) -> Command {
        let mut command = self.program(desk, words);
        command.args(["--bed", &format!("hosts:ssh://{user}@{ADDRESS}?{query}")]);
        if !words.contains(&"--cpus") {
            command.args(["--cpus", "0,1"]);
        }
        command
    }

    /// Runs it as root at both ends.
    pub(crate) fn run(&self, desk: &Desk, words: &[&str], query: &str) -> Done {
        done(self.command(desk, &[words, &["--ssh", &self.ssh()]].concat(), "root", query).output().unwrap())
    }

    fn wait_until_it_listens(&self) {
        let answers = || {
            let connect = format!("exec 3<>/dev/tcp/{}/22", self.address);
            let probe = ["netns", "exec", NEAR, "bash", "-c", &connect];
            Command::new("ip").args(probe).stderr(Stdio::null()).status().unwrap().success()
        };
        let log = || fs::read_to_string(self.path("log")).unwrap_or_default();
        assert!(soon(answers), "the ssh server does not listen: {}", log());
    }
}

impl Drop for OtherHost {
    fn drop(&mut self) {
        for pid in self.connections() {
            signal(pid, "-CONT");
        }
        let _ = self.server.kill();
        let _ = self.server.wait();
        for namespace in [NEAR.to_owned(), namespace_of(self.name)] {
            // The first host may have been removed with another one.
            let _ = Command::new("ip").args(["netns", "del", &namespace]).stderr(Stdio::null()).status();
        }
    }
}

pub(crate) fn signal(pid: u32, name: &str) {
    // It may have ended by itself.
    let _ = Command::new("kill").args([name, &pid.to_string()]).stderr(Stdio::null()).status();
}

/// The namespace of another host.
fn namespace_of(name: &str) -> String {
    format!("wptest-{name}")
}

fn ip(words: &str) {
    let done = Command::new("ip").args(words.split_whitespace()).output().unwrap();
    assert!(done.status.success(), "ip {words}: {}", String::from_utf8_lossy(&done.stderr));
}

fn make_namespace(name: &str) {
    let _ = Command::new("ip").args(["netns", "del", name]).stderr(Stdio::null()).status();
    ip(&format!("netns add {name}"));
    ip(&format!("-n {name} link set lo up"));
}

fn write_files(folder: &Path, address: &str) {
    let path = |name: &str| folder.join(name);
    let write = |name: &str, content: String| fs::write(path(name), content).unwrap();
    let shown = |name: &str| path(name).display().to_string();
    // A user of the second host needs access.
    assert!(Command::new("chmod").args(["755", text(folder)]).status().unwrap().success());
    for name in ["bin", "home", "state"] {
        DirBuilder::new().mode(0o755).create(path(name)).unwrap();
    }
    // No symbolic link: the second host's own /tmp may hide its target.
    fs::hard_link(WIREPROOF, path("bin/wireproof"))
        .or_else(|_| fs::copy(WIREPROOF, path("bin/wireproof")).map(drop))
        .unwrap();
    write("home/.bashrc", "echo 'Welcome to the far host!'\n".to_owned());
    for key in ["host_key", "key"] {
        let made = Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f", &shown(key)]).status();
        assert!(made.unwrap().success());
    }
    let users = ["root:x:0:0::", "plain:x:54321:54321::", "admin:x:54323:54323::", "sshd:x:54322:65534::"];
    write("passwd", users.map(|user| format!("{user}{}:/bin/bash\n", shown("home"))).concat());
    write("shadow", ["root", "plain", "admin", "sshd"].map(|user| format!("{user}:*:19000:0:99999:7:::\n")).concat());
    write("sudoers", "admin ALL=(ALL) NOPASSWD: ALL\n".to_owned());
    write(
        "sshd_config",
        format!(
            "ListenAddress {address}\nHostKey {}\nAuthorizedKeysFile {}\nStrictModes no\nUsePAM no\nPidFile none\n\
             PermitRootLogin yes\nMaxStartups 50\nSetEnv PATH={}:/usr/sbin:/usr/bin:/sbin:/bin\n",
            shown("host_key"),
            shown("key.pub"),
            shown("bin"),
        ),
    );
    let host_key = fs::read_to_string(path("host_key.pub")).unwrap();
    write("known_hosts", format!("{address} {host_key}"));
    write(
        "ssh_config",
        format!(
            "IdentityFile {}\nIdentitiesOnly yes\nUserKnownHostsFile {}\nGlobalKnownHostsFile /dev/null\nStrictHostKeyChecking ask\n",
            shown("key"),
            shown("known_hosts"),
        ),
    );
}
