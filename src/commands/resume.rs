//! Going on with a run that was interrupted, killed or lost power.

use std::{
    path::Path,
    thread,
    time::{Duration, Instant},
};

use anyhow::bail;
use bed::{BedRef, Wanted};
use model::{Bed, BedKind, Run, RunId};
use store::Store;

use super::{
    measure::{Desk, obtain_privilege, stamps},
    own_program,
};
use crate::{
    cli::{Common, Reach, ReportFiles, TakePorts},
    exit::Exit,
    paths,
};

/// How long the agents of a program that was killed may take to undo what they changed.
const FAREWELL: Duration = Duration::from_secs(10);

/// Where network namespaces have their names.
const NAMESPACES: &str = "/run/netns";

/// `wireproof resume RUN`
pub(super) fn resume(id: &RunId, files: &ReportFiles, reach: &Reach, common: &Common) -> anyhow::Result<Exit> {
    let store_path = paths::store(common.store.as_deref())?;
    // There has to be one already.
    drop(Store::open_to_read(&store_path)?);
    let desk = Desk::open(store_path, files, common)?;
    let run = if id.0 == "last" { desk.store().last()? } else { desk.store().load(id)? };
    let _under_way = desk.take(&run.id)?;
    let reference: BedRef = run.bed.name.parse()?;
    let wanted = Wanted {
        mtu: run.bed.endpoints.first().map(|end| end.mtu),
        cpus: cores(&run.bed),
        wrap: run.bed.wrap.clone(),
        taking: TakePorts::told(&run.command),
        stamps: stamps(&run.plan),
        privilege: obtain_privilege(&reference, common)?,
        program: own_program()?,
        reach: reach.of_bed(),
        bed: reference,
    };
    wait_for_its_agents(&run, &wanted)?;
    // It may have come to its end by itself meanwhile.
    let run = desk.store().load(&run.id)?;
    run::check_resumable(&run, &bed::survey(&wanted.program)?.host)?;
    let missing = run::missing_steps(&run);
    desk.measure(&wanted, &missing, |session, record, interrupt| {
        run::resume(run, agent::build(), session, record, interrupt)
    })
}

/// The cores that it was measured on so far.
fn cores(bed: &Bed) -> Option<[Vec<usize>; 2]> {
    let (near, far) = (bed.senders().first()?.cpus.clone(), bed.receiver()?.cpus.clone());
    let is_alike = bed.senders().iter().all(|end| end.cpus == near);
    (is_alike && !near.is_empty() && !far.is_empty()).then_some([near, far])
}

/// The agents of a program that was killed may still be at work on the bed that was made for the run.
fn wait_for_its_agents(run: &Run, wanted: &Wanted) -> anyhow::Result<()> {
    if !matches!(
        (&wanted.bed, run.bed.kind),
        (BedRef::Lab | BedRef::Senders(_), BedKind::Lab) | (BedRef::Ports(_), BedKind::Ports)
    ) {
        return Ok(());
    }
    let until = Instant::now() + FAREWELL;
    loop {
        bed::clean(&wanted.program)?;
        if !run.bed.endpoints.iter().any(|end| Path::new(NAMESPACES).join(&end.namespace).exists()) {
            return Ok(());
        }
        if Instant::now() > until {
            bail!("the bed that run {} was measured on is still being taken down; try again in a moment", run.id);
        }
        thread::sleep(Duration::from_millis(200));
    }
}
