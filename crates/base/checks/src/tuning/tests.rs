use model::{
    inspection::Goal,
    settings::{IdleState, InterfaceSettings, Offload},
    tuning::QdiscReading,
};

use super::*;

fn value(setting: &str, value: &str) -> ProfileValue {
    ProfileValue {
        setting: setting.parse().expect("a setting"),
        value: value.into(),
        at_least: false,
        instead_of: vec![],
        when: Default::default(),
        why: "a reason".into(),
        source: "a manual".into(),
    }
}

fn at_least(setting: &str, least: &str) -> ProfileValue {
    ProfileValue { at_least: true, ..value(setting, least) }
}

fn card() -> InterfaceReading {
    let numbers = [
        ("rings", vec![4096, 0, 0, 0, 512, 0, 0, 0]),
        ("channels", vec![0, 0, 1, 8, 0, 0, 1, 4]),
        ("coalescing", [vec![1], vec![0; 21]].concat()),
    ];
    let offloads =
        [("rx-lro", Offload { on: true, changeable: true }), ("rx-gro-hw", Offload { on: false, changeable: false })];
    let interrupt = |number: u32, allowed: &str| Interrupt { number, allowed: allowed.into(), ..Interrupt::default() };
    let files = [("queues/tx-0/xps_cpus", "f"), ("queues/tx-1/xps_cpus", "0a"), ("gro_flush_timeout", "0")];
    InterfaceReading {
        name: "eth1".into(),
        mac: "02:00:00:00:00:01".into(),
        driver: "ixgbe".into(),
        speed: Some(BitRate(10_000_000_000)),
        mtu: Mtu(1500),
        mtus: Some((68, 9710)),
        settings: InterfaceSettings {
            numbers: BTreeMap::from(numbers.map(|(name, values)| (name.to_owned(), values))).into(),
            offloads: BTreeMap::from(offloads.map(|(name, state)| (name.to_owned(), state))).into(),
            interrupts: vec![interrupt(40, "0-3"), interrupt(41, "1")].into(),
            node_cores: vec![0, 1],
            ..InterfaceSettings::default()
        },
        qdisc: QdiscReading { kind: "pfifo_fast".into(), lasting: vec![] }.into(),
        files: files.map(|(name, value)| (name.to_owned(), value.into())).into(),
        ..InterfaceReading::default()
    }
}

fn idle(latency_us: u64) -> (String, IdleState) {
    let name = format!("C{latency_us}");
    (format!("cpuidle/{name}"), IdleState { name, latency_us, enabled: true })
}

fn readings(interfaces: Vec<InterfaceReading>) -> TuningReadings {
    TuningReadings {
        interfaces,
        sysctls: [
            ("net.core.rmem_max".into(), Reading::Known("212992".into())),
            ("net.ipv4.tcp_rmem".into(), Reading::Known("4096 131072 6291456".into())),
            ("net.secret".into(), Reading::Unreadable { path: "x".into(), why: "no rights".into() }),
        ]
        .into(),
        cores: vec![0, 1, 2, 3],
        governors: BTreeMap::from([("powersave".into(), "0-3".into())]).into(),
        known_governors: vec!["performance".into(), "powersave".into()],
        idle_states: BTreeMap::from([1, 10, 200].map(idle)).into(),
        huge_pages: Reading::Known("madvise".into()),
        command_line: Reading::Known("ro quiet isolcpus=3".into()),
        rivals: vec![],
        banned_interrupts: Reading::Absent,
    }
}

fn of(values: Vec<ProfileValue>, interfaces: Vec<InterfaceReading>) -> TuningPlan {
    let profile = Profile { values, ..Profile::default() };
    plan("test", &profile, &["eth1".into()], PathAsked::default(), &readings(interfaces))
}

fn words(plan: &TuningPlan) -> Vec<String> {
    plan.changes.iter().map(|it| format!("{}: {} -> {}", it.setting, it.before, it.wanted)).collect()
}

#[test]
fn each_setting_is_compared_with_what_was_read() {
    let values = vec![
        value("sysctl net.core.rmem_max", "67108864"),
        at_least("sysctl net.ipv4.tcp_rmem", "4096 87380 67108864"),
        value("ring-rx", "max"),
        value("rx-usecs", "0"),
        value("offload rx-lro", "off"),
        value("qdisc", "fq"),
        value("interface gro_flush_timeout", "20000"),
        value("governor", "performance"),
        value("idle-latency", "20"),
        value("transparent-hugepages", "never"),
        value("interrupts", "local"),
        value("xps", "all"),
    ];
    let plan = of(values, vec![card()]);
    let expected = [
        "ring-rx: 512 -> 4096",
        "rx-usecs: 1 -> 0",
        "offload rx-lro: on -> off",
        "qdisc: pfifo_fast -> fq",
        "interface gro_flush_timeout: 0 -> 20000",
        "interrupts: 40: 0-3, 41: 1 -> 40: 0, 41: 1",
        "xps: f -> 00000005",
        "sysctl net.core.rmem_max: 212992 -> 67108864",
        "sysctl net.ipv4.tcp_rmem: 4096 131072 6291456 -> 4096 131072 67108864",
        "governor: powersave -> performance",
        "idle-latency: 200 µs -> 20 µs",
        "transparent-hugepages: madvise -> never",
    ];
    assert_eq!(words(&plan), expected);
    assert_eq!(plan.kept.iter().map(|it| it.value.as_str()).collect::<Vec<_>>(), ["0a"], "the second queue");
    assert!(plan.changes.iter().all(|it| !it.can_cut));
}

