//! `wireproof tune`: sets a machine up for a goal, reversibly.

use std::{
    io::Read,
    sync::{Arc, atomic::AtomicBool},
};

use anyhow::Context;
use bed::TunedHost;
use checks::tuning::{LEAST_MTU, PathAsked, persisted, plan};
use model::{
    Nanos,
    tuning::{Condition, ProfileValue, Setting, SettingsToRead, TuningOrder, TuningPlan, TuningReadings},
};
use report::{TuneDocument, TunePlanDocument, TuneUndoneDocument};
use signal_hook::{consts::TERM_SIGNALS, flag};

use super::{answer, language, own_program};
use crate::{
    cli::{Common, TuneAction, TuneAsked, TuneHost},
    exit::{Exit, Words},
    output::print_as_it_is,
    profiles::{self, Chosen},
};

/// Time after which a change that could cut the caller's way is undone.
const CONFIRM_WITHIN: Nanos = Nanos(60_000_000_000);

/// Longest order that the holder of a tuning reads, in bytes.
const LONGEST_ORDER: u64 = 64 << 20;

/// `wireproof tune …`
pub(super) fn act(action: &TuneAction, common: &Common) -> anyhow::Result<Exit> {
    match action {
        TuneAction::Plan { asked } => {
            let (plan, _) = planned(&mut open(&asked.host)?, asked)?;
            answer(&TunePlanDocument::of(&plan), || report::tuning_plan(&plan, language(common)), common)?;
            Ok(Exit::Done)
        }
        TuneAction::Apply { asked, confirm_within, persist } => apply(asked, *confirm_within, *persist, common),
        TuneAction::Undo { host, force, forget } => {
            let undone = open(host)?.undo(*force, *forget)?;
            answer(&TuneUndoneDocument::of(&undone), || report::tuning_undone(&undone, language(common)), common)?;
            let is_complete = undone.left.is_empty() || *forget;
            Ok(if is_complete { Exit::Done } else { Exit::Inconclusive })
        }
        TuneAction::Status { host } => {
            let state = open(host)?.state()?;
            let words = || report::tuning_state(state.as_ref(), language(common));
            answer(&TuneDocument::of(state.as_ref()), words, common)?;
            Ok(Exit::Done)
        }
        TuneAction::Confirm { host } => {
            let state = open(host)?.confirm()?;
            let words = || report::tuning_state(Some(&state), language(common));
            answer(&TuneDocument::of(Some(&state)), words, common)?;
            Ok(Exit::Done)
        }
        TuneAction::Hold => hold(),
    }
}

fn open(host: &TuneHost) -> anyhow::Result<TunedHost> {
    let program = own_program()?;
    Ok(match &host.host {
        None => TunedHost::here(&program)?,
        Some(name) => TunedHost::there(name, &host.reach.of_bed(), &program)?,
    })
}

/// The plan for a machine, and its readings.
fn planned(host: &mut TunedHost, asked: &TuneAsked) -> anyhow::Result<(TuningPlan, TuningReadings)> {
    let mut chosen = match (asked.goal, &asked.profile, &asked.from) {
        (Some(goal), ..) => profiles::of_goal(goal),
        (None, Some(file), _) => profiles::of_file(file)?,
        (None, None, Some(from)) => profiles::of_other(from)?,
        (None, None, None) => return Err(Words("name a goal, a profile or where it is from".to_owned()).into()),
    };
    if let Some(mtu) = asked.mtu {
        if mtu < LEAST_MTU {
            let why = format!("--mtu {}: IPv6 needs {} (RFC 8200, section 5)", mtu.0, LEAST_MTU.0);
            return Err(Words(why).into());
        }
        chosen.profile.values.retain(|value| value.setting != Setting::Mtu);
        chosen.profile.values.push(ProfileValue {
            setting: Setting::Mtu,
            value: mtu.0.to_string(),
            at_least: false,
            instead_of: Vec::new(),
            when: Condition::default(),
            why: "mtu".to_owned(),
            source: "--mtu".to_owned(),
        });
    }
    if asked.rtt_s().is_some() && !chosen.profile.has_bdp() {
        let why = format!("--rtt: no value of {} depends on a round-trip time (bdp)", chosen.name);
        return Err(Words(why).into());
    }
    planned_on(host, chosen, &asked.dev, PathAsked { speed: asked.speed, rtt_s: asked.rtt_s() })
}

/// The plan of a profile for these interfaces of a machine, and its readings.
pub(super) fn planned_for(
    host: &mut TunedHost,
    chosen: Chosen,
    interfaces: &[String],
) -> anyhow::Result<(TuningPlan, TuningReadings)> {
    planned_on(host, chosen, interfaces, PathAsked::default())
}

/// The same for a path.
fn planned_on(
    host: &mut TunedHost,
    Chosen { name, profile, not_understood }: Chosen,
    interfaces: &[String],
    path: PathAsked,
) -> anyhow::Result<(TuningPlan, TuningReadings)> {
    let readings = host.readings(SettingsToRead {
        interfaces: interfaces.to_vec(),
        sysctls: profile.sysctls(),
        files: profile.interface_settings(),
    })?;
    for name in interfaces {
        let there: Vec<&str> = readings.interfaces.iter().map(|it| it.name.as_str()).collect();
        if !there.contains(&name.as_str()) {
            let why = format!("--dev {name}: there is no such interface there; there is {}", there.join(", "));
            return Err(Words(why).into());
        }
    }
    let plan = TuningPlan { not_understood, ..plan(&name, &profile, interfaces, path, &readings) };
    Ok((plan, readings))
}

fn apply(asked: &TuneAsked, confirm_within: Option<Nanos>, persist: bool, common: &Common) -> anyhow::Result<Exit> {
    let mut host = open(&asked.host)?;
    let (plan, readings) = planned(&mut host, asked)?;
    let lang = language(common);
    if plan.changes.is_empty() && host.state()?.is_none() {
        answer(&TuneDocument::of(None), || report::tuning_plan(&plan, lang), common)?;
        return Ok(Exit::Done);
    }
    let (files, passing) = match persist {
        true => {
            let persisted = persisted(&plan, &readings);
            (persisted.files, persisted.passing)
        }
        false => Default::default(),
    };
    let can_cut = plan.changes.iter().any(|change| change.can_cut);
    let confirm_within = confirm_within.or(can_cut.then_some(CONFIRM_WITHIN));
    let state = host.tune(TuningOrder { plan: plan.clone(), files, confirm_within })?;
    let host_words = asked.host.host.as_ref().map(ToString::to_string);
    let words =
        || report::tuning_plan(&plan, lang) + &report::tuning_made(&state, &passing, host_words.as_deref(), lang);
    answer(&TuneDocument::of(Some(&state)), words, common)?;
    Ok(Exit::Done)
}

/// Is the process that holds a tuning until it is confirmed. The plan comes on standard input.
fn hold() -> anyhow::Result<Exit> {
    let interrupt = Arc::new(AtomicBool::new(false));
    for signal in TERM_SIGNALS {
        flag::register(*signal, Arc::clone(&interrupt))?;
    }
    let mut order = String::new();
    std::io::stdin().lock().take(LONGEST_ORDER).read_to_string(&mut order).context("cannot read the plan")?;
    let tell = |said: &str| -> anyhow::Result<()> {
        print_as_it_is(said)?;
        Ok(kernel::fd::leave_terminal()?)
    };
    agent::tuning::hold::<anyhow::Error>(&order, tell, &interrupt)?;
    Ok(Exit::Done)
}
