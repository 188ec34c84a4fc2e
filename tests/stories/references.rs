//! References: listed, added by the user, imported from other tools, and compared with a run.

use std::fs;

use crate::program::{Desk, SMALL, text};

const MINE: &str = r#"
id = "mine"
title = { en = "The same bed, measured by hand" }
kind = "somebody"
[conditions]
simulated = true
protocol = "tcp"
[[figures]]
metric = "goodput"
statistic = "mean"
value = "1 Gbit/s"
"#;

#[test]
fn a_run_stands_beside_published_figures_and_the_users_own() {
    let desk = Desk::new();
    let own = desk.path("references");
    fs::create_dir_all(&own).unwrap();
    fs::write(own.join("mine.toml"), MINE).unwrap();
    let iperf3 = concat!(env!("CARGO_MANIFEST_DIR"), "/crates/result/import/tests/files/iperf3-tcp.json");
    let first = desk.run(&["import", iperf3, "--name", "by-iperf3", "--condition", "simulated=true"]);
    assert_eq!(first.status, 0, "{}", first.err);
    desk.run(&["import", iperf3, "--name", "by-iperf3"]).fails(2, &["by-iperf3", "give another --name"]);

    let listed = desk.run(&["references", "--json"]).json();
    let ids: Vec<_> = listed["references"].as_array().unwrap().iter().filter_map(|it| it["id"].as_str()).collect();
    assert_eq!(ids.len(), 7, "{ids:?}");
    assert!(ids.contains(&"rx2540-exanic-2015") && ids.contains(&"mine") && ids.contains(&"by-iperf3"));

    let plan = desk.plan(SMALL.as_bytes());
    let none = desk.run(&["verify", text(&plan), "--json"]).json();
    assert_eq!(none["comparisons"], serde_json::json!([]), "a simulated run stands beside nothing unless asked");
    let asked = desk.run(&["report", "last", "--json", "--references", "mine,by-iperf3,rx2540-exanic-2015"]).json();
    let comparison = |id: &str| {
        let all = asked["comparisons"].as_array().unwrap();
        all.iter().find(|it| it["reference"]["id"] == id).unwrap_or_else(|| panic!("{id} is not there")).clone()
    };
    assert_eq!(comparison("mine")["rows"][0]["match"], "comparable");
    assert_eq!(comparison("by-iperf3")["rows"][0]["conditions"][0]["condition"], "duration");
    assert_eq!(comparison("rx2540-exanic-2015")["rows"][0]["conditions"][0]["condition"], "simulated");
}

#[test]
fn a_broken_file_is_named_and_the_rest_still_works() {
    let desk = Desk::new();
    let own = desk.path("references");
    fs::create_dir_all(&own).unwrap();
    fs::write(own.join("broken.toml"), MINE.replace("Gbit/s", "GB/s")).unwrap();
    desk.run(&["references"]).fails(2, &["broken.toml is left out", "line 11", "unknown unit \"GB/s\""]);
    fs::write(own.join("broken.toml"), MINE).unwrap();
    assert_eq!(desk.run(&["references"]).status, 0);
    desk.run(&["verify", "--references", "other", "--dry-run"]).fails(2, &["no reference \"other\"", "mine"]);
    desk.run(&["import", text(&own.join("mine.toml"))]).fails(2, &["mine.toml", "No such file"]);
    desk.run(&["import", text(&own.join("broken.toml"))]).fails(2, &["no output that can be imported", "iperf3 -J"]);
}
