//! Answer of irqbalance to "setup". Pure.

use std::collections::BTreeSet;

/// Banned interrupts of `SLEEP 10 IRQ 40 LOAD 0 DIFF 0 CLASS 5 … BANNED 00000000`.
pub(super) fn banned(setup: &str) -> BTreeSet<u32> {
    let words: Vec<&str> = setup.split_whitespace().collect();
    words.windows(2).filter(|pair| pair[0] == "IRQ").filter_map(|pair| pair[1].parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn banned_interrupts_are_read_from_its_setup() {
        let setup = "SLEEP 10 IRQ 40 LOAD 0 DIFF 0 CLASS 5 IRQ 7 LOAD 1 DIFF 2 CLASS 0 BANNED 00000000,0000000c";
        assert_eq!(banned(setup), [7, 40].into());
        assert_eq!(banned("SLEEP 10 BANNED 0 IRQ"), [].into());
    }
}
