//! Cards without an interface, with the reason from the kernel log.

use model::{
    Reading,
    card::{Cause, Refused},
};

use super::pci;
use crate::source::Source;

/// Drivers that pass a device to a program or a virtual machine.
const PASS_ON: [&str; 4] = ["vfio-pci", "uio_pci_generic", "igb_uio", "pci-stub"];

/// Messages of drivers and the PCI core, and their causes. The first match counts.
const CAUSES: [(&str, Cause); 13] = [
    ("unsupported sfp", Cause::UnsupportedModule),
    ("unsupported module", Cause::UnsupportedModule),
    ("unqualified module", Cause::UnsupportedModule),
    ("msi-x vectors", Cause::TooFewVectors),
    ("not enough vectors", Cause::TooFewVectors),
    ("enable msi", Cause::TooFewVectors),
    ("allocate interrupt", Cause::TooFewVectors),
    ("failed to allocate msi", Cause::TooFewVectors),
    ("direct firmware load", Cause::NoFirmware),
    ("failed to load firmware", Cause::NoFirmware),
    ("checksum is not valid", Cause::BadNvm),
    ("can't assign; no space", Cause::NoAddresses),
    ("can't reserve", Cause::NoAddresses),
];

/// Number of the last log lines shown.
const SHOWN: usize = 5;

pub(crate) fn refused(source: &dyn Source) -> Vec<Refused> {
    let log = source.log().or_default();
    let without = pci::network_controllers(source).into_iter().filter(|device| !device.has_interface());
    without.map(|device| refusal(device.address(), device.model(), device.driver(), &log)).collect()
}

fn refusal(device: String, model: String, driver: Reading<String>, log: &[String]) -> Refused {
    let of_it: Vec<&String> = log.iter().filter(|line| line.contains(&device)).collect();
    let shown = of_it[of_it.len().saturating_sub(SHOWN)..].iter().map(|line| line.to_string()).collect();
    Refused { cause: cause(&driver, &of_it), log: shown, device, model, driver: driver.or_default() }
}

fn cause(driver: &Reading<String>, log: &[&String]) -> Cause {
    if driver.known().is_some_and(|driver| PASS_ON.contains(&driver.as_str())) {
        return Cause::GivenAway;
    }
    let said = |words: &str| log.iter().any(|line| line.to_lowercase().contains(words));
    let found = CAUSES.iter().find(|(words, _)| said(words)).map(|(_, cause)| *cause);
    found.unwrap_or(if *driver == Reading::Absent { Cause::NoDriver } else { Cause::Unknown })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(driver: &str, lines: &[&str]) -> Refused {
        let log: Vec<String> = lines.iter().map(ToString::to_string).collect();
        let driver = if driver.is_empty() { Reading::Absent } else { Reading::Known(driver.to_owned()) };
        refusal("0000:01:00.0".into(), "a card".into(), driver, &log)
    }

    #[test]
    fn the_kernels_words_name_the_cause() {
        let sfp = of(
            "",
            &[
                "ixgbe 0000:01:00.0: failed to load because an unsupported SFP+ or QSFP module type was detected.",
                "ixgbe 0000:01:00.0: Reload the driver after installing a supported module.",
                "ixgbe 0000:02:00.0: Multiqueue Enabled: Rx Queue count = 8",
            ],
        );
        assert_eq!((sfp.cause, sfp.log.len()), (Cause::UnsupportedModule, 2));
        assert_eq!(of("ice", &["ice 0000:01:00.0: not enough device MSI-X vectors"]).cause, Cause::TooFewVectors);
        let firmware = "bnx2x 0000:01:00.0: Direct firmware load for bnx2x/bnx2x-e2-7.13.21.0.fw failed with error -2";
        assert_eq!(of("bnx2x", &[firmware]).cause, Cause::NoFirmware);
        assert_eq!(of("", &["e1000e 0000:01:00.0: The NVM Checksum Is Not Valid"]).cause, Cause::BadNvm);
    }

    #[test]
    fn without_words_a_card_has_no_driver_or_is_given_away_or_nobody_knows() {
        assert_eq!(of("", &[]).cause, Cause::NoDriver);
        assert_eq!(of("vfio-pci", &["vfio-pci 0000:01:00.0: enabling device"]).cause, Cause::GivenAway);
        assert_eq!(of("ixgbe", &["ixgbe 0000:01:00.0: something else"]).cause, Cause::Unknown);
        let unreadable = Reading::Unreadable { path: "driver".to_owned(), why: "Permission denied".to_owned() };
        assert_eq!(cause(&unreadable, &[]), Cause::Unknown, "it may have one");
    }
}
