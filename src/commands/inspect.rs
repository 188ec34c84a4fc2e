//! The network cards of this machine: identity, readings, and whether their bus suffices for their ports.

use model::Cards;
use report::CardsDocument;

use super::{answer, language, own_program};
use crate::{
    cli::Common,
    exit::{Exit, Words},
};

/// `wireproof inspect`. A card that gives no interface is a finding that fails; a narrow bus is only slower than it could be.
pub(super) fn inspect(interface: Option<&str>, common: &Common) -> anyhow::Result<Exit> {
    let all = bed::cards(&own_program()?)?;
    let cards = match interface {
        Some(interface) => only(all, interface)?,
        None => all,
    };
    let exit = if cards.refused.is_empty() { Exit::Done } else { Exit::Failed };
    let document = CardsDocument::of(cards);
    answer(&document, || report::cards(&document.cards, language(common)), common)?;
    Ok(exit)
}

/// The card of one interface.
fn only(cards: Cards, interface: &str) -> Result<Cards, Words> {
    let names: Vec<String> = cards.ports.iter().map(|port| port.interface.name.clone()).collect();
    let ports: Vec<_> = cards.ports.into_iter().filter(|port| port.interface.name == interface).collect();
    if !ports.is_empty() {
        return Ok(Cards { ports, refused: Vec::new() });
    }
    let there =
        if names.is_empty() { "this machine has none".to_owned() } else { format!("there is {}", names.join(", ")) };
    Err(Words(format!("--dev {interface}: no network card has an interface of this name; {there}")))
}

#[cfg(test)]
mod tests {
    use model::environment::{InterfaceFacts, Port};

    use super::*;

    #[test]
    fn one_card_is_chosen_by_its_interface_and_a_wrong_name_lists_the_right_ones() {
        let named = |name: &str| Port {
            interface: InterfaceFacts { name: name.to_owned(), ..InterfaceFacts::default() },
            ..Port::default()
        };
        let all = Cards { ports: vec![named("eth1"), named("eth2")], refused: vec![] };
        assert_eq!(only(all.clone(), "eth2").unwrap().ports, [named("eth2")]);
        assert!(only(all, "eth3").unwrap_err().to_string().ends_with("there is eth1, eth2"));
    }
}