#[test]
fn the_asked_path_decides_buffers_and_conditions_in_place_of_the_links() {
    let throughput = crate::profile(Goal::Throughput);
    let buffers = |interfaces: &[String], speed: Option<u64>, rtt_s| {
        let path = PathAsked { speed: speed.map(BitRate), rtt_s };
        let plan = plan("test", throughput, interfaces, path, &readings(vec![card()]));
        let wanted =
            |key: &str| plan.changes.iter().find(|it| it.setting.to_string() == key).map(|it| it.wanted.clone());
        [wanted("sysctl net.core.rmem_max"), wanted("sysctl net.ipv4.tcp_rmem"), wanted("ring-rx")]
    };
    let said = |all: [&str; 3]| all.map(|word| (!word.is_empty()).then(|| word.to_owned()));
    let eth1 = ["eth1".to_owned()];
    assert_eq!(buffers(&eth1, None, None), said(["67108864", "4096 131072 67108864", "4096"]));
    assert_eq!(buffers(&eth1, None, Some(0.01)), said(["25000000", "4096 131072 25000000", "4096"]));
    // It is large enough already, and a slow link needs no long ring.
    assert_eq!(buffers(&eth1, Some(1_000_000_000), Some(0.02)), said(["5000000", "", ""]));
    assert_eq!(buffers(&[], Some(25_000_000_000), None), said(["134217728", "4096 131072 134217728", ""]));
}

#[test]
fn a_value_that_cannot_be_set_says_why() {
    let why = |value: ProfileValue| {
        let plan = of(vec![value], vec![card()]);
        assert_eq!(plan.changes, []);
        plan.left_out.into_iter().next().map(|it| it.why)
    };
    assert_eq!(why(value("ring-tx", "max")), Some(WhyLeftOut::Absent));
    assert_eq!(why(value("ring-rx", "9000")), Some(WhyLeftOut::OutOfRange { range: "0-4096".into() }));
    assert_eq!(why(value("offload rx-gro-hw", "on")), Some(WhyLeftOut::Fixed));
    assert_eq!(why(value("sysctl net.secret", "1")), Some(WhyLeftOut::Unreadable { cause: "no rights".into() }));
    let known = "performance, powersave".to_owned();
    assert_eq!(why(value("governor", "schedutil")), Some(WhyLeftOut::NoGovernor { known }));
    assert_eq!(why(value("mtu", "9999")), Some(WhyLeftOut::OutOfRange { range: "68-9710".into() }));
    let mut only_slow = value("rx-usecs", "0");
    only_slow.when.speed_below = Some(BitRate(1_000_000_000));
    assert_eq!(why(only_slow), Some(WhyLeftOut::Condition));
    assert_eq!(why(value("boot isolcpus", "2")), None, "it is on the command line");
    let by_hand = of(vec![value("boot nohz_full", "2-3")], vec![card()]).by_hand;
    assert_eq!(by_hand[0].parameter, "nohz_full=2-3");
}

#[test]
fn interrupts_wait_for_another_number_of_queues() {
    let plan = of(vec![value("interrupts", "local"), value("channels-combined", "max")], vec![card()]);
    assert_eq!(words(&plan), ["channels-combined: 4 -> 8"]);
    assert_eq!(plan.left_out[0].why, WhyLeftOut::Renumbered);
}

#[test]
fn irqbalance_is_told_to_leave_placed_interrupts_alone() {
    let with = |banned: Reading<BTreeSet<u32>>| {
        let rivals = vec!["irqbalance".to_owned(), "tuned".into()];
        let readings = TuningReadings { rivals, banned_interrupts: banned, ..readings(vec![card()]) };
        let profile = Profile { values: vec![value("interrupts", "local")], ..Profile::default() };
        plan("test", &profile, &["eth1".into()], PathAsked::default(), &readings)
    };
    let pinned = "interrupts: 40: 0-3, 41: 1 -> 40: 0, 41: 1";
    let asked = with(Reading::Known([9, 41].into()));
    assert_eq!(words(&asked), ["interrupts: --banirq 9 41 -> --banirq 9 40 41", pinned], "first the ban");
    assert_eq!(asked.rivals, ["tuned"]);
    let free = with(Reading::Known([].into()));
    assert_eq!(words(&free)[0], "interrupts: --banirq -> --banirq 40 41");
    let mute = with(Reading::Absent);
    assert_eq!((words(&mute).len(), mute.rivals.len()), (1, 2), "one that cannot be told is named");
    let full = with(Reading::Known((1_000..1_050).collect()));
    assert_eq!((words(&full).len(), full.rivals.len()), (1, 2), "it would not read the whole list");
    assert_eq!(words(&with(Reading::Known([40, 41].into()))), [pinned]);
}

