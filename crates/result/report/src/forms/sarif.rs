//! A run as SARIF 2.1.0, for systems that show findings.

use serde_json::{Value, json};

use super::cases::{Case, Cases, Ending};
use crate::material::Material;

/// Rules, each with its description.
const RULES: [(&str, &str); 5] = [
    ("criterion", "A limit of the plan"),
    ("card", "Health of a card"),
    ("item", "An item that a person verified"),
    ("run", "The whole plan was measured"),
    ("doubt", "A reason to doubt figures of the run"),
];

/// Failed and open criteria of a run, and its doubts, as SARIF. English always.
pub fn sarif(material: &Material<'_>) -> String {
    let run = material.run;
    let Cases { cases, doubts } = Cases::of(material);
    let results = cases.iter().filter_map(of_case);
    let doubts = doubts.iter().map(|doubt| result("doubt", "warning", "doubt", doubt));
    let rule = |(id, words): (&str, &str)| json!({ "id": id, "shortDescription": { "text": words } });
    let document = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "wireproof",
                "version": run.wireproof,
                "rules": RULES.map(rule),
            } },
            "automationDetails": { "id": format!("wireproof/{}/{}", run.plan.name, run.id) },
            "invocations": [{
                "executionSuccessful": !run.partial,
                "startTimeUtc": run.started,
            }],
            "results": results.chain(doubts).collect::<Vec<Value>>(),
        }],
    });
    model::plain::plain_json(&model::json::pretty(&document.to_string()))
}

/// Nothing of what passed: each result is something to look at.
fn of_case(case: &Case) -> Option<Value> {
    match &case.ending {
        Ending::Passed => None,
        Ending::Failed(why) => Some(result(case.kind, "error", &case.name, why)),
        Ending::Skipped(why) => Some(result(case.kind, "note", &case.name, why)),
    }
}

/// A result at the plan beside the report. Its fingerprint is its name, so that a system knows it again in the next run.
fn result(rule: &str, level: &str, name: &str, why: &str) -> Value {
    let text = if name == rule { why.to_owned() } else { format!("{name}: {why}") };
    json!({
        "ruleId": rule,
        "level": level,
        "message": { "text": text },
        "locations": [{
            "physicalLocation": {
                "artifactLocation": { "uri": "raw/plan.toml" },
                "region": { "startLine": 1 },
            },
            "logicalLocations": [{ "fullyQualifiedName": name, "kind": "resource" }],
        }],
        "partialFingerprints": { "name/v1": if name == rule { why } else { name } },
    })
}
