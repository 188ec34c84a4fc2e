//! Runs a program with bypassed UDP sockets, and records what became of each. XDP programs and sockets end with this
//! process.

mod account;
mod children;
mod choose;
mod environment;
mod image;
mod obstacle;

use std::{
    ffi::OsString,
    io,
    path::PathBuf,
    process::Command,
    sync::{
        Arc,
        mpsc::{Receiver, Sender, channel},
    },
    thread,
};

use grant::{Attachment, GrantError, Launcher};
use kernel::{
    executions::Executions,
    privilege, process,
    supervise::{Supervisor, SupervisorEvent, pass_on},
};
use model::{
    Privilege,
    bypass::{Account, Claim, Hindrance, Obstacle, Passed, Refusal, Steering, UngrantedSockets, Wait},
};

use account::Known;

pub use grant::launch::Event;

/// The program and its options.
#[derive(Clone, Debug)]
pub struct Options {
    /// Interfaces; if empty, all suitable ones except those of the default route and the caller's session.
    pub interfaces: Vec<String>,
    /// Way in which its blocking calls wait.
    pub wait: Wait,
    /// The library to preload.
    pub library: PathBuf,
    /// The program and its arguments.
    pub program: Vec<OsString>,
}

/// A message during the run.
#[derive(Debug)]
pub enum Notice {
    /// Nothing of the program can be bypassed.
    Obstacle(Obstacle),
    /// An interface is not bypassed.
    Passed(Passed),
    /// There is no interface to bypass.
    Nothing {
        /// Whether there were some, whose obstacles were reported.
        were_passed: bool,
    },
    /// The program has ended, and so many processes that it left behind have not.
    Waits {
        /// Number of them.
        processes: usize,
    },
    /// An event of the launcher.
    Event(Event),
}

