//! Results of RFC 2544 of several runs side by side, with what tells their rows apart.

use std::collections::{BTreeMap, BTreeSet};

use model::{
    Assessment, Run,
    alike::distinct,
    core_list,
    device_table::{DeviceRow, DeviceTable},
    plan::Rfc2544Item,
    rfc2544::{Rfc2544, TestedSize},
};

/// A setting that a row does not have.
const NONE: &str = "none";

/// One table over these runs.
pub fn device_table(runs: &[(&Run, &Assessment)]) -> DeviceTable {
    let of_run = |(run, assessment): &(&Run, &Assessment)| -> Vec<DeviceRow> {
        let of_section =
            |tests: &Rfc2544| -> Vec<DeviceRow> { tests.sizes.iter().map(|size| row(run, tests, size)).collect() };
        assessment.rfc2544.iter().flat_map(of_section).collect()
    };
    let mut rows: Vec<DeviceRow> = runs.iter().flat_map(of_run).collect();
    leave_differences(&mut rows);
    let devices = distinct(rows.iter().map(|row| row.device.clone()));
    let place = |row: &DeviceRow| devices.iter().position(|device| *device == row.device);
    rows.sort_by_key(|row| {
        let mix = row.mix.as_ref().map(ToString::to_string);
        (place(row), mix, row.frame_size, row.settings.clone(), row.cores)
    });
    let has_several_machines = rows.iter().any(|row| row.machine != rows[0].machine);
    DeviceTable { rows, has_several_machines }
}

fn row(run: &Run, tests: &Rfc2544, size: &TestedSize) -> DeviceRow {
    let own = run.bed.dut.as_ref().map(|device| device.cpus.len()).filter(|cores| *cores > 0);
    let at = size.throughput.as_ref();
    DeviceRow {
        run: run.id.clone(),
        device: run.bed.name.clone(),
        machine: machine(run),
        cores: own.or(size.dut_cores),
        frame_size: size.frame_size,
        mix: size.mix.clone(),
        settings: settings(run, tests, size),
        throughput_pps: at.map(|at| at.load_pps),
        is_bounded: at.map(|at| at.is_bounded),
        is_vouched: size.is_vouched,
        ports: at.map(|at| at.ports.clone()).unwrap_or_default(),
        sum_pps: at.map(|at| at.ports.iter().map(|port| port.tx_pps + port.rx_pps).sum()),
        forwarded_pps: at.map(|at| at.forwarded_pps),
        forwarded_l1_bps: at.map(|at| at.forwarded_l1_bps),
        line_pps: size.line_pps,
        is_partial: run.partial,
    }
}

/// Name and processor of the machine that measured.
fn machine(run: &Run) -> String {
    let host = run.before.hosts.first();
    let cpu = host.and_then(|host| host.cpu_model.known()).map(|cpu| format!(" ({cpu})")).unwrap_or_default();
    host.map(|host| host.hostname.clone()).unwrap_or_default() + &cpu
}

/// All settings that a throughput depends on.
fn settings(run: &Run, tests: &Rfc2544, size: &TestedSize) -> BTreeMap<String, String> {
    let number = tests.section.rsplit_once('.').and_then(|(_, number)| number.parse::<usize>().ok());
    let item = number.and_then(|number| run.plan.rfc2544.get(number.checked_sub(1)?));
    let of_plan = item.map(Rfc2544Item::settings_of_throughput).unwrap_or_default();
    let host = run.before.hosts.first();
    let own = [
        ("modifier", size.modifier.map(|modifier| modifier.to_string())),
        ("repeat", Some(tests.repeat.to_string())),
        ("mtu", run.bed.endpoints.iter().map(|end| end.mtu.0).min().map(|mtu| mtu.to_string())),
        (
            "cpus",
            Some(
                run.bed.endpoints.iter().map(|end| core_list::written(end.cpus.clone())).collect::<Vec<_>>().join("; "),
            ),
        ),
        ("kernel", host.and_then(|host| host.kernel.known().cloned())),
        ("wireproof", Some(run.wireproof.clone())),
    ];
    let own = own.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
    of_plan.into_iter().chain(own).collect()
}

