//! Programs at the near end of a lab, bypassed or not, and their counterparts at the far end.

use std::cell::RefCell;

use serde_json::Value;

use super::{Lab, running::Running, with_lab};
use crate::program::WIREPROOF;

/// Both ends, named by their addresses.
pub(super) struct Ends<'a> {
    lab: &'a Lab<'a>,
    pub(super) near: String,
    pub(super) far: String,
}

/// Way in which programs at the near end run: through the kernel, or bypassed.
pub(super) struct Near<'a> {
    ends: &'a Ends<'a>,
    is_past: bool,
    accounts: RefCell<Vec<Value>>,
}

pub(super) fn with_ends(tell: impl FnOnce(&Ends<'_>)) {
    with_lab(|lab| tell(&Ends { lab, near: lab.address("a"), far: lab.address("b") }));
}

impl Ends<'_> {
    /// Checks that `run` gives the same result when bypassed. With `least` above 0, at least so many datagrams have to
    /// be bypassed.
    ///
    /// All sockets except TCP have to be bypassed then, without datagrams in the kernel's counters.
    #[track_caller]
    pub(super) fn same(&self, name: &str, least: u64, run: impl Fn(&Near<'_>) -> String) {
        let near = |is_past| Near { ends: self, is_past, accounts: RefCell::default() };
        let (through, past) = (near(false), near(true));
        assert_eq!(run(&through), run(&past), "{name}: through the kernel, and past it");
        let accounts = past.accounts.into_inner();
        let programs = || accounts.iter().flat_map(|account| account["programs"].as_array().unwrap());
        let sockets: Vec<&Value> = programs().flat_map(|program| program["sockets"].as_array().unwrap()).collect();
        let count = |socket: &Value, way: &str| {
            socket[way]["received"].as_u64().unwrap() + socket[way]["sent"].as_u64().unwrap()
        };
        let went: u64 = sockets.iter().map(|socket| count(socket, "past")).sum();
        assert!(went >= least, "{name}: {went} datagrams went past the kernel: {accounts:#?}");
        let is_tcp = |socket: &&&Value| socket["why_not"].as_str().is_some_and(|why| why.contains("TCP"));
        // Some shut their socket down at the end.
        let is_left = |socket: &&&Value| socket["bypassed"] == false && count(socket, "past") == 0;
        let left: Vec<_> = sockets.iter().filter(|it| is_left(it) && !is_tcp(it)).collect();
        assert!(left.is_empty(), "{name}: {left:#?}");
        let stayed_flat = |account: &Value| account["kernel"]["flat"] != false;
        assert!(least == 0 || accounts.iter().all(stayed_flat), "{name}: {accounts:#?}");
    }

    /// Starts a program at the far end, and waits for this output.
    pub(super) fn far(&self, words: &[&str], says: &str) -> Running {
        Running::start(self.lab, "b", words, says)
    }

    /// The same, until it receives on a port.
    pub(super) fn far_hears(&self, words: &[&str], port: u16) -> Running {
        self.far(words, "").hears(self.lab, "b", port)
    }

    /// Output and exit status of a program at the far end.
    pub(super) fn far_told(&self, words: &[&str]) -> String {
        let done = self.lab.exec("b", words);
        format!("{}{}exit status: {}\n", done.out, done.err, done.status)
    }
}

impl Near<'_> {
    fn words<'w>(&self, words: &[&'w str]) -> Vec<&'w str> {
        let bypass: &[&str] =
            if self.is_past { &[WIREPROOF, "bypass", "--stats", "--json", "--quiet", "--"] } else { &[] };
        [bypass, words].concat()
    }

    /// Output and exit status of a program.
    pub(super) fn told(&self, words: &[&str]) -> String {
        let done = self.ends.lab.exec("a", &self.words(words));
        let said = self.without_account(&done.err);
        format!("{}{said}exit status: {}\n", done.out, done.status)
    }

    /// Starts a program, and waits for this output.
    pub(super) fn start(&self, words: &[&str], says: &str) -> Running {
        Running::start(self.ends.lab, "a", &self.words(words), says)
    }

    /// The same, until it receives on a port.
    pub(super) fn hears(&self, words: &[&str], port: u16) -> Running {
        self.start(words, "").hears(self.ends.lab, "a", port)
    }

    /// The same, until its ancestors no longer receive, as with a daemon.
    pub(super) fn hears_alone(&self, words: &[&str], port: u16) -> Running {
        self.start(words, "").hears_alone(self.ends.lab, "a", port)
    }

    /// Ends it; returns its output.
    pub(super) fn ended(&self, running: Running) -> String {
        self.without_account(&running.ended())
    }

    /// Removes the account from the end of a bypassed program's output.
    fn without_account(&self, said: &str) -> String {
        if !self.is_past {
            return said.to_owned();
        }
        let begin = if said.starts_with("{\n") { Some(0) } else { said.rfind("\n{\n").map(|at| at + 1) };
        let (said, account) = said.split_at(begin.expect(said));
        self.accounts.borrow_mut().push(serde_json::from_str(account).expect(account));
        said.to_owned()
    }
}
