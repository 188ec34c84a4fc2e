//! The tester alone.

use model::{Run, Trial};

use crate::{columns::Columns, page::Block, probes, texts::Texts};

/// Nothing for a run whose loads the path sets the pace of.
pub(super) fn alone(run: &Run, t: &Texts) -> Option<Block> {
    let made = |trial: &Trial| probes::made_alone(&trial.measured);
    let table = Columns::new()
        .words(t.get("col-configuration"), |trial: &Trial| probes::configuration(&trial.measured.spec(), t))
        .figures(t.get("col-made-alone"), |trial| made(trial)[0].clone())
        .figures(t.get("col-rtt-p99-alone"), |trial| made(trial)[1].clone())
        .table(t.get("alone-note"), &run.self_tests);
    (!run.self_tests.is_empty()).then(|| Block::section(t.get("table-alone"), vec![table]))
}