/// Leaves each row the settings that are not the same in all rows.
fn leave_differences(rows: &mut [DeviceRow]) {
    let keys: BTreeSet<String> = rows.iter().flat_map(|row| row.settings.keys().cloned()).collect();
    let differs = |key: &String| rows.iter().any(|row| row.settings.get(key) != rows[0].settings.get(key));
    let differing: Vec<String> = keys.into_iter().filter(differs).collect();
    for row in rows {
        let value = |key: &String| row.settings.get(key).cloned().unwrap_or_else(|| NONE.to_owned());
        row.settings = differing.iter().map(|key| (key.clone(), value(key))).collect();
    }
}

#[cfg(test)]
mod tests {
    use model::{
        Dut, FrameSize, Plan, RunId,
        environment::HostFacts,
        fixture,
        rfc2544::{AtThroughput, PortRates},
    };

    use super::*;
    use crate::{Chosen, assess};

    fn run(id: &str, keys: &str, cores: usize) -> Run {
        let plan = Plan::parse(&format!("name = \"t\"\n[[rfc2544]]\nrate = \"1 Mpps\"\n{keys}"), &[]).unwrap();
        let mut run = Run { id: RunId(id.to_owned()), ..fixture::run(plan) };
        run.bed.name = "lab:router".to_owned();
        run.bed.dut = Some(Dut { cpus: (0..cores).collect(), ..Dut::default() });
        run.before.hosts = vec![HostFacts { hostname: "rack".to_owned(), ..HostFacts::default() }];
        run
    }

    /// Results at these frame sizes.
    fn with_results(run: &Run, sizes: &[u32]) -> Assessment {
        let port = |port: &str, tx_pps, rx_pps| PortRates {
            port: port.to_owned(),
            tx_pps,
            rx_pps,
            tx_l1_bps: tx_pps * 672.0,
            rx_l1_bps: rx_pps * 672.0,
        };
        let at = AtThroughput {
            trial: 1,
            load_pps: 1e6,
            forwarded_pps: 2e6,
            forwarded_l1_bps: 1.3e9,
            frames: 60_000_000,
            lost: 0,
            is_bounded: false,
            ports: vec![port("a", 1e6, 1e6), port("b", 1e6, 1e6)],
        };
        let size = |size: &u32| TestedSize {
            frame_size: Some(FrameSize(*size)),
            throughput: Some(at.clone()),
            is_vouched: Some(false),
            ..TestedSize::default()
        };
        let sizes = sizes.iter().map(size).collect();
        let tests = Rfc2544 { section: "rfc2544.1".to_owned(), repeat: 1, deviations: vec![], filters: vec![], sizes };
        Assessment { rfc2544: vec![tests], ..assess(run, &[], &Chosen::None) }
    }

    #[test]
    fn rows_stand_together_by_size_and_say_what_tells_them_apart() {
        let runs = [run("r2", "ip = 6", 2), run("r1", "", 1)];
        let assessed = runs.each_ref().map(|run| with_results(run, &[64, 128]));
        let pairs: Vec<_> = runs.iter().zip(&assessed).collect();
        let table = device_table(&pairs);
        let order: Vec<_> = table.rows.iter().map(|row| (row.frame_size.unwrap().0, row.cores.unwrap())).collect();
        assert_eq!(order, [(64, 1), (64, 2), (128, 1), (128, 2)]);
        let row = &table.rows[1];
        assert_eq!(row.settings, [("ip".to_owned(), "6".to_owned())].into());
        assert_eq!(table.rows[0].settings["ip"], "4");
        assert_eq!(
            (row.sum_pps, row.forwarded_pps, row.is_bounded, row.is_vouched),
            (Some(4e6), Some(2e6), Some(false), Some(false))
        );
        assert!(!table.has_several_machines);
    }

    #[test]
    fn another_machine_is_said() {
        let mut runs = [run("r1", "", 1), run("r2", "", 1)];
        runs[1].before.hosts[0].hostname = "other".to_owned();
        let assessed = runs.each_ref().map(|run| with_results(run, &[64]));
        let table = device_table(&runs.iter().zip(&assessed).collect::<Vec<_>>());
        assert!(table.has_several_machines && table.rows[0].settings.is_empty(), "{table:?}");
    }
}
