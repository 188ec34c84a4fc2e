//! Differences between two runs beside their figures.

use model::{Bed, Environment, Reading, Run, difference::differences};

/// In words, a line each: program, plan, bed, machines.
pub(super) fn changed(reference: &Run, run: &Run) -> Vec<String> {
    let part = |name: &str, differences: Vec<String>| -> Vec<String> {
        differences.into_iter().map(|difference| format!("{name} {difference}")).collect()
    };
    let program = differences(&reference.wireproof, &run.wireproof);
    [
        program.into_iter().map(|versions| format!("program: {versions}")).collect(),
        // Configurations that one of the runs alone has are named as such.
        part("plan", differences(&reference.plan.frame(), &run.plan.frame())),
        part("bed", differences(&lasting_bed(&reference.bed), &lasting_bed(&run.bed))),
        lasting(reference).differences(&lasting(run)),
    ]
    .concat()
}

/// The bed without names that are new each time.
fn lasting_bed(bed: &Bed) -> Bed {
    let mut bed = bed.clone();
    // Kind, name and device differ where this does, and runs of earlier versions do not name it.
    bed.layout.clear();
    for end in &mut bed.endpoints {
        end.namespace.clear();
        end.interface.clear();
    }
    bed
}

/// The machines without what is new each time: a virtual interface gets another hardware address, and an address made of that.
fn lasting(run: &Run) -> Environment {
    let mut before = run.before.clone();
    if run.bed.simulated {
        for interface in before.endpoints.iter_mut().flat_map(|end| &mut end.interfaces) {
            interface.mac = Reading::Absent;
            interface.addresses.retain(|address| !address.starts_with("fe80:"));
        }
    }
    before
}
