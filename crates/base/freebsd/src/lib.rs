//! Output of FreeBSD's own commands (10 to 15), read as the facts that a Linux machine gives too: nothing has to be installed there.
//!
//! A reader takes any text. It skips lines that it does not know, and reads at most [`LONGEST`] bytes of them: half an output gives half
//! the facts.

pub mod affinity;
pub mod boot;
pub mod counters;
mod facts;
pub mod interfaces;
pub mod interrupts;
pub mod mbufs;
pub mod pci;
mod readings;
pub mod route;
mod session;
pub mod sysctl;
pub mod system;
mod text;

pub use facts::{cards, machine};
pub use readings::{Readings, host};
pub use session::{LONGEST_SESSION, Said, script};
pub use text::LONGEST;

#[cfg(test)]
mod recorded;

#[cfg(test)]
mod tests {
    use model::Reading;
    use proptest::{collection::vec, prelude::*, sample::select};

    use super::*;

    /// Words of all these commands, and numbers at the end of their range.
    const WORDS: &[&str] = &[
        "ix0",
        "@pci0:",
        "0:1:2:3",
        ":",
        " ",
        "\n",
        "\n\t",
        "flags=",
        "<",
        ">",
        "mtu",
        "metric 0",
        "cap 10[",
        "ecap 0001[",
        "AER 1",
        "link x",
        "8(8)",
        "speed ",
        "fatal",
        "max data ",
        "18446744073709551615",
        "-1",
        "0x",
        "mask: ",
        "<Link#1>",
        "Name",
        "Address",
        "lane ",
        "RX power: ",
        "media:",
        "in use (",
        "/",
        "é",
        "class=0x020000",
    ];

    proptest! {
        #[test]
        fn any_words_are_read_within_bounds(words in vec(select(WORDS), 0..200)) {
            all_is_read(&words.concat());
        }

        #[test]
        fn any_text_is_read(text in "\\PC{0,400}") {
            all_is_read(&text);
        }
    }

    fn all_is_read(text: &str) {
        let said = || Reading::Known(text.to_owned());
        let said = Said {
            uname: said(),
            sysctl: said(),
            ifconfig: said(),
            pciconf: said(),
            devices: said(),
            counters: said(),
            protocols: said(),
            mbufs: said(),
            route: said(),
            interrupts: said(),
            dmesg: said(),
            modules: said(),
        };
        let _ = (machine(&said), cards(&said), host(&said), Readings::of(&said), Said::of(text));
        let _ = affinity::cores(text);
    }
}