/// A reason for which the program was not run.
#[derive(Debug, thiserror::Error)]
pub enum BypassError {
    /// Not root.
    #[error(
        "taking sockets past the kernel needs root, as it puts a program into the driver: sudo wireproof bypass -- …; the program itself may \
         give its rights up (setpriv, runuser, its own option)"
    )]
    NoRoot,
    /// Root of a user namespace.
    #[error(
        "taking sockets past the kernel needs root of the machine itself: in a user namespace the kernel lets nobody put a program into a \
         driver"
    )]
    UserNamespace,
    /// The library is missing.
    #[error(
        "there is no {}, the library that takes sockets past the kernel; it stands beside wireproof, and \"./x build\" makes both", .0.display()
    )]
    NoLibrary(PathBuf),
    /// `LD_PRELOAD` cannot contain its path.
    #[error("{} cannot be loaded into a program: LD_PRELOAD takes no path with a space or a colon in it (ld.so(8)); move wireproof", .0.display())]
    LibraryPath(PathBuf),
    /// An unsuitable interface was named.
    #[error(transparent)]
    Interface(#[from] choose::BadInterface),
    /// The program was not found or is not executable.
    #[error("cannot run {}: {}", program.display(), obstacle::not_run(program, io))]
    Program {
        /// The program.
        program: PathBuf,
        /// The kernel's error. Not a `source`: it is part of the message.
        io: io::Error,
    },
    /// An error of the kernel.
    #[error(transparent)]
    Kernel(#[from] kernel::Error),
    /// An error of the launcher.
    #[error(transparent)]
    Grant(#[from] GrantError),
}

impl BypassError {
    /// The exit status as in a shell, `env` or `timeout`: 127 for a missing program, 126 for one that is not
    /// executable.
    pub fn status(&self) -> Option<u8> {
        match self {
            Self::Program { io, .. } if io.kind() == io::ErrorKind::NotFound => Some(127),
            Self::Program { .. } => Some(126),
            _ => None,
        }
    }
}

/// Runs the program until it and all its descendants have ended; returns its exit status and the account of its
/// sockets. Call it while the process has one thread.
pub fn run(options: &Options, tell: impl Fn(Notice) + Send + Sync + 'static) -> Result<(u8, Account), BypassError> {
    match privilege::current() {
        Privilege::Root => {}
        Privilege::UserNamespace => return Err(BypassError::UserNamespace),
        Privilege::User => return Err(BypassError::NoRoot),
    }
    let environment = environment::of(&options.library, options.wait)?;
    let chosen = choose::interfaces(&options.interfaces)?;
    let [program, arguments @ ..] = &options.program[..] else { return Err(no_program()) };
    let obstacle = obstacle::of(program, &options.library);
    obstacle.iter().for_each(|obstacle| tell(Notice::Obstacle(obstacle.clone())));
    let supervisor = Supervisor::begin()?;
    let mut attachment = Attachment::new(&chosen.taken)?.for_wait(options.wait);
    let refused = attachment.refused.drain(..).map(|(interface, error)| Passed { interface, why: error.into() });
    let mut passed: Vec<Passed> = chosen.passed.into_iter().chain(refused).collect();
    let mut counting = account::Before::read(&attachment);
    let (happens, events) = channel();
    let launcher = launch(attachment, happens.clone()).unwrap_or_else(|held| {
        passed.extend(held);
        None
    });
    passed.iter().for_each(|passed| tell(Notice::Passed(passed.clone())));
    if launcher.is_none() {
        counting = counting.of_no_interface();
        tell(Notice::Nothing { were_passed: !passed.is_empty() });
    }
    let mut command = Command::new(program);
    command.args(arguments).envs(environment.variables(launcher.as_ref().map(Launcher::name)));
    let (executions, over) = Executions::watch(children::folders())?;
    let child = supervisor.spawn(&mut command).map_err(|io| BypassError::Program { program: program.into(), io })?;
    let tell = Arc::new(tell);
    let listener = thread::spawn({
        let tell = Arc::clone(&tell);
        move || listen(&events, &*tell)
    });
    let children = thread::spawn({
        let (tell, library, known) = (Arc::clone(&tell), options.library.clone(), obstacle.clone());
        move || {
            let tell = |obstacle| tell(Notice::Obstacle(obstacle));
            children::find_obstacles(&library, known.as_ref(), &executions, tell)
        }
    });
    let status = supervise(&supervisor, child.id(), &*tell)?;
    drop(over);
    let obstacle = obstacle.or(children.join().unwrap_or_default());
    let steering = counted(launcher.map(Launcher::end), happens);
    let kept = listener.join().unwrap_or_default();
    Ok((status, counting.until_now(kept, steering, Known { obstacle, passed })))
}

/// Counters of the steering program; a failure is reported, and the program's exit status is returned all the same.
fn counted(ended: Option<Result<Steering, GrantError>>, tell: Sender<Event>) -> Steering {
    ended
        .transpose()
        .unwrap_or_else(|error| {
            // The receiver may have ended.
            let _ = tell.send(Event::Trouble(error));
            None
        })
        .unwrap_or_default()
}

/// `None` without an interface to bypass. Without memory or queues, the program runs through the kernel; the error has
/// the reasons.
fn launch(attachment: Attachment, happens: Sender<Event>) -> Result<Option<Launcher>, Vec<Passed>> {
    let interfaces: Vec<String> = attachment.interfaces().map(|(name, _)| name.to_owned()).collect();
    if interfaces.is_empty() {
        return Ok(None);
    }
    let passed = |error: GrantError| {
        let why = Hindrance::from(error);
        interfaces.into_iter().map(|interface| Passed { interface, why: why.clone() }).collect()
    };
    Launcher::start(attachment, happens).map(Some).map_err(passed)
}

fn no_program() -> BypassError {
    BypassError::Program { program: PathBuf::new(), io: io::ErrorKind::NotFound.into() }
}

/// Events kept for the account.
#[derive(Default)]
struct RecordedEvents {
    claims: Vec<Claim>,
    outside: Vec<UngrantedSockets>,
    outside_beyond: u32,
    refused: Vec<Refusal>,
}

/// Limit of recorded refusals.
const MOST_REFUSALS: usize = 1024;

/// Reports events at once, and keeps those for the account.
fn listen(events: &Receiver<Event>, tell: impl Fn(Notice)) -> RecordedEvents {
    let mut kept = RecordedEvents::default();
    for event in events {
        match event {
            Event::Ended(claim) => kept.claims.push(claim),
            Event::UngrantedSockets { programs, beyond } => (kept.outside, kept.outside_beyond) = (programs, beyond),
            Event::Refused { program, why } => {
                let refusal = Refusal { program, why };
                // A server's children may ask by the thousand, and strangers by as many names.
                let is_told = kept.refused.len() < MOST_REFUSALS;
                if is_told && !kept.refused.iter().any(|it| it.is_like(&refusal)) {
                    tell(Notice::Event(Event::Refused { program: refusal.program.clone(), why: refusal.why.clone() }));
                }
                if kept.refused.len() < MOST_REFUSALS && !kept.refused.contains(&refusal) {
                    kept.refused.push(refusal);
                }
            }
            event => tell(Notice::Event(event)),
        }
    }
    kept
}

/// Waits for the program and its remaining descendants: a daemon stays bypassed while its launcher lives.
fn supervise(supervisor: &Supervisor, program: u32, tell: impl Fn(Notice)) -> Result<u8, BypassError> {
    let mut ended = None;
    loop {
        match supervisor.next()? {
            SupervisorEvent::Ended { process, status } if process == program => {
                ended = Some(status);
                let processes = process::descendants().len();
                if processes > 0 {
                    tell(Notice::Waits { processes });
                }
            }
            SupervisorEvent::Ended { .. } => {}
            SupervisorEvent::Alone => return Ok(ended.unwrap_or_default()),
            SupervisorEvent::Asked { signal, from_terminal } => {
                let to = if ended.is_none() { vec![program] } else { process::children() };
                to.into_iter().for_each(|process| pass_on(signal, from_terminal, process));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_counted_is_said_and_nothing_else_is_lost() {
        let (tell, told) = channel();
        let error = GrantError::Call { call: "the launcher's thread", io: io::Error::other("it panicked") };
        assert_eq!(counted(Some(Err(error)), tell.clone()), Steering::default());
        assert!(matches!(told.try_recv(), Ok(Event::Trouble(_))));
        let some = Steering { taken: 7, ..Steering::default() };
        assert_eq!(counted(Some(Ok(some)), tell.clone()), some);
        assert_eq!(counted(None, tell), Steering::default());
        assert!(told.try_recv().is_err());
    }
}
