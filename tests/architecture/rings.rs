//! No ring of modules: among the direct children of each module, with all that is below them, none leads back to itself. Parent and child may
//! refer to each other.

use std::collections::{BTreeMap, BTreeSet};

use crate::modules::{ModulePath, Modules};

/// References among the children of one module, each with an example.
type Edges = BTreeMap<(String, String), String>;

/// Modules that all lead to each other.
pub(crate) struct Ring {
    /// The parent, as `room::module`.
    pub(crate) within: String,
    pub(crate) members: BTreeSet<String>,
    /// Each reference from one of them to another.
    pub(crate) references: Vec<String>,
}

pub(crate) fn rings(room: &str, modules: &Modules) -> Vec<Ring> {
    let mut graphs: BTreeMap<ModulePath, Edges> = BTreeMap::new();
    for (from, module) in modules.all() {
        for path in &module.paths {
            for to in modules.definers(from, path) {
                let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
                // One is within the other.
                let (Some(a), Some(b)) = (from.get(shared), to.get(shared)) else { continue };
                let example = format!("{} names {}", module.file.display(), path.join("::"));
                graphs.entry(from[..shared].to_vec()).or_default().entry((a.clone(), b.clone())).or_insert(example);
            }
        }
    }
    graphs
        .into_iter()
        .flat_map(|(within, edges)| of_children(&[&[room.to_owned()], &within[..]].concat().join("::"), &edges))
        .collect()
}

fn of_children(within: &str, edges: &Edges) -> Vec<Ring> {
    let reach = reachable(edges);
    let mut done = BTreeSet::new();
    let mut rings = Vec::new();
    for start in reach.keys() {
        let members: BTreeSet<String> =
            reach[start].iter().filter(|it| reach.get(*it).is_some_and(|back| back.contains(start))).cloned().collect();
        if !members.contains(start) || !done.insert(members.clone()) {
            continue;
        }
        let inside = edges.iter().filter(|((a, b), _)| members.contains(a) && members.contains(b));
        let references = inside.map(|((a, b), example)| format!("{a} → {b}: {example}")).collect();
        rings.push(Ring { within: within.to_owned(), members, references });
    }
    rings
}

/// Modules reachable from each.
fn reachable(edges: &Edges) -> BTreeMap<String, BTreeSet<String>> {
    let mut reach: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (a, b) in edges.keys() {
        reach.entry(a.clone()).or_default().insert(b.clone());
    }
    loop {
        let mut grew = false;
        for from in reach.keys().cloned().collect::<Vec<_>>() {
            let further: BTreeSet<String> =
                reach[&from].iter().filter_map(|it| reach.get(it)).flatten().cloned().collect();
            let known = reach.entry(from).or_default();
            let before = known.len();
            known.extend(further);
            grew |= known.len() > before;
        }
        if !grew {
            return reach;
        }
    }
}
