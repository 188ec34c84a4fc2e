//! Interrupts of a card that a tuning placed, beside a running irqbalance.

use serde_json::Value;

use crate::{lab::Lab, machine::Machine};

/// All cores in turn; nothing else that could give the card new interrupts.
const PROFILE: &str = "printf '[[value]]\\nsetting = \"interrupts\"\\nvalue = \"all\"\\nwhy = \"w\"\\nsource = \"s\"\\n' >/tmp/placed.toml";

/// Start as by its service, which systemd gives the folder.
const START: &str = "mkdir -p /run/irqbalance && irqbalance --interval=1";

const ANSWERS: &str = "ls /run/irqbalance/irqbalance*.sock >/dev/null 2>&1";

/// Numbers of the interrupts of the card, each with the cores that it may go to.
const AFFINITY: &str = "for n in $(ls /sys/class/net/i1/device/msi_irqs); do echo $n $(cat /proc/irq/$n/smp_affinity_list 2>/dev/null); done";

/// Settings that a plan of tuning would make: what stands there before, and what is wanted.
fn planned(machine: &mut Machine) -> Vec<[String; 2]> {
    let plan = machine.wireproof("tune plan --json --profile /tmp/placed.toml --dev i1").ok().json();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let changes = plan["changes"].as_array().unwrap().iter();
    changes.map(|change| ["before", "wanted"].map(|key| text(&change[key]))).collect()
}

fn affinity(machine: &mut Machine) -> String {
    machine.sh(AFFINITY).ok().out
}

#[test]
fn placed_interrupts_stay_beside_a_running_irqbalance_which_gets_them_back() {
    let mut lab = Lab::with_two_processors();
    let cards = lab.pair("e1000e", ["i1", "i2"]);
    let mut machine = lab.boot("interrupts", &cards);
    machine.sh("ip link set i1 up && ip link set i2 up").ok();
    machine.until("grep -qx 1 /sys/class/net/i1/carrier");
    machine.sh(PROFILE).ok();
    machine.sh(START).ok();
    machine.until(ANSWERS);
    // It looks at all interrupts once a second, and places each that it has not seen yet.
    machine.sh("sleep 3").ok();
    // The tuning has something to do: several cores are allowed now.
    let before = affinity(&mut machine);
    let bans = planned(&mut machine).into_iter().find(|[before, _]| before.starts_with("--banirq"));
    let [none, all] = bans.unwrap_or_else(|| panic!("it runs, and nothing is to be banned: {before}"));
    assert_eq!(none, "--banirq");
    let numbers: Vec<&str> = before.lines().filter_map(|line| line.split(' ').next()).collect();
    assert!(numbers.len() > 1 && numbers.iter().all(|number| all.contains(number)), "{all}: {before}");

    machine.wireproof("tune apply --profile /tmp/placed.toml --dev i1").ok();
    let placed = affinity(&mut machine);
    assert_ne!(placed, before, "each has one core");
    assert!(placed.lines().all(|line| line.split(' ').nth(1).is_some_and(|cores| cores.len() == 1)), "{placed}");
    assert_eq!(planned(&mut machine), [[""; 2]; 0], "all is as wanted");
    // Rounds of irqbalance, with work for the interrupts.
    machine.sh("ip address add 198.18.0.1/24 dev i1; timeout 6 ping -i 0.01 -q 198.18.0.2; true").ok();
    assert_eq!(affinity(&mut machine), placed, "irqbalance leaves them where they are");
    assert_eq!(planned(&mut machine), [[""; 2]; 0], "and has them on its list still");

    // A new one knows of no ban, and places them again at once: the next tuning bans them anew.
    machine.sh(&format!("killall irqbalance; sleep 1; {START}")).ok();
    machine.until(ANSWERS);
    machine.sh("sleep 3").ok();
    let again = planned(&mut machine);
    assert_eq!(again.first().map(|[before, _]| before.as_str()), Some("--banirq"), "{again:?}");

    machine.wireproof("tune undo --force").ok();
    let lists = |machine: &mut Machine| planned(machine).into_iter().find(|[before, _]| before.starts_with("--banirq"));
    assert_eq!(lists(&mut machine), Some([none, all]), "its list is as it was");
    machine.sh("killall irqbalance").ok();
}
