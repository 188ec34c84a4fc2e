use model::bypass::{
    KernelCounted, Kind, NotHandedOver, Passed, Refusal, TrustedCounts, UngrantedSockets, UnlistedSockets,
};

use super::*;

fn both() -> [Words; 2] {
    [Lang::En, Lang::Ja].map(Words::of)
}

/// Errors and JSON say it in the same words as the text in English.
fn is_in_both(english: &impl Display, said: impl Fn(Words) -> String) {
    let [en, ja] = both().map(said);
    assert_eq!(en, english.to_string());
    assert!(ja != en && !ja.contains('⟦'), "{ja}");
}

#[test]
fn every_reason_is_said_in_both_languages() {
    for reason in Reason::ALL {
        is_in_both(reason, |words| words.reason(*reason));
        let japanese = Words::of(Lang::Ja).reason(*reason);
        let options = reason.to_string().split(['(', ',', ')']).filter(|it| it.contains('_')).count();
        assert_eq!(japanese.split(['(', '、', ')']).filter(|it| it.contains('_')).count(), options, "{japanese}");
    }
}

#[test]
fn what_keeps_programs_interfaces_and_cards_from_it_is_said_in_both_languages() {
    let interface = || "eth1".to_owned();
    for why in [
        Hindrance::Uplink,
        Hindrance::NoEthernet,
        Hindrance::NoXdp { interface: interface() },
        Hindrance::OtherProgram { interface: interface() },
        Hindrance::Held { interface: interface(), queue: 3 },
        Hindrance::AllGone,
        Hindrance::NotOurs,
        Hindrance::HeldBy { program: "nc".into(), pid: 7 },
        Hindrance::Unanswered { seconds: 5 },
        Hindrance::Ended,
        Hindrance::Unusable { why: "mmap".into() },
    ] {
        is_in_both(&why, |words| words.hindrance(&why));
    }
    for kind in [Kind::Static, Kind::Go, Kind::SetId, Kind::OtherMachine, Kind::OtherLibc] {
        let obstacle = Obstacle { program: "/bin/nc".into(), kind };
        is_in_both(&obstacle, |words| words.obstacle(&obstacle));
    }
    let why = || "ethtool -N".to_owned();
    for what in [
        NotSet::NoPolling { interface: interface() },
        NotSet::Nothing { why: why() },
        NotSet::Setting { why: why() },
        NotSet::Rule { interface: interface(), why: why() },
    ] {
        is_in_both(&what, |words| words.not_set(&what));
    }
    let error = Hindrance::Error { why: "mmap: no memory".into() };
    assert_eq!(both().map(|words| words.hindrance(&error)), ["mmap: no memory"; 2], "errors are English");
    let given_back = NotSet::GivenBack { why: why() };
    assert_eq!(both().map(|words| words.not_set(&given_back)), ["ethtool -N"; 2]);
}

/// Lines that the accounts of the other tests do not have.
fn lines(words: Words) -> Vec<String> {
    let why = Hindrance::AllGone;
    let fates = [Fate::Past, Fate::NoneDid, Fate::NoneCame, Fate::NoDatagrams, Fate::ShutDown];
    let mut lines = fates.map(|fate| words.fate(fate)).to_vec();
    lines.push(words.fate(Fate::Left { why: Reason::InterfaceGone }));
    lines.extend([Health::Well, Health::Down, Health::Gone, Health::NoProgram].map(|it| words.health("eth1", it)));
    let steering = Steering { taken: 1, no_flow: 2, no_socket: 3, too_large: 4 };
    let mut account = account();
    let unknown = words.kernel(&account);
    account.claims[0].sockets = vec![socket(Ok(()), 5)];
    account.claims[0].beyond = UnlistedSockets::default();
    account.outside.clear();
    account.outside_beyond = 1;
    let outside = words.account(&account);
    account.outside_beyond = 0;
    let flat = [(0, 0), (0, 1), (9, 9)].map(|(received, sent)| {
        account.kernel = KernelCounted { received, sent };
        words.kernel(&account)
    });
    assert!(flat[0] != flat[1] && flat[1] != flat[2] && flat[2] != unknown);
    lines.extend(flat);
    (account.claims, account.refused) = (Vec::new(), Vec::new());
    lines.push(words.unseen(&account));
    account.links.clear();
    lines.push(words.unseen(&account));
    account.obstacle = Some(Obstacle { program: "/bin/nc".into(), kind: Kind::Go });
    lines.push(words.unseen(&account));
    let lost = NotHandedOver { ring_full: 1, no_frame: 2, dropped: 3 };
    let queue = Queue { interface: "eth1".into(), number: 3, zero_copy: true, lost };
    lines.extend([
        outside,
        unknown,
        words.stays("eth1", &why),
        words.nothing(true),
        words.nothing(false),
        words.refused(&program(7), &why),
        words.queue(&Queue { zero_copy: false, ..queue.clone() }),
        words.queue(&queue),
        words.waits(1),
        words.port(&[&socket(Ok(()), 1); 4]),
        words.without_queues("nc (pid 7)", 2, &why),
        words.steering(&steering),
        words.of_program(&program(7), &socket(Ok(()), 1), 4),
        words.t.count("bypass-more-reasons", 1),
        words.t.count("bypass-more-reasons", 2),
    ]);
    lines
}

