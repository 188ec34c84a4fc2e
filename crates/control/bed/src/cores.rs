//! Selects the cores of each end. Pure.

use model::{CoreFacts, CpuFacts};

use crate::error::BedError;

/// The cores of one end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Chosen {
    /// Cores, the first for the most important thread; empty without usable ones.
    pub(crate) cpus: Vec<usize>,
    /// The reason, in English.
    pub(crate) why: String,
}

/// A physical core: its usable threads in order.
type Physical = Vec<usize>;

/// Cores for the two ends.
///
/// The choice narrows while two physical cores are left: to isolated cores or else to those without a tick, and to one
/// NUMA node, the card's.
///
/// The rest is dealt out in turn: cores without interrupts of the card first, and core 0, with the kernel's own work,
/// last.
pub(crate) fn choose(facts: &CpuFacts) -> [Chosen; 2] {
    let all = usable_cores(facts);
    if all.is_empty() {
        return [Chosen::default(), Chosen::default()];
    }
    let (kind, kept) = kind(facts, &all, 2);
    let (node, kept) = node(facts, &kept, 2);
    let physical = in_order(facts, &kept, 2);
    match physical.as_slice() {
        [only] => on_one(only, &kept),
        _ => {
            let turns = physical.len() / 2;
            [0, 1].map(|end| in_turn(facts, physical.iter().skip(end).step_by(2).take(turns), kind, node))
        }
    }
}

/// Cores for the two ends, and `count` cores for a device between them. Where fewer than two physical cores would be left for the ends, the
/// device shares theirs.
pub(crate) fn choose_beside(facts: &CpuFacts, count: usize) -> ([Chosen; 2], Vec<usize>) {
    let device = beside(facts, &[], count);
    let is_left = |core: &&CoreFacts| !device.contains(&core.cpu) && !core.may_be_sibling(&device);
    let left = CpuFacts { cores: facts.cores.iter().filter(is_left).cloned().collect(), ..facts.clone() };
    if physical(&usable_cores(&left)).len() >= 2 {
        return (choose(&left), device);
    }
    let ends = choose(facts);
    let device = beside(facts, &[ends[0].cpus.as_slice(), &ends[1].cpus].concat(), count);
    (ends, device)
}

/// `count` cores for a device, on physical cores that are not taken as far as there are any, the last ones first; fewer where the machine has
/// no more.
pub(crate) fn beside(facts: &CpuFacts, taken: &[usize], count: usize) -> Vec<usize> {
    let mut physical = physical(&usable_cores(facts));
    physical.reverse();
    physical.sort_by_key(|threads| threads.iter().any(|cpu| taken.contains(cpu)));
    let firsts = physical.iter().filter_map(|threads| threads.last());
    let siblings = physical.iter().flat_map(|threads| threads.iter().rev().skip(1));
    firsts.chain(siblings).copied().take(count).collect()
}

/// Whether soft interrupts may be moved to a core: not to one that is kept free of the kernel's work.
pub(crate) fn may_interrupt(facts: &CpuFacts, cpu: usize) -> bool {
    !facts.isolated.contains(&cpu) && !facts.nohz_full.contains(&cpu)
}

/// Cores for an end that is alone on its machine, selected in the same way.
pub(crate) fn choose_for_one(facts: &CpuFacts) -> Chosen {
    let all = usable_cores(facts);
    if all.is_empty() {
        return Chosen::default();
    }
    let (kind, kept) = kind(facts, &all, 1);
    let (node, kept) = node(facts, &kept, 1);
    in_turn(facts, in_order(facts, &kept, 1).iter(), kind, node)
}

/// Deals one side's cores out to `ends` ends in equal numbers; ends share them if there are too few.
pub(crate) fn dealt(cores: &Chosen, ends: usize) -> Vec<Chosen> {
    let Chosen { cpus, why } = cores;
    let each = (cpus.len() / ends).max(1);
    let of_end = |end: usize| Chosen {
        cpus: (0..each.min(cpus.len())).map(|turn| cpus[(end + turn * ends) % cpus.len()]).collect(),
        why: if ends > cpus.len() && !cpus.is_empty() {
            format!("{why}, shared by {ends} senders")
        } else {
            why.clone()
        },
    };
    (0..ends).map(of_end).collect()
}

/// These cores, if all of them may be used.
pub(crate) fn as_asked(cpus: &[usize], facts: &CpuFacts) -> Result<Chosen, BedError> {
    let usable: Vec<usize> = usable_cores(facts).iter().map(|core| core.cpu).collect();
    match cpus.iter().find(|cpu| !usable.contains(cpu)) {
        Some(cpu) => Err(BedError::NoSuchCore { cpu: *cpu, allowed: usable }),
        None => Ok(Chosen { cpus: cpus.to_vec(), why: "as asked for".to_owned() }),
    }
}

