//! The ban list of a running irqbalance, through its socket (irqbalance(1), "irqbalance socket API").

mod setup;

use std::{
    collections::BTreeSet,
    fs, io,
    io::{Read, Write},
    net::Shutdown,
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    time::Duration,
};

use crate::error::{On, Result, invalid};

/// Folder of its socket, which has its process number in the name.
const FOLDER: &str = "/run/irqbalance";
/// Time that it has for an answer.
const PATIENCE: Duration = Duration::from_secs(2);
/// No answer is longer, in bytes: some have a sentence for each banned interrupt.
const LONGEST_ANSWER: u64 = 1 << 20;
/// Longest list that each version reads whole, in bytes.
const LONGEST_LIST: usize = 250;

/// Interrupts that irqbalance leaves where they are, besides those of its own configuration; `None` where none runs.
pub fn banned() -> Result<Option<BTreeSet<u32>>> {
    banned_by(Path::new(FOLDER))
}

/// Bans these interrupts and no others.
pub fn ban(interrupts: &BTreeSet<u32>) -> Result<()> {
    ban_by(Path::new(FOLDER), interrupts)
}

fn banned_by(folder: &Path) -> Result<Option<BTreeSet<u32>>> {
    ask(folder, "setup").map(|answer| answer.map(|setup| setup::banned(&setup)))
}

fn ban_by(folder: &Path, interrupts: &BTreeSet<u32>) -> Result<()> {
    let list: Vec<String> = interrupts.iter().map(u32::to_string).collect();
    let list = if list.is_empty() { "NONE".to_owned() } else { list.join(" ") };
    if list.len() > LONGEST_LIST {
        return Err(invalid("it does not read a list of so many interrupts")).on("ban", "interrupts of irqbalance");
    }
    ask(folder, &format!("settings ban irqs {list}")).map(drop)
}

/// Sends a request to irqbalance and reads its answer; `None` where none runs.
fn ask(folder: &Path, request: &str) -> Result<Option<String>> {
    let Some((path, mut socket)) = connect(folder)? else { return Ok(None) };
    let mut answer = Vec::new();
    let mut exchange = || -> io::Result<()> {
        // It takes requests with the sender's credentials alone.
        rustix::net::sockopt::set_socket_passcred(&socket, true)?;
        socket.set_read_timeout(Some(PATIENCE))?;
        socket.set_write_timeout(Some(PATIENCE))?;
        socket.write_all(request.as_bytes())?;
        socket.shutdown(Shutdown::Write)?;
        Read::by_ref(&mut socket).take(LONGEST_ANSWER).read_to_end(&mut answer).map(drop)
    };
    exchange().on("ask", path.display())?;
    Ok(Some(String::from_utf8_lossy(&answer).into_owned()))
}

/// A socket that somebody listens at; those of killed processes stay behind.
fn connect(folder: &Path) -> Result<Option<(PathBuf, UnixStream)>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        entries => entries.on("read", folder.display())?,
    };
    let is_socket = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "sock");
    let paths = entries.flatten().map(|entry| entry.path()).filter(is_socket);
    Ok(paths.filter_map(|path| UnixStream::connect(&path).ok().map(|socket| (path, socket))).next())
}

#[cfg(test)]
mod tests {
    use std::{os::unix::net::UnixListener, thread};

    use super::*;

    #[test]
    fn it_is_asked_at_the_socket_that_answers() {
        let folder = std::env::temp_dir().join(format!("wireproof-irqbalance-{}", std::process::id()));
        assert_eq!(banned_by(&folder).expect("no folder"), None);
        fs::create_dir(&folder).expect("ours");
        // Left by a killed process.
        drop(UnixListener::bind(folder.join("irqbalance1.sock")).expect("ours"));
        assert_eq!(banned_by(&folder).expect("nobody listens"), None);
        let listener = UnixListener::bind(folder.join("irqbalance2.sock")).expect("ours");
        let daemon = thread::spawn(move || {
            let take = |answer: &str| {
                let (mut peer, _) = listener.accept().expect("a caller");
                let mut request = String::new();
                peer.read_to_string(&mut request).expect("text");
                peer.write_all(answer.as_bytes()).expect("it reads");
                request
            };
            ["SLEEP 10 IRQ 9 LOAD 0 DIFF 0 CLASS 0 BANNED 0", "", ""].map(take)
        });
        let asked = banned_by(&folder).expect("it answers");
        let set = ban_by(&folder, &[40, 41].into()).and_then(|()| ban_by(&folder, &[].into()));
        let too_many = ban_by(&folder, &(100_000..100_100).collect());
        fs::remove_dir_all(&folder).expect("ours");
        assert!(asked == Some([9].into()) && set.is_ok() && too_many.is_err());
        let requests = daemon.join().expect("it ended");
        assert_eq!(requests, ["setup", "settings ban irqs 40 41", "settings ban irqs NONE"]);
    }
}