#[test]
fn every_line_is_there_in_both_languages() {
    let [en, ja] = both().map(lines);
    assert!(!en.concat().contains('⟦'), "{en:#?}");
    for (en, ja) in en.iter().zip(&ja) {
        let is_japanese = ja.chars().any(|c| ('\u{3040}'..'\u{30ff}').contains(&c));
        assert!(en.is_ascii() && is_japanese && !ja.contains('⟦'), "{en}: {ja}");
    }
}

#[test]
fn counts_read_as_they_would_be_spoken_and_what_is_nothing_is_not_said() {
    let [en, ja] = both();
    let taken = |taken: u64, too_large: u64| en.steering(&Steering { taken, too_large, ..Steering::default() });
    assert_eq!(taken(1, 0), "taken past the kernel by XDP: 1 packet");
    assert_eq!(
        taken(2, 5),
        "taken past the kernel by XDP: 2 packets; 5 to the program's ports left to the kernel, larger than a frame"
    );
    // More than 32 bits hold.
    let link = |received: u64| Link { name: "v1".into(), received: Some(received), sent: Some(7) };
    assert_eq!(en.link(&link(5_000_000_001)), "interface v1: 5000000001 packets in, 7 out, of all programs");
    assert_eq!(ja.link(&link(1)), "インターフェース v1: 受信 1 パケット、送信 7(全プログラムの合計)");
    let queue = |zero_copy: bool, no_frame: u64| {
        let lost = NotHandedOver { no_frame, ..NotHandedOver::default() };
        Queue { interface: "v1".into(), number: 0, zero_copy, lost }
    };
    assert_eq!(en.queue(&queue(false, 2)), "queue 0 of v1: copy mode, no frame 2");
    assert_eq!(ja.queue(&queue(true, 0)), "v1 のキュー 0: ゼロコピーモード");
    let unbound = Record { descriptor: 4, local: None, peer: "198.18.0.2:9".parse().ok(), ..socket(Ok(()), 0) };
    assert_eq!(en.socket(&unbound), "socket 4 (not bound to 198.18.0.2:9)");
}

#[test]
fn many_sockets_of_a_port_are_one_line() {
    let [en, _] = both();
    let of = |port: u16, descriptor: i32| Record {
        descriptor,
        local: Some(([198, 18, 0, 1], port).into()),
        ..socket(Ok(()), 5)
    };
    let few: Vec<Record> = (3..6).map(|descriptor| of(7001, descriptor)).collect();
    let many: Vec<Record> = (6..206).map(|descriptor| of(7000, descriptor)).collect();
    let refused = Record { fate: Err(Reason::Cork), ..of(7000, 300) };
    let mut claim = account().claims.remove(0);
    claim.sockets = [few, many, vec![refused]].concat();
    (claim.beyond, claim.refused) = (UnlistedSockets::default(), 0);
    let lines = en.claim(&claim);
    assert_eq!(lines.len(), 1 + 3 * 3 + 1 + 3 + 1, "{lines:#?}");
    let ways = "past the kernel 1000 in (10000 B), 0 out (0 B), 400 dropped; through it 0 in (0 B), 200 out (2000 B)";
    assert_eq!(lines[10], format!("  200 sockets at port 7000: past the kernel; {ways}"));
}

fn program(process: u32) -> Program {
    Program { process, name: "nc".to_owned() }
}

fn socket(fate: Result<(), Reason>, past: u64) -> Record {
    let past = Counted { received: past, received_bytes: 10 * past, ..Counted::default() };
    Record {
        cookie: 1,
        descriptor: 3,
        process: 7,
        fate,
        closed: false,
        local: "198.18.0.1:7000".parse().ok(),
        peer: None,
        past,
        through: Counted { sent: 1, sent_bytes: 10, ..Counted::default() },
        dropped: 2,
    }
}

