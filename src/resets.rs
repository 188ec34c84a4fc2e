//! Resets of a device under test while frames are under way: by a command, or by hand.

use std::{
    io,
    os::unix::process::ExitStatusExt,
    process::{Child, Command, Stdio},
};

use kernel::privilege;
use model::{Amount, ProbeSpec, rfc2544::is_reset};
use report::{Lang, Notice};

/// Seconds of traffic before the reset.
const BEFORE: f64 = 1.0;

/// The resets of a run. What is to be said to the user is returned.
pub(crate) struct Resets {
    lang: Lang,
    command: Option<String>,
    /// Duration in seconds of the trial under way, as long as its reset is to come.
    due: Option<f64>,
    running: Option<Child>,
}

impl Resets {
    /// Resets by this command, or by hand.
    pub(crate) fn new(lang: Lang, command: Option<String>) -> Self {
        Self { lang, command, due: None, running: None }
    }

    /// A trial begins.
    pub(crate) fn step(&mut self, spec: &ProbeSpec) -> Vec<String> {
        let said = self.end();
        self.due = match spec.probe().amount() {
            Some(Amount::Duration(duration)) if is_reset(spec) => Some(duration.as_secs_f64()),
            _ => None,
        };
        said
    }

    /// The trial is so far, 0 to 1.
    pub(crate) fn progress(&mut self, fraction: f64) -> Vec<String> {
        let Some(duration) = self.due.filter(|duration| fraction * duration >= BEFORE.min(duration / 4.0)) else {
            return Vec::new();
        };
        self.due = None;
        let Some(command) = self.command.clone() else {
            let seconds = (duration * (1.0 - fraction)).round() as u64;
            return vec![Notice::ResetNow { seconds }.text(self.lang)];
        };
        let begun = Notice::ResetBy { command: &command }.text(self.lang);
        match start(&command) {
            Ok(child) => {
                self.running = Some(child);
                vec![begun]
            }
            Err(error) => vec![begun, self.failed(&command, &error.to_string())],
        }
    }

    /// The trial is over: a command that still runs is ended.
    pub(crate) fn end(&mut self) -> Vec<String> {
        self.due = None;
        let (Some(mut child), Some(command)) = (self.running.take(), self.command.clone()) else { return Vec::new() };
        let is_over = child.try_wait().is_ok_and(|status| status.is_some());
        if !is_over {
            // It may end by itself at this moment.
            let _ = child.kill();
        }
        match child.wait() {
            Ok(status) if status.success() => Vec::new(),
            Ok(_) if !is_over => vec![self.failed(&command, "it still ran when the trial was over, and was ended")],
            Ok(status) => {
                let signal = status.signal().map(|signal| format!("signal {signal}"));
                let why = status.code().map(|code| format!("exit status {code}")).or(signal);
                vec![self.failed(&command, &why.unwrap_or_default())]
            }
            Err(error) => vec![self.failed(&command, &error.to_string())],
        }
    }

    fn failed(&self, command: &str, why: &str) -> String {
        Notice::ResetFailed { command, why }.text(self.lang)
    }
}

/// Starts a command of the shell with the rights of the user who called, also by sudo. Its output goes where messages go.
fn start(command: &str) -> io::Result<Child> {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", command]).stdin(Stdio::null()).stdout(io::stderr());
    privilege::run_as_sudo_user(&mut shell);
    shell.spawn()
}

#[cfg(test)]
mod tests {
    use model::Plan;

    use super::*;

    fn resets(command: Option<&str>) -> (Resets, ProbeSpec) {
        let section = "[[packets]]\nduration = \"8 s\"\n[[packets.stream]]\nname = \"reset\"\nload = \"1 kpps\"\n";
        let plan = &format!("name = \"t\"\n{section}");
        let spec = Plan::parse(plan, &[]).unwrap().specs().remove(0);
        (Resets::new(Lang::En, command.map(str::to_owned)), spec)
    }

    #[test]
    fn a_device_is_reset_once_a_second_after_frames_began_to_flow() {
        let (mut by_hand, spec) = resets(None);
        assert!(is_reset(&spec) && by_hand.step(&spec).is_empty());
        assert!(by_hand.progress(0.1).is_empty());
        assert!(by_hand.progress(0.2)[0].contains("6 s more"));
        assert!(by_hand.progress(0.3).is_empty());
    }

    #[test]
    fn a_command_that_fails_or_does_not_end_is_told() {
        for (command, expected) in [("true", ""), ("exit 3", "exit status 3"), ("sleep 60", "still ran")] {
            let (mut resets, spec) = resets(Some(command));
            resets.step(&spec);
            assert_eq!(resets.progress(0.5).len(), 1, "{command}");
            if command != "sleep 60" {
                // A pipe of the shell would say when it has ended; this process is its parent.
                let running = resets.running.as_mut().unwrap();
                running.wait().unwrap();
            }
            let said = resets.end().concat();
            assert!(said.contains(expected) && said.is_empty() == expected.is_empty(), "{command}: {said}");
        }
    }
}
