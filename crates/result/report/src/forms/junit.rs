//! A run as JUnit XML, which most CI systems show as tests.

use maud::{Markup, PreEscaped, html};

use super::cases::{Case, Cases, Ending};
use crate::material::Material;

/// The criteria of a run as a test suite in JUnit XML. English always.
pub fn junit(material: &Material<'_>) -> String {
    let run = material.run;
    let cases = Cases::of(material);
    let seconds = format!("{:.3}", run.trials.iter().map(|trial| trial.duration_s).sum::<f64>());
    let name = format!("wireproof {}", run.plan.name);
    let (count, failed, skipped) = (cases.cases.len(), cases.failed(), cases.skipped());
    let suite: Markup = html! {
        testsuites name="wireproof" tests=(count) failures=(failed) skipped=(skipped) errors="0" time=(seconds) {
            testsuite name=(name) tests=(count) failures=(failed) skipped=(skipped) errors="0" time=(seconds)
                timestamp=(run.started) {
                properties {
                    property name="run" value=(run.id) {}
                    property name="bed" value=(run.bed.name) {}
                    property name="wireproof" value=(run.wireproof) {}
                }
                @for case in &cases.cases { (test(case, &name)) }
                @if !cases.doubts.is_empty() { system-err { (cases.doubts.join("\n")) } }
            }
        }
    };
    // Characters that XML cannot have are written out.
    model::plain::plain(&format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{}\n", suite.into_string()))
}

fn test(case: &Case, suite: &str) -> Markup {
    html! {
        testcase classname=(format!("{suite}.{}", case.kind)) name=(case.name) {
            @match &case.ending {
                Ending::Passed => {}
                Ending::Failed(why) => failure message=(why) { (why) },
                Ending::Skipped(why) => skipped message=(why) {},
            }
            @if !case.figure.is_empty() { system-out { (case.figure) } }
        }
        (PreEscaped("\n"))
    }
}
