//! Programs of xdp-tools, each in a namespace.

use std::{
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

/// A program that is interrupted, as by Ctrl-C, and awaited when dropped.
pub(crate) struct Running(Child);

impl Running {
    /// Starts a program from the folder of built xdp-tools sources.
    pub(crate) fn start(tools: &str, namespace: &str, words: &[&str]) -> Self {
        let mut command = Command::new("nsenter");
        command
            .arg(format!("--net=/run/netns/{namespace}"))
            .arg(format!("{tools}/{0}/{0}", words[0]))
            .args(&words[1..]);
        Self(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = Command::new("kill").args(["-INT", &self.0.id().to_string()]).status();
        for _ in 0..100 {
            if self.0.try_wait().is_ok_and(|ended| ended.is_some()) {
                return;
            }
            thread::sleep(Duration::from_millis(20));
        }
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