/// Isolated cores are not in the affinity mask, but can be pinned to all the same.
fn usable_cores(facts: &CpuFacts) -> Vec<&CoreFacts> {
    let is_usable = |core: &&CoreFacts| facts.allowed.contains(&core.cpu) || facts.isolated.contains(&core.cpu);
    facts.cores.iter().filter(is_usable).collect()
}

fn kind<'a>(facts: &CpuFacts, cores: &[&'a CoreFacts], ends: usize) -> (&'static str, Vec<&'a CoreFacts>) {
    let isolated = apart(cores, ends, |core| facts.isolated.contains(&core.cpu)).map(|kept| ("isolated ", kept));
    let tickless = || apart(cores, ends, |core| facts.nohz_full.contains(&core.cpu)).map(|kept| ("tickless ", kept));
    isolated.or_else(tickless).unwrap_or_else(|| ("", cores.to_vec()))
}

/// The card's node; without a card, the node with most of the cores, to keep the ends close.
fn node<'a>(facts: &CpuFacts, cores: &[&'a CoreFacts], ends: usize) -> (Option<usize>, Vec<&'a CoreFacts>) {
    let on = |node: usize| cores.iter().filter(|core| core.node == Some(node)).count();
    let largest = || cores.iter().filter_map(|core| core.node).rev().max_by_key(|node| on(*node));
    let wanted = facts.card.as_ref().and_then(|card| card.node).or_else(largest);
    match wanted.and_then(|node| Some((node, apart(cores, ends, |core| core.node == Some(node))?))) {
        Some((node, kept)) => (Some(node), kept),
        None => (None, cores.to_vec()),
    }
}

/// The wanted cores, if they include a physical core for each end.
fn apart<'a>(cores: &[&'a CoreFacts], ends: usize, wanted: impl Fn(&CoreFacts) -> bool) -> Option<Vec<&'a CoreFacts>> {
    let kept: Vec<_> = cores.iter().copied().filter(|core| wanted(core)).collect();
    (physical(&kept).len() >= ends).then_some(kept)
}

/// Groups threads by physical core.
fn physical(cores: &[&CoreFacts]) -> Vec<Physical> {
    let mut found: Vec<Physical> = Vec::new();
    for core in cores {
        match found.iter_mut().find(|threads| core.may_be_sibling(threads)) {
            Some(threads) => threads.push(core.cpu),
            None => found.push(vec![core.cpu]),
        }
    }
    found
}

/// Physical cores, the best first. With one core per end, none can be left out, so they stay in order.
fn in_order(facts: &CpuFacts, cores: &[&CoreFacts], ends: usize) -> Vec<Physical> {
    let mut physical = physical(cores);
    let choice = physical.len() > ends;
    physical.sort_by_key(|threads| {
        let interrupted = threads.iter().any(|cpu| takes_interrupts(facts, *cpu));
        (choice && interrupted, choice && threads.contains(&0))
    });
    physical
}

fn takes_interrupts(facts: &CpuFacts, cpu: usize) -> bool {
    facts.card.as_ref().is_some_and(|card| card.interrupts.contains(&cpu))
}

/// One thread of each physical core first, then their siblings.
fn in_turn<'a>(
    facts: &CpuFacts,
    physical: impl Iterator<Item = &'a Physical>,
    kind: &str,
    node: Option<usize>,
) -> Chosen {
    let physical: Vec<_> = physical.collect();
    let firsts = physical.iter().filter_map(|threads| threads.first());
    let siblings = physical.iter().flat_map(|threads| threads.iter().skip(1));
    let cpus: Vec<usize> = firsts.chain(siblings).copied().collect();
    let of_node = node.map(|node| format!(" of NUMA node {node}")).unwrap_or_default();
    let has_interrupts = facts.card.as_ref().is_some_and(|card| !card.interrupts.is_empty());
    let interrupts = match cpus.first() {
        Some(first) if takes_interrupts(facts, *first) => ", interrupted by the card",
        Some(_) if has_interrupts => ", the first apart from the card's interrupts",
        _ => "",
    };
    let cores = if cpus.len() == 1 { "core" } else { "cores" };
    Chosen { why: format!("{kind}{cores}{of_node}{interrupts}"), cpus }
}

/// With one physical core only, using its threads is better than sharing one.
fn on_one(threads: &Physical, cores: &[&CoreFacts]) -> [Chosen; 2] {
    let is_known = cores.iter().all(|core| core.siblings.known().is_some());
    let (cpus, why) = match threads.as_slice() {
        [first, second, ..] if is_known => ([*first, *second], "one of two threads of the only core there is"),
        [first, second, ..] => ([*first, *second], "one of several cores that may be threads of one core"),
        [.., only] => ([*only; 2], "the only core there is, for both ends"),
        [] => return Default::default(),
    };
    cpus.map(|cpu| Chosen { cpus: vec![cpu], why: why.to_owned() })
}

