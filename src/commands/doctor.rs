//! Features of this kernel, this machine and this user, and the cost of each missing one.

use std::{path::Path, sync::atomic::AtomicBool};

use bed::{BedRef, Session, Wanted};
use kernel::{clock, file, privilege, user_namespace};
use model::{
    Engine, Privilege,
    check::{Check, Lack, Severity, Subject},
};
use report::{DoctorDocument, Lang, finding_text, lack_costs, lack_labels, lack_remedy, subject_text};
use run::Proof;
use store::{Store, StoreError};

use super::{answer, language, own_program};
use crate::{
    cli::Common,
    exit::{Exit, in_words},
    paths,
};

/// `wireproof doctor --cabling`
pub(super) fn cabling(common: &Common) -> anyhow::Result<Exit> {
    let found = bed::cabling(&own_program()?)?;
    tell(&checks::cabling(&found.tried, &found.cables, &found.left), common)?;
    Ok(Exit::Done)
}

/// `wireproof doctor`
pub(super) fn doctor(common: &Common) -> anyhow::Result<Exit> {
    // The store belongs to the user: look before a user namespace may change who we are.
    let namespaces = user_namespace::allowed().map_err(|why| why.to_string());
    let mut checks = vec![checks::store(store(common)), checks::user(privilege::current(), namespaces)];
    let program = own_program()?;
    if privilege::current() == Privilege::User
        && let Err(error) = user_namespace::become_root()
    {
        checks.push(checks::user_namespace(error.to_string()));
    }
    let privilege = privilege::current();
    if privilege != Privilege::User {
        checks.extend(machine(&program));
        checks.extend(lab(&Wanted::plain(BedRef::lab(), privilege, program)));
    }
    tell(&checks, common)?;
    let failed = checks.iter().any(|check| check.severity == Severity::Fail);
    Ok(if failed { Exit::CouldNot } else { Exit::Done })
}

/// Path of the store, if it can be written to, or made. Nothing is made yet.
fn store(common: &Common) -> Result<String, String> {
    let found = paths::store(common.store.as_deref()).and_then(|path| {
        if path.exists() {
            Store::check(&path)?;
        } else {
            file::can_be_made(&path).map_err(|source| StoreError::Create { path: path.clone(), source })?;
        }
        Ok(path.display().to_string())
    });
    found.map_err(|error| in_words(&error))
}

fn machine(program: &Path) -> Vec<Check> {
    match bed::survey(program) {
        Ok(survey) => checks::machine(&checks::Machine {
            host: survey.host,
            interfaces: survey.interfaces,
            cores: survey.lab.cpus.allowed.len(),
            ipv6: survey.lab.ipv6,
            clock_cost: clock::cost(),
        }),
        Err(error) => vec![Check::failed(Subject::Machine, error.to_string(), Lack::LabBed)],
    }
}

/// Makes a lab bed, tries each engine in it, and gives it back.
fn lab(wanted: &Wanted) -> Vec<Check> {
    let mut engines = Vec::new();
    let made = Session::open(wanted, &AtomicBool::new(false)).and_then(|mut session| {
        engines.extend(ENGINES.map(|engine| tried(engine, &mut session)));
        session.close()
    });
    let bed = checks::lab(made.map_err(|error| error.to_string()));
    [vec![bed], engines].concat()
}

const ENGINES: [Engine; 5] = [Engine::Live, Engine::Xsk, Engine::AfPacket, Engine::Udp, Engine::Pktgen];

/// Sends a few frames by an engine.
fn tried(engine: Engine, session: &mut Session) -> Check {
    let proof = run::prove(engine, session, &AtomicBool::new(false));
    let tried = proof.map(|Proof { sent, received }| (sent, received));
    checks::engine(engine, tried.map_err(|why| why.to_string()))
}

fn tell(checks: &[Check], common: &Common) -> anyhow::Result<()> {
    let lang = language(common);
    answer(&DoctorDocument::of(checks), || checks.iter().map(|check| line(check, lang)).collect(), common)
}

fn line(check: &Check, lang: Lang) -> String {
    let mark = match check.severity {
        Severity::Ok => "ok  ",
        Severity::Info => "info",
        Severity::Warn => "warn",
        Severity::Fail => "FAIL",
    };
    let found = format!("{mark}   {}: {}\n", subject_text(check.subject, lang), finding_text(&check.read, lang));
    let (costs, remedy) = lack_labels(lang);
    let more = check.lack.map(|lack| {
        format!("       {costs}: {}\n       {remedy}: {}\n", lack_costs(lack, lang), lack_remedy(lack, lang))
    });
    found + &more.unwrap_or_default()
}
