//! Conversion of a version 1 store's runs and trials to those of version 2. There the probes were fewer and knew less; what they did
//! not know yet is filled in as it was in truth (there was no rate, no other direction), or as not known. What has another shape stays
//! as it is, and is refused when it is read.

use serde_json::{Value, json};

/// A run: an endpoint may have several cores, and the bed says how its clocks stand to each other.
pub(crate) fn run(body: &mut Value) {
    if !body["bed"].is_object() {
        return;
    }
    body["bed"]["clocks"] = json!({ "relation": "same" });
    if let Some(endpoints) = body["bed"]["endpoints"].as_array_mut() {
        for endpoint in endpoints.iter_mut().filter(|endpoint| endpoint.is_object()) {
            endpoint["cpus"] = list(endpoint["cpu"].take());
        }
    }
}

/// A trial: cores are lists, counters of both ends stand beside the figures, and what limited it is no longer stored.
pub(crate) fn trial(body: &mut Value) {
    if !["spec", "result"].iter().all(|part| body["measured"][part].is_object()) {
        return;
    }
    let seconds = body["duration_s"].clone();
    let cpu = body["measured"]["result"]["cpu"].take();
    let counters = |cpu: Value| json!({ "seconds": seconds, "cpu": cpu, "deltas": [] });
    body["counters"] = json!([counters(json!([])), counters(if cpu.is_null() { json!([]) } else { cpu })]);
    if let Some(cpus) = body["cpus"].as_array_mut() {
        cpus.iter_mut().for_each(|cpu| *cpu = list(cpu.take()));
    }
    let ends = (body["endpoint_from"].clone(), body["endpoint_to"].clone());
    let measured = &mut body["measured"];
    match measured["probe"].as_str() {
        Some("latency") => latency(measured),
        Some("goodput") => goodput(measured, ends),
        _ => {}
    }
}

fn list(value: Value) -> Value {
    if value.is_null() { json!([]) } else { json!([value]) }
}

fn latency(measured: &mut Value) {
    let spec = &mut measured["spec"];
    spec["amount"] = json!({ "count": spec["count"].take() });
    fill(spec, json!({ "rate": null, "stamps": false }));
    let frame_size = spec["frame_size"].clone();
    fill(
        &mut measured["result"],
        json!({
            "frame_size": frame_size, "duplicated": 0, "overflowed": 0, "intended_pps": null, "pacing": null,
            "variation": { "rtt_ns": { "n": 0 } }, "one_way": null, "stages": [], "hardware_stamps": false, "napi": null,
        }),
    );
}

fn goodput(measured: &mut Value, (from, to): (Value, Value)) {
    fill(
        &mut measured["spec"],
        json!({
            "direction": "forward", "mtu": null, "window": null, "congestion": null, "send": "write", "receive": "read",
            "datagram": null, "batch": "mmsg", "rate": null,
        }),
    );
    let old = measured["result"].take();
    let counted_s = |bytes: &str, rate: &str| {
        let (bytes, rate) = (old[bytes].as_f64().unwrap_or_default(), old[rate].as_f64().unwrap_or_default());
        if rate > 0.0 { bytes * 8.0 / rate } else { 0.0 }
    };
    // Only the sum of what was sent again is known of the connections.
    let connections = json!({
        "congestion": "", "rtt_us": 0, "rtt_var_us": 0, "min_rtt_us": 0, "cwnd_segments": 0, "mss": 0, "path_mtu": 0,
        "retransmits": old["retransmits"], "reorderings": 0, "busy_us": 0, "receive_window_limited_us": 0,
        "send_buffer_limited_us": 0, "timestamps": false,
    });
    let sent = json!({
        "counted_bytes": old["sent_bytes"], "counted_s": counted_s("sent_bytes", "sent_bps"),
        "total_bytes": old["sent_bytes"], "tcp": [connections], "datagrams": null, "zero_copied": null,
        "buffer_full": 0, "buffer": null,
    });
    let received = json!({
        "counted_bytes": old["received_bytes"], "counted_s": counted_s("received_bytes", "mean_bps"),
        "total_bytes": old["received_bytes"], "intervals_bps": old["intervals_bps"], "warmup_s": old["warmup_s"],
        "ended_early": false, "datagrams": null, "buffer": null,
    });
    let flow = json!({ "from": from, "to": to, "sent": sent, "received": received });
    measured["result"] = json!({ "mtu": old["mtu"], "flows": [flow] });
}

fn fill(place: &mut Value, more: Value) {
    if let (Some(place), Value::Object(more)) = (place.as_object_mut(), more) {
        place.extend(more);
    }
}