#[cfg(test)]
mod tests {
    use model::{CardFacts, Reading};

    use super::*;

    /// Cores with these siblings and nodes, all allowed.
    fn machine(cores: &[(usize, &[usize], usize)]) -> CpuFacts {
        let core = |(cpu, siblings, node): &(usize, &[usize], usize)| CoreFacts {
            cpu: *cpu,
            node: Some(*node),
            siblings: siblings.to_vec().into(),
        };
        CpuFacts {
            allowed: cores.iter().map(|(cpu, ..)| *cpu).collect(),
            cores: cores.iter().map(core).collect(),
            ..CpuFacts::default()
        }
    }

    #[test]
    fn cores_whose_siblings_are_unreadable_are_not_taken_for_physical_ones() {
        let mut facts = plain(4);
        for core in &mut facts.cores {
            core.siblings = Reading::Unreadable { path: "/sys/x".into(), why: "Permission denied".into() };
        }
        let [near, far] = choose(&facts);
        assert_eq!([near.cpus, far.cpus], [[0], [1]], "four cores are dealt out two each, threads of one core are not");
        assert_eq!(near.why, "one of several cores that may be threads of one core");
    }

    /// So many single-threaded cores on one node.
    fn plain(cores: usize) -> CpuFacts {
        let cores: Vec<_> = (0..cores).map(|cpu| (cpu, vec![cpu])).collect();
        machine(&cores.iter().map(|(cpu, siblings)| (*cpu, siblings.as_slice(), 0)).collect::<Vec<_>>())
    }

    fn cpus(facts: &CpuFacts) -> [Vec<usize>; 2] {
        choose(facts).map(|chosen| chosen.cpus)
    }

    #[test]
    fn a_device_has_physical_cores_of_its_own_where_two_are_left() {
        let chosen = |facts: &CpuFacts, count| {
            let ([near, far], device) = choose_beside(facts, count);
            (near.cpus, far.cpus, device)
        };
        assert_eq!(chosen(&plain(2), 0), (vec![0], vec![1], vec![]));
        assert_eq!(chosen(&plain(2), 1), (vec![0], vec![1], vec![1]), "the receiver's core");
        assert_eq!(chosen(&plain(3), 1), (vec![0], vec![1], vec![2]));
        assert_eq!(chosen(&plain(4), 2), (vec![0], vec![1], vec![3, 2]));
        assert_eq!(chosen(&plain(1), 2).2, [0], "there is no more");
        let pairs = machine(&[
            (0, &[0, 1], 0),
            (1, &[0, 1], 0),
            (2, &[2, 3], 0),
            (3, &[2, 3], 0),
            (4, &[4, 5], 0),
            (5, &[4, 5], 0),
        ]);
        let (near, far, device) = chosen(&pairs, 1);
        assert_eq!((near[0], far[0], device.as_slice()), (0, 2, [5].as_slice()), "no thread of it is left to an end");
        // A run that goes on asks for the cores of its ends, and the device gets the same.
        assert_eq!(beside(&pairs, &[near, far].concat(), 1), [5]);
        assert_eq!(beside(&plain(4), &[2, 3], 1), [1]);
        assert!(may_interrupt(&plain(2), 1) && !may_interrupt(&CpuFacts { isolated: vec![1], ..plain(2) }, 1));
    }

    #[test]
    fn ends_sit_apart_where_they_can() {
        assert_eq!(choose(&CpuFacts::default()), [Chosen::default(), Chosen::default()]);
        assert_eq!(cpus(&plain(1)), [vec![0], vec![0]]);
        assert_eq!(choose(&plain(1))[1].why, "the only core there is, for both ends");
        assert_eq!(cpus(&plain(2)), [vec![0], vec![1]]);
        assert_eq!(cpus(&CpuFacts { allowed: vec![3], ..plain(8) }), [vec![3], vec![3]]);
    }

    #[test]
    fn senders_have_as_many_cores_each_or_share_them() {
        let ends = |cpus: &[usize], ends| {
            let chosen = dealt(&Chosen { cpus: cpus.to_vec(), why: "cores".to_owned() }, ends);
            (chosen.iter().map(|end| end.cpus.clone()).collect::<Vec<_>>(), chosen[0].why.clone())
        };
        assert_eq!(ends(&[1, 3, 5], 1), (vec![vec![1, 3, 5]], "cores".to_owned()));
        assert_eq!(ends(&[1, 3, 5, 7, 9], 2).0, [[1, 5], [3, 7]]);
        assert_eq!(ends(&[1, 3], 3), (vec![vec![1], vec![3], vec![1]], "cores, shared by 3 senders".to_owned()));
        assert_eq!(ends(&[], 2).0, [vec![], vec![]] as [Vec<usize>; 2]);
    }

