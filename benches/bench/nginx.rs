//! nginx at the far end of the bed, configured as wireproof configures it, for programs that bring no server.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, chown},
    path::PathBuf,
    process::Stdio,
    thread,
    time::Duration,
};

use crate::peers::{SERVER, Server, pinned_in};

/// User and group without rights.
const NOBODY: u32 = 65_534;

const PORT: u16 = 8080;

/// A running nginx with one page of 1 KiB; ended when dropped.
pub(crate) struct Nginx {
    _server: Server,
    folder: PathBuf,
}

impl Nginx {
    /// Starts it on the second core.
    pub(crate) fn start() -> Self {
        let folder = std::env::temp_dir().join(format!("wireproof-bench-nginx-{}", std::process::id()));
        let name = folder.display();
        fs::create_dir_all(folder.join("temporary")).unwrap();
        fs::write(folder.join("index.html"), [0; 1024]).unwrap();
        let modules = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
        let paths = modules.map(|module| format!("{module}_temp_path {name}/temporary/{module};\n")).concat();
        let configuration = format!(
            "daemon off;\nmaster_process off;\nerror_log stderr;\npid {name}/temporary/pid;\n\
             events {{ use epoll; worker_connections 1024; }}\n\
             http {{\naccess_log off;\nsendfile on;\ntcp_nodelay on;\ndefault_type application/octet-stream;\n\
             keepalive_requests 1000000000;\nkeepalive_timeout 1h;\nclient_header_timeout 1h;\n{paths}\
             server {{ listen {SERVER}:{PORT} reuseport backlog=4096; root {name}; }}\n}}\n"
        );
        fs::write(folder.join("nginx.conf"), configuration).unwrap();
        for entry in [".", "temporary", "index.html", "nginx.conf"].map(|entry| folder.join(entry)) {
            fs::set_permissions(&entry, fs::Permissions::from_mode(if entry.is_dir() { 0o700 } else { 0o600 }))
                .unwrap();
            chown(&entry, Some(NOBODY), Some(NOBODY)).unwrap();
        }
        let mut command = pinned_in("b", "1");
        let nobody = NOBODY.to_string();
        command.args([
            "setpriv",
            "--reuid",
            &nobody,
            "--regid",
            &nobody,
            "--clear-groups",
            "nginx",
            "-e",
            "stderr",
            "-p",
        ]);
        command.arg(&folder).arg("-c").arg(folder.join("nginx.conf"));
        let server = Server(command.stdout(Stdio::null()).spawn().unwrap());
        thread::sleep(Duration::from_millis(500));
        Self { _server: server, folder }
    }

    /// Path of the page.
    pub(crate) fn url() -> String {
        format!("http://{SERVER}:{PORT}/index.html")
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}