/// Account of a program whose interface was taken from it.
fn account() -> Account {
    let beyond = UnlistedSockets { count: 2, ..UnlistedSockets::default() };
    let (program, other) = (program(7), program(8));
    let sockets = vec![socket(Err(Reason::InterfaceGone), 5), socket(Err(Reason::Tcp), 0)];
    // Received 5, dropped 2 by each of the two, refused 1, and handed back 3.
    let witnessed = TrustedCounts { redirected: 13, handed_back: 3 };
    let claim = Claim { program, sockets, beyond, refused: 1, queues: Vec::new(), witnessed, is_counted: true };
    let outside = UngrantedSockets { program: other.clone(), sockets: vec![socket(Err(Reason::NoGrant), 0)] };
    Account {
        links: vec![
            Link { name: "v1".to_owned(), received: None, sent: None },
            Link { name: "v2".to_owned(), received: Some(1), sent: Some(2) },
        ],
        claims: vec![claim],
        outside: vec![outside],
        outside_beyond: 0,
        refused: vec![Refusal { program: other, why: Hindrance::AllGone }],
        steering: Steering { taken: 5, ..Steering::default() },
        kernel: KernelCounted { received: 3, sent: 4 },
        obstacle: None,
        passed: Vec::new(),
    }
}

#[test]
fn an_interface_that_was_removed_is_said_to_be_and_the_program_to_have_gone_on() {
    let told = Words::of(Lang::En).account(&account());
    let expected = "\
wireproof bypass: nc (pid 7)
  socket 3 (198.18.0.1:7000): past the kernel at first, then through the kernel: its interface is gone, down, or has another XDP program
    past the kernel: 5 in (50 B), 0 out (0 B), 2 dropped as its queue was full or as it went back to the kernel
    through the kernel: 0 in (0 B), 1 out (10 B)
  socket 3 (198.18.0.1:7000): through the kernel: it is TCP, which passes through untouched for now
  and 2 sockets more: past the kernel 0 in (0 B), 0 out (0 B), 0 dropped; through it 0 in (0 B), 0 out (0 B)
  1 frame was for no socket, cut short, from an address of this machine, or had a wrong checksum
  XDP redirected 13 packets to it; its records account for all of them; 3 went back to the kernel's queue (fork, exec or stdio)
wireproof bypass: nc (pid 8): through the kernel: each interface that was bypassed is gone, or has lost wireproof's XDP program
  socket 3 (198.18.0.1:7000): through the kernel: its process was given no queues
self-reported: the lines of sockets above are the programs' own records; the counts of XDP, queues, interfaces and the kernel are not
taken past the kernel by XDP: 5 packets
interface v1: gone before the end, and its counters with it
interface v2: 1 packet in, 2 out, of all programs
the kernel's own UDP counters: 3 datagrams in, 4 out, of all programs: datagrams of sockets above that stayed with the kernel are among them";
    assert_eq!(told, expected);
}

#[test]
fn of_many_sockets_the_first_are_told_one_by_one_and_the_others_together() {
    let mut account = account();
    let at = |port: u16| Record { local: Some(([198, 18, 0, 1], port).into()), ..socket(Ok(()), 5) };
    account.claims[0].sockets = (0..MOST_SOCKETS as u16 + 3).map(at).collect();
    let told = Words::of(Lang::En).account(&account);
    assert_eq!(told.matches("): past the kernel\n").count(), MOST_SOCKETS);
    let past = "past the kernel 15 in (150 B), 0 out (0 B), 6 dropped";
    let others = format!("  and 5 sockets more: {past}; through it 0 in (0 B), 3 out (30 B)\n");
    assert!(told.contains(&others), "{told}");
}

#[test]
fn what_went_through_the_kernel_is_not_known_of_a_program_without_an_answer() {
    let mut account = account();
    (account.claims, account.outside) = (Vec::new(), Vec::new());
    let known = [Hindrance::AllGone, Hindrance::Ended, Hindrance::Unanswered { seconds: 5 }].map(|why| {
        account.refused = vec![Refusal { program: program(8), why }];
        account.is_flat()
    });
    assert_eq!(known, [Some(false), None, None]);
}

#[test]
fn records_are_held_against_the_count_of_xdp() {
    let mut account = account();
    let claim = &mut account.claims[0];
    claim.witnessed.redirected = 20;
    let [en, ja] = both();
    let missing = "XDP redirected 20 packets to it; 7 of them are in no record: they waited when a socket or the program ended, or the \
                   records were altered; 3 went back to the kernel's queue (fork, exec or stdio)";
    assert_eq!(en.records(claim), missing);
    // A program that wipes its records does not wipe the packets.
    (claim.sockets, claim.refused, claim.witnessed.handed_back) = (Vec::new(), 0, 0);
    assert_eq!(claim.agreement(), Agreement::Missing { packets: 20 });
    assert!(ja.records(claim).contains("うち 20 は記録にない"), "{}", ja.records(claim));
    claim.sockets = vec![socket(Ok(()), 5)];
    claim.sockets[0].past.received = u64::MAX;
    let changed =
        "XDP redirected 20 packets to it; its records list 18446744073709551595 more, so the records were altered";
    assert_eq!(en.records(claim), changed);
    account.outside.clear();
    // Changed records excuse nothing.
    account.kernel = KernelCounted { received: 0, sent: 1 };
    assert_eq!(account.is_flat(), Some(false));
    assert_eq!(en.by_the_kernel(&account), [ours(&format!("nc (pid 7): {changed}"))]);
}