    #[test]
    fn the_rest_is_split_evenly_and_core_0_comes_last() {
        assert_eq!(cpus(&plain(3)), [vec![1], vec![2]]);
        assert_eq!(cpus(&plain(4)), [vec![1, 3], vec![2, 0]]);
        assert_eq!(cpus(&plain(7)), [vec![1, 3, 5], vec![2, 4, 6]]);
        assert_eq!(choose(&plain(4))[0].why, "cores of NUMA node 0");
    }

    #[test]
    fn isolated_cores_come_first_then_tickless_ones() {
        let isolated = CpuFacts { allowed: vec![0, 1], isolated: vec![2, 3], nohz_full: vec![1, 2, 3], ..plain(4) };
        assert_eq!(cpus(&isolated), [vec![2], vec![3]]);
        assert_eq!(choose(&isolated)[0].why, "isolated core of NUMA node 0");
        // One isolated core is not enough for two ends.
        let one = CpuFacts { isolated: vec![3], nohz_full: vec![2, 3], ..plain(4) };
        assert_eq!(cpus(&one), [vec![2], vec![3]]);
        assert_eq!(choose(&one)[1].why, "tickless core of NUMA node 0");
    }

    #[test]
    fn two_threads_of_a_core_never_serve_two_ends_if_there_is_another() {
        // Numbered as by Linux on Intel: siblings are half of the range apart.
        let smt = machine(&[(0, &[0, 2], 0), (1, &[1, 3], 0), (2, &[0, 2], 0), (3, &[1, 3], 0)]);
        assert_eq!(cpus(&smt), [vec![0, 2], vec![1, 3]]);
        let isolated = CpuFacts { isolated: vec![1, 3], ..smt };
        assert_eq!(cpus(&isolated), [vec![0, 2], vec![1, 3]], "two isolated threads of one core");
        let single = machine(&[(0, &[0, 1], 0), (1, &[0, 1], 0)]);
        assert_eq!(cpus(&single), [vec![0], vec![1]]);
        assert_eq!(choose(&single)[0].why, "one of two threads of the only core there is");
    }

    #[test]
    fn both_ends_are_on_the_node_of_the_card_and_apart_from_its_interrupts() {
        let two_nodes = machine(&[
            (0, &[0], 0),
            (1, &[1], 0),
            (2, &[2], 0),
            (3, &[3], 0),
            (4, &[4], 1),
            (5, &[5], 1),
            (6, &[6], 1),
        ]);
        let card = |node, interrupts: &[usize]| Some(CardFacts { node, interrupts: interrupts.to_vec() });
        let facts = CpuFacts { card: card(Some(1), &[4]), ..two_nodes.clone() };
        assert_eq!(cpus(&facts), [vec![5], vec![6]]);
        assert_eq!(choose(&facts)[0].why, "core of NUMA node 1, the first apart from the card's interrupts");
        let unknown = CpuFacts { card: card(None, &[1]), ..two_nodes.clone() };
        assert_eq!(cpus(&unknown), [vec![2, 0], vec![3, 1]]);
        let everywhere = CpuFacts { card: card(Some(1), &[4, 5, 6]), ..two_nodes };
        assert_eq!(choose(&everywhere)[0].why, "core of NUMA node 1, interrupted by the card");
    }

    #[test]
    fn an_end_that_has_a_machine_for_itself_gets_all_of_the_best_kind() {
        assert_eq!(choose_for_one(&plain(3)).cpus, [1, 2, 0]);
        assert_eq!(choose_for_one(&plain(1)).cpus, [0]);
        let isolated = CpuFacts { allowed: vec![0, 1], isolated: vec![2], ..plain(3) };
        assert_eq!((choose_for_one(&isolated).cpus, choose_for_one(&CpuFacts::default()).cpus), (vec![2], vec![]));
        let card = CardFacts { node: Some(0), interrupts: vec![1] };
        assert_eq!(choose_for_one(&CpuFacts { card: Some(card), ..plain(3) }).cpus, [2, 0, 1]);
    }

    #[test]
    fn without_a_card_both_ends_are_on_one_node() {
        let facts = machine(&[(0, &[0], 0), (1, &[1], 1), (2, &[2], 1)]);
        assert_eq!(cpus(&facts), [vec![1], vec![2]]);
        let one_each = machine(&[(0, &[0], 0), (1, &[1], 1)]);
        assert_eq!(cpus(&one_each), [vec![0], vec![1]]);
        assert_eq!(choose(&one_each)[0].why, "core");
    }
}