#[test]
fn a_way_by_which_one_came_can_be_cut_by_its_own_interface_alone() {
    let values = vec![value("ring-rx", "max"), value("sysctl net.core.rmem_max", "1"), value("interrupts", "local")];
    let plan = of(values, vec![InterfaceReading { carries_us: true, ..card() }]);
    assert_eq!(plan.changes.iter().map(|it| it.can_cut).collect::<Vec<_>>(), [true, false, false]);
}

#[test]
fn the_mtu_of_a_path_is_raised_from_below_and_lowered_from_above() {
    let on = |name: &str, mtu: u32, master: Option<&str>, lower: Option<&str>| InterfaceReading {
        name: name.into(),
        mtu: Mtu(mtu),
        master: master.map(str::to_owned),
        lower: lower.map(str::to_owned),
        ..InterfaceReading::default()
    };
    let path = |mtu: u32| {
        vec![
            on("br0", mtu, None, None),
            on("br0.5", mtu, None, Some("br0")),
            on("eth1", mtu, Some("br0"), None),
            on("tap0", mtu, Some("br0"), None),
            on("other", 1500, None, None),
        ]
    };
    let order =
        |plan: &TuningPlan| -> Vec<String> { plan.changes.iter().filter_map(|it| it.interface.clone()).collect() };
    assert_eq!(order(&of(vec![value("mtu", "9000")], path(1500))), ["eth1", "tap0", "br0", "br0.5"]);
    assert_eq!(order(&of(vec![value("mtu", "1500")], path(9000))), ["br0.5", "br0", "tap0", "eth1"]);
    let mut narrow = path(1500);
    narrow[3].mtus = Some((68, 4000));
    let plan = of(vec![value("mtu", "9000")], narrow);
    assert_eq!((plan.changes.len(), plan.left_out[0].interface.as_deref()), (0, Some("tap0")));
}

#[test]
fn masks_are_compared_without_leading_zeros() {
    assert_eq!(bits("00000000,0000000A"), "a");
}

#[test]
fn what_could_not_be_read_is_not_taken_for_missing_and_is_not_changed() {
    fn refused<T>() -> Reading<T> {
        Reading::Unreadable { path: "/sys/x".into(), why: "no rights".into() }
    }
    let unreadable = Interrupt { number: 42, allowed: refused(), ..Interrupt::default() };
    let settings = InterfaceSettings {
        numbers: refused(),
        offloads: refused(),
        interrupts: vec![unreadable].into(),
        ..InterfaceSettings::default()
    };
    let files = card().files.into_keys().map(|name| (name, refused())).collect();
    let card = InterfaceReading { settings, qdisc: refused(), files, ..card() };
    let readings = TuningReadings {
        governors: refused(),
        idle_states: refused(),
        huge_pages: refused(),
        command_line: refused(),
        ..readings(vec![card])
    };
    let settings = [
        ("ring-rx", "max"),
        ("offload rx-lro", "off"),
        ("interrupts", "all"),
        ("xps", "all"),
        ("qdisc", "fq"),
        ("interface gro_flush_timeout", "20000"),
        ("governor", "performance"),
        ("idle-latency", "20"),
        ("transparent-hugepages", "never"),
        ("boot nohz_full", "2-3"),
    ];
    for (setting, wanted) in settings {
        let profile = Profile { values: vec![value(setting, wanted)], ..Profile::default() };
        let plan = plan("test", &profile, &["eth1".into()], PathAsked::default(), &readings);
        assert_eq!((plan.changes.len(), plan.kept.len(), plan.by_hand.len()), (0, 0, 0), "{setting}");
        let why = WhyLeftOut::Unreadable { cause: "no rights".into() };
        assert!(!plan.left_out.is_empty() && plan.left_out.iter().all(|it| it.why == why), "{setting}: {plan:?}");
    }
}

#[test]
fn files_for_the_next_boot_say_the_same_and_name_what_they_cannot() {
    let values = vec![
        value("sysctl net.core.rmem_max", "67108864"),
        value("ring-rx", "max"),
        value("offload rx-lro", "off"),
        value("governor", "performance"),
        value("interrupts", "local"),
    ];
    let plan = of(values, vec![card()]);
    let Persisted { files, passing } = persisted(&plan, &readings(vec![card()]));
    assert_eq!(files.len(), 2);
    assert!(files.iter().all(|file| file.text.starts_with("# Written by wireproof tune.")));
    assert!(files[0].text.ends_with("\nnet.core.rmem_max = 67108864\n"), "{files:?}");
    let rule = "ACTION==\"add\", SUBSYSTEM==\"net\", ATTR{address}==\"02:00:00:00:00:01\", NAME==\"eth1\", \
                RUN+=\"/sbin/ethtool -G eth1 rx 4096\"\n";
    assert!(files[1].text.contains(rule), "{files:?}");
    assert!(files[1].text.contains("ethtool -K eth1 rx-lro off") && files[1].text.contains("scaling_governor"));
    assert_eq!(passing.len(), 1);
}