#[test]
fn records_are_not_held_against_a_count_that_could_not_be_read() {
    let mut account = account();
    let claim = &mut account.claims[0];
    (claim.is_counted, claim.witnessed) = (false, TrustedCounts { redirected: 0, handed_back: 3 });
    assert_eq!(claim.agreement(), Agreement::Unknown);
    let [en, ja] = both();
    let unknown = "how many packets XDP redirected to it could not be read, so its records are compared with nothing; 3 went back to the \
                   kernel's queue (fork, exec or stdio)";
    assert_eq!(en.records(claim), unknown);
    assert!(ja.records(claim).starts_with("XDP がこのプログラムへ振り向けた数は読み取れず"), "{}", ja.records(claim));
    let told = en.by_the_kernel(&account);
    assert!(!told.iter().any(|line| line.contains("XDP redirected")), "{told:?}");
    let document = serde_json::to_value(crate::BypassDocument::of(&account)).unwrap();
    let xdp = ["redirected", "handed_back", "in_no_record", "records_exceed_by"]
        .map(|name| document["programs"][0]["xdp"][name].as_u64());
    assert_eq!(xdp, [None, Some(3), None, None]);
}

#[test]
fn all_of_it_is_said_in_japanese() {
    let (account, words) = (account(), Words::of(Lang::Ja));
    let told = words.account(&account);
    for line in told.lines().chain(words.by_the_kernel(&account).iter().map(String::as_str)) {
        let is_japanese = line.chars().any(|c| ('\u{3040}'..'\u{30ff}').contains(&c));
        let is_name = line == "wireproof bypass: nc (pid 7)";
        assert!((is_japanese || is_name) && !line.contains("kernel"), "{line}");
    }
    assert!(told.contains("ソケット 3(198.18.0.1:7000): 途中までバイパス、以後カーネル経由: "), "{told}");
    let removed = words.health("v1", Health::Gone);
    assert_eq!(removed, "v1 がなくなりました。そのソケットはカーネルを経由します");
}

#[test]
fn sockets_that_stay_with_the_kernel_are_said_in_a_line_each_and_those_of_tcp_together() {
    let said = Words::of(Lang::En).by_the_kernel(&account());
    let first =
        "socket 3 (198.18.0.1:7000) of nc: past the kernel at first, then through the kernel: its interface is gone";
    assert!(said[0].starts_with(&ours(first)), "{said:?}");
    assert_eq!(said[2..], [ours("TCP passes through untouched for now: 1 socket")]);
}

#[test]
fn the_document_of_it_keeps_to_its_schema_and_to_its_names() {
    let mut account = account();
    let lost = NotHandedOver { ring_full: 1, ..NotHandedOver::default() };
    account.claims[0].queues = vec![Queue { interface: "v2".to_owned(), number: 0, zero_copy: true, lost }];
    account.passed = vec![Passed { interface: "eth0".to_owned(), why: Hindrance::Uplink }];
    let document = serde_json::to_value(crate::BypassDocument::of(&account)).unwrap();
    let shape = crate::SHAPES.iter().find(|shape| shape.name == "bypass").unwrap();
    let validator = jsonschema::validator_for(&(shape.schema)()).unwrap();
    let errors: Vec<_> = validator.iter_errors(&document).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    let [claimed, outside] = [&document["programs"][0], &document["programs"][1]];
    assert_eq!(
        (&claimed["pid"], &claimed["granted"], &claimed["more_sockets"]["count"]),
        (&7.into(), &true.into(), &2.into())
    );
    assert_eq!((&claimed["refused_frames"], &claimed["queues"][0]["ring_full"]), (&1.into(), &1.into()));
    assert_eq!(claimed["sockets"][0]["why_not"], "its interface is gone, down, or has another XDP program");
    assert_eq!((&outside["granted"], outside.get("queues")), (&false.into(), None));
    assert_eq!((&claimed["self_reported"], &outside["self_reported"]), (&true.into(), &true.into()));
    let xdp = ["redirected", "handed_back", "in_no_record", "records_exceed_by"].map(|name| &claimed["xdp"][name]);
    // One packet found the ring full.
    assert_eq!(xdp, [13, 3, 0, 1].map(serde_json::Value::from).each_ref());
    assert_eq!(document["interfaces_not_bypassed"][0]["name"], "eth0");
    assert!(document["kernel"]["flat"].is_null() && document["kernel"]["sent"] == 4, "{document:#}");
}
