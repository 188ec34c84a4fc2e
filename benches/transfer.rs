//! Transfers of a file: wireproof's own beside iperf3 and nc, and programs that wireproof runs beside the same commands typed by hand, in
//! alternating runs on one bed and the same cores.
//!
//! Writes its part of `docs/benchmarks.md`. Run it with `./x bench transfer`, on a machine that does nothing else, or in pieces
//! (`WIREPROOF_BENCH_ROWS=nc,http ./x bench transfer`).

#![allow(clippy::unwrap_used, reason = "a benchmark that cannot be made shall stop")]

#[path = "bench/page.rs"]
mod page;
#[path = "bench/pairs.rs"]
mod pairs;
#[path = "bench/peers.rs"]
mod peers;
#[path = "bench/pieces.rs"]
mod pieces;

use std::{
    env, fs,
    os::unix::fs::chown,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use page::COMPARISONS;
use pairs::{Want, compare_often};
use peers::{Bed, SERVER, Server, WIREPROOF, ours, output, pinned_in};
use pieces::Pieces;

/// Size of the file.
const MIB: u32 = 512;

/// Pairs of each row: the fewest with an interval.
const PAIRS: usize = 6;

/// User and group that wireproof runs programs as.
const NOBODY: u32 = 65_534;

const PORT: u16 = 5555;

/// Least ratio to the same command typed by hand.
const AS_BY_HAND: f64 = 0.97;

/// Seconds that all methods may take together.
const ALL_WITHIN: f64 = 180.0;

const ROWS: [&str; 14] = [
    "tcp-iperf3",
    "tcp-nc",
    "tcp-jumbo-iperf3",
    "tcp-jumbo-nc",
    "nc",
    "http",
    "https",
    "rsync",
    "ftp-put",
    "ftp-get",
    "scp",
    "sftp",
    "smb",
    "all",
];

fn main() {
    // `cargo test --benches` and the like start benchmarks to see whether they start.
    if !env::args().any(|arg| arg == "--bench") {
        return;
    }
    let mut pieces = Pieces::open("transfer", &ROWS);
    let bed = Bed::up();
    let hand = Hand::new();
    for method in ["tcp", "tcp-jumbo"] {
        pieces.row(&format!("{method}-iperf3"), || row(method, "iperf3", 0.97, iperf3));
        pieces.row(&format!("{method}-nc"), || row(method, "nc", 1.2, || hand.moved("nc")));
    }
    for method in &ROWS[4..ROWS.len() - 1] {
        pieces.row(method, || row(method, "by hand", AS_BY_HAND, || hand.moved(method)));
    }
    drop(bed);
    pieces.row("all", all);
    let text = COMPARISONS.to_owned()
        + &pieces.table(&ROWS)
        + &format!(
            "\n{PAIRS} pairs each, a file of {MIB} MiB from memory to memory: `wireproof transfer --methods METHOD`. iperf3 sends as many bytes (`-n`), and its\n\
             receiver tells the rate. By hand: the same programs with the same options and configurations, as `nobody`, timed by the shell. All methods: the whole\n\
             command, with three trials of each method and of the small files. Rows are measured in pieces (`WIREPROOF_BENCH_ROWS=nc,http`).\n"
        );
    page::write("transfer", &[page::version("iperf3"), page::version("rsync"), page::version("curl")], &text);
}

/// Rate of one of our methods beside a peer's.
fn row(method: &str, peer: &'static str, ratio: f64, theirs: impl FnMut() -> f64) -> String {
    let ours = || {
        let size = format!("{MIB} MiB");
        let trial = ours(&["transfer", "--methods", method, "--contents", "file", "--size", &size])["trials"][0].take();
        trial["bytes_per_second"].as_f64().unwrap() / f64::from(1 << 20)
    };
    let want = Want { ratio, or_more: true };
    compare_often(PAIRS, method.to_owned(), peer, "MiB/s", want, ours, theirs).line()
}

/// Time of all methods, as a user calls them.
fn all() -> String {
    let store = env::temp_dir().join(format!("wireproof-bench-{}", std::process::id()));
    let began = Instant::now();
    let words = ["transfer", "--size", "1 GiB", "--json", "--quiet", "--store"];
    output(Command::new(WIREPROOF).args(words).arg(store.join("runs.db")));
    let seconds = began.elapsed().as_secs_f64();
    let _ = fs::remove_dir_all(&store);
    let word = if seconds < ALL_WITHIN { "met" } else { "missed" };
    format!("| all methods, 1 GiB and small files | {seconds:.0} | | s | | | < {ALL_WITHIN} | {word} |")
}

fn iperf3() -> f64 {
    let mut server = pinned_in("b", "1");
    let mut server = Server(server.args(["iperf3", "-s", "-1"]).stdout(Stdio::null()).spawn().unwrap());
    thread::sleep(Duration::from_millis(300));
    let said = output(pinned_in("a", "0").args(["iperf3", "-c", SERVER, "-J", "-n", &format!("{MIB}M")]));
    server.0.wait().unwrap();
    let said: serde_json::Value = serde_json::from_str(&said[said.find('{').unwrap()..]).unwrap();
    said["end"]["sum_received"]["bits_per_second"].as_f64().unwrap() / 8.0 / f64::from(1 << 20)
}

/// A folder in memory with the file and configurations, which goes with this value.
struct Hand(PathBuf);

impl Hand {
    fn new() -> Self {
        let folder = Path::new("/dev/shm").join(format!("wireproof-bench-transfer-{}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        chown(&folder, Some(NOBODY), Some(NOBODY)).unwrap();
        let hand = Self(folder);
        let folder = hand.0.display();
        let modules = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
        let paths = modules.map(|module| format!("{module}_temp_path {folder}/{module};\n")).concat();
        let nginx = format!(
            "daemon off;\nmaster_process off;\nerror_log stderr crit;\npid {folder}/pid;\nevents {{ worker_connections 64; }}\n\
             http {{\naccess_log off;\nsendfile on;\n{paths}server {{ listen {SERVER}:{PORT}; root {folder}; }}\n}}\n"
        );
        let tls =
            format!("ssl_protocols TLSv1.3; ssl_certificate {folder}/certificate; ssl_certificate_key {folder}/tls");
        let plain = format!("listen {SERVER}:{PORT};");
        let https = nginx.replace(&plain, &format!("listen {SERVER}:{PORT} ssl; {tls};"));
        hand.write("nginx.conf", &nginx);
        hand.write("https.conf", &https);
        hand.write("batch", &format!("put {folder}/contents {folder}/moved\n"));
        hand.write(
            "vsftpd.conf",
            &format!(
                "listen=YES\nlisten_address={SERVER}\nlisten_port={PORT}\nbackground=NO\nrun_as_launching_user=YES\nseccomp_sandbox=NO\n\
                 ftp_username=nobody\nanonymous_enable=YES\nno_anon_password=YES\nlocal_enable=NO\nwrite_enable=YES\nanon_upload_enable=YES\n\
                 anon_root={folder}\nanon_world_readable_only=NO\nsecure_chroot_dir={folder}\n"
            ),
        );
        chown(hand.0.join("vsftpd.conf"), Some(NOBODY), Some(NOBODY)).unwrap();
        let kinds =
            ["private dir", "lock directory", "state directory", "cache directory", "pid directory", "ncalrpc dir"];
        let folders = kinds.map(|kind| format!("{kind} = {folder}/smb\n")).concat();
        hand.write(
            "smb.conf",
            &format!(
                "[global]\ninterfaces = {SERVER}\nbind interfaces only = yes\nsmb ports = {PORT}\n{folders}passdb backend = smbpasswd:{folder}/smb/users\n\
                 server role = standalone server\nmap to guest = Bad User\nguest account = nobody\ndisable netbios = yes\ndisable spoolss = yes\n\
                 load printers = no\nrpc start on demand helpers = no\nlog level = 0\n[room]\npath = {folder}\nread only = no\nguest ok = yes\n"
            ),
        );
        hand.write("rsyncd.conf", &format!("use chroot = no\n[room]\npath = {folder}\nread only = no\n"));
        hand.write(
            "sshd_config",
            &format!(
                "ListenAddress {SERVER}:{PORT}\nHostKey {folder}/key\nAuthorizedKeysFile {folder}/key.pub\nPidFile none\nStrictModes no\n\
                 UsePAM yes\nLogLevel ERROR\nSubsystem sftp internal-sftp\nForceCommand internal-sftp\n"
            ),
        );
        output(&mut hand.shell(
            "a",
            "0",
            "head -c MIBM /dev/urandom > contents; mkdir smb; ssh-keygen -q -t ed25519 -N '' -f key; openssl req -x509 -newkey ec \
             -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=wireproof -addext subjectAltName=DNS:wireproof -keyout tls \
             -out certificate 2>/dev/null",
        ));
        hand
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.0.join(name), text).unwrap();
    }

    /// A line for the shell at one end, as nobody and in the folder.
    fn shell(&self, end: &str, cpu: &str, line: &str) -> Command {
        let line = line.replace("ADDRESS", SERVER).replace("PORT", &PORT.to_string()).replace("MIB", &MIB.to_string());
        let line = line.replace("FOLDER", self.0.to_str().unwrap());
        let (mut command, nobody) = (pinned_in(end, cpu), NOBODY.to_string());
        command.args(["setpriv", "--reuid", &nobody, "--regid", &nobody, "--clear-groups", "bash", "-c", &line]);
        command.current_dir(&self.0);
        command
    }

    /// MiB/s of a client beside its server.
    fn rate(&self, server: &str, client: &str) -> f64 {
        let _ = fs::remove_file(self.0.join("moved"));
        let mut server = Server(self.shell("b", "1", &format!("exec {server}")).spawn().unwrap());
        thread::sleep(Duration::from_millis(300));
        let timed = format!("TIMEFORMAT=%R; {{ time {client} 2>&3; }} 3>&2 2>&1");
        let seconds: f64 = output(&mut self.shell("a", "0", &timed)).trim().parse().unwrap();
        // Some end by themselves, once all is in the file.
        thread::sleep(Duration::from_millis(100));
        let _ = server.0.try_wait();
        assert_eq!(fs::metadata(self.0.join("moved")).unwrap().len(), u64::from(MIB) << 20, "{client}");
        f64::from(MIB) / seconds
    }

    /// Rate of a method, as somebody types it.
    fn moved(&self, method: &str) -> f64 {
        const SSH: &str = "-q -F none -P PORT -c aes128-gcm@openssh.com -i key -o BatchMode=yes -o StrictHostKeyChecking=no \
                           -o UserKnownHostsFile=/dev/null";
        const SSHD: &str = "/usr/sbin/sshd -D -e -f FOLDER/sshd_config";
        const CURL: &str = "curl -q -sS --noproxy '*'";
        let (server, client) = match method {
            "nc" => ("nc.openbsd -n -l ADDRESS PORT > moved", "nc.openbsd -n -N ADDRESS PORT < contents".to_owned()),
            "http" => (
                "/usr/sbin/nginx -p FOLDER -c FOLDER/nginx.conf -e stderr",
                format!("{CURL} --fail -o moved http://ADDRESS:PORT/contents"),
            ),
            "https" => (
                "/usr/sbin/nginx -p FOLDER -c FOLDER/https.conf -e stderr",
                format!(
                    "{CURL} --fail -o moved --cacert certificate --tls13-ciphers TLS_AES_128_GCM_SHA256 \
                     --resolve wireproof:PORT:ADDRESS https://wireproof:PORT/contents"
                ),
            ),
            "rsync" => (
                "rsync --daemon --no-detach --log-file=/dev/null --address=ADDRESS --port=PORT --config rsyncd.conf",
                "rsync contents rsync://ADDRESS:PORT/room/moved".to_owned(),
            ),
            "ftp-put" => {
                ("/usr/sbin/vsftpd FOLDER/vsftpd.conf", format!("{CURL} -T contents ftp://ADDRESS:PORT/moved"))
            }
            "ftp-get" => {
                ("/usr/sbin/vsftpd FOLDER/vsftpd.conf", format!("{CURL} -o moved ftp://ADDRESS:PORT/contents"))
            }
            "scp" => (SSHD, format!("scp {SSH} contents nobody@ADDRESS:FOLDER/moved 2>/dev/null")),
            "sftp" => (SSHD, format!("sftp {SSH} -b batch nobody@ADDRESS >/dev/null 2>&1")),
            "smb" => (
                "/usr/sbin/smbd -i --debug-stdout -s FOLDER/smb.conf >/dev/null 2>&1",
                "smbclient -s /dev/null -N -I ADDRESS -p PORT //wireproof/room -c 'put contents moved' >/dev/null 2>&1"
                    .to_owned(),
            ),
            other => panic!("nobody types {other}"),
        };
        self.rate(server, &client)
    }
}

impl Drop for Hand {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
