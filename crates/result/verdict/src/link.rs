//! The link between the ends of a bed.

use model::Run;

/// Speed of the slower end's interface, where its driver knows one.
pub(crate) fn speed_mbps(run: &Run) -> Option<u32> {
    let speed = |end: &model::Endpoint| {
        let facts = run.before.endpoints.iter().find(|facts| facts.endpoint == end.name)?;
        facts.interfaces.iter().find(|interface| interface.name == end.interface)?.speed_mbps
    };
    run.bed.endpoints.iter().filter_map(speed).min()
}
