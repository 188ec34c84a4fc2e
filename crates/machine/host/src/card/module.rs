//! Pluggable modules, from their memory: SFF-8472 (SFP), SFF-8636 (QSFP). Pure.

use model::card::{LaneReadings, Module, ModuleReadings, PowerLimits};

/// Optical power is in tenths of a microwatt, in both.
const TENTH_MICROWATT: f64 = 1e-4;
/// Laser bias is in steps of 2 µA, in both.
const BIAS_STEP: f64 = 2e-3;

/// Offsets in a module's memory, by form.
struct Layout {
    maker: usize,
    part: usize,
    serial: usize,
    wavelength: usize,
    /// Step of the wavelength in nanometres.
    wavelength_step: f64,
}

const SFP: Layout = Layout { maker: 20, part: 40, serial: 68, wavelength: 60, wavelength_step: 1.0 };
const QSFP: Layout = Layout { maker: 148, part: 168, serial: 196, wavelength: 186, wavelength_step: 0.05 };

/// Length of vendor, part number and serial number.
const NAME: usize = 16;

/// Form of a module by its memory (SFF-8024, table 4-1), with its layout.
fn form(memory: &[u8]) -> Option<(&'static str, &'static Layout)> {
    match memory.first()? {
        0x03 => Some(("SFP", &SFP)),
        0x0c => Some(("QSFP", &QSFP)),
        0x0d => Some(("QSFP+", &QSFP)),
        0x11 => Some(("QSFP28", &QSFP)),
        _ => None,
    }
}

/// The module; `None` for an unknown form.
pub(super) fn module(memory: &[u8]) -> Option<Module> {
    let (form, layout) = form(memory)?;
    let name = |at: usize| Some(String::from_utf8_lossy(memory.get(at..at + NAME)?).trim().to_owned());
    Some(Module {
        form: form.to_owned(),
        maker: name(layout.maker)?,
        part: name(layout.part)?,
        serial: name(layout.serial)?,
        wavelength_nm: wavelength(memory, layout),
    })
}

fn wavelength(memory: &[u8], layout: &Layout) -> Option<u16> {
    let is_copper = match memory.first()? {
        // SFF-8472, byte 8, bits 2 and 3: passive or active cable; the bytes of the wavelength have another meaning
        // then.
        0x03 => memory.get(8)? & 0b1100 != 0,
        // SFF-8636, byte 147: 1010b and above are copper cables.
        _ => memory.get(147)? >> 4 >= 0b1010,
    };
    let steps = f64::from(word(memory, layout.wavelength)?);
    let nanometres = (steps * layout.wavelength_step).round() as u16;
    (!is_copper && nanometres > 0).then_some(nanometres)
}

/// Diagnostics; `None` for a module without them, or with external calibration (old SFPs).
pub(super) fn readings(memory: &[u8]) -> Option<ModuleReadings> {
    match form(memory)?.0 {
        "SFP" => of_sfp(memory),
        _ => of_qsfp(memory),
    }
}

/// SFF-8472: byte 92 tells whether there are diagnostics (bit 6) with internal calibration (bit 5). They are in the
/// second page, after the first 256 bytes.
fn of_sfp(memory: &[u8]) -> Option<ModuleReadings> {
    const CALIBRATED: u8 = 0b0110_0000;
    const PAGE: usize = 256;
    if memory.get(92)? & CALIBRATED != CALIBRATED {
        return None;
    }
    Some(ModuleReadings {
        celsius: celsius(memory, PAGE + 96)?,
        volts: volts(memory, PAGE + 98)?,
        lanes: vec![lane(memory, PAGE + 104, PAGE + 102, PAGE + 100)?],
        received_limits: limits(memory, PAGE + 32),
    })
}

/// SFF-8636: the first page has them; a copper cable leaves them at zero. The thresholds are in page 03h, after the first 512 bytes,
/// which a module with flat memory (byte 2, bit 2) does not have.
fn of_qsfp(memory: &[u8]) -> Option<ModuleReadings> {
    const FLAT: u8 = 1 << 2;
    const LIMITS: usize = 512 + 176 - 128;
    let volts = volts(memory, 26).filter(|volts| *volts > 0.0)?;
    let lanes = (0..4).map(|number| lane(memory, 34 + 2 * number, 50 + 2 * number, 42 + 2 * number));
    let has_pages = memory.get(2)? & FLAT == 0;
    Some(ModuleReadings {
        celsius: celsius(memory, 22)?,
        volts,
        lanes: lanes.collect::<Option<_>>()?,
        received_limits: has_pages.then(|| limits(memory, LIMITS)).flatten(),
    })
}

/// High alarm, low alarm, high warning, low warning, in both. Some modules and drivers leave them at zero, or without order.
fn limits(memory: &[u8], at: usize) -> Option<PowerLimits> {
    let power = |at| Some(f64::from(word(memory, at)?) * TENTH_MICROWATT);
    let limits = PowerLimits {
        high_alarm_mw: power(at)?,
        low_alarm_mw: power(at + 2)?,
        high_warning_mw: power(at + 4)?,
        low_warning_mw: power(at + 6)?,
    };
    let PowerLimits { low_alarm_mw, low_warning_mw, high_warning_mw, high_alarm_mw } = limits;
    let is_ordered =
        low_alarm_mw <= low_warning_mw && low_warning_mw < high_warning_mw && high_warning_mw <= high_alarm_mw;
    is_ordered.then_some(limits)
}

fn lane(memory: &[u8], received: usize, sent: usize, bias: usize) -> Option<LaneReadings> {
    Some(LaneReadings {
        received_mw: f64::from(word(memory, received)?) * TENTH_MICROWATT,
        sent_mw: f64::from(word(memory, sent)?) * TENTH_MICROWATT,
        bias_ma: f64::from(word(memory, bias)?) * BIAS_STEP,
    })
}

/// Signed, in 256ths of a degree.
fn celsius(memory: &[u8], at: usize) -> Option<f64> {
    Some(f64::from(word(memory, at)?.cast_signed()) / 256.0)
}

/// In tenths of a millivolt.
fn volts(memory: &[u8], at: usize) -> Option<f64> {
    Some(f64::from(word(memory, at)?) / 10_000.0)
}

fn word(memory: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(memory.get(at..at + 2)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(memory: &mut [u8], at: usize, bytes: &[u8]) {
        memory[at..at + bytes.len()].copy_from_slice(bytes);
    }

    /// Memory of a 10GBASE-SR module.
    fn sfp() -> Vec<u8> {
        let mut memory = vec![0; 512];
        memory[0] = 0x03;
        put(&mut memory, 20, b"FINISAR CORP.   ");
        put(&mut memory, 40, b"FTLX8571D3BCL   ");
        put(&mut memory, 60, &850_u16.to_be_bytes());
        put(&mut memory, 68, b"ABC1234         ");
        memory[92] = 0x68;
        // 38.5 °C, 3.3 V, 7.5 mA, 0.55 mW transmitted, 0.42 mW received.
        put(&mut memory, 256 + 96, &[38, 128, 0x80, 0xe8, 0x0e, 0xa6, 0x15, 0x7c, 0x10, 0x68]);
        memory
    }

    #[test]
    fn an_sfp_names_itself_and_reads_its_light() {
        let module = module(&sfp()).unwrap();
        assert_eq!((module.form.as_str(), module.maker.as_str()), ("SFP", "FINISAR CORP."));
        assert_eq!((module.part.as_str(), module.serial.as_str()), ("FTLX8571D3BCL", "ABC1234"));
        assert_eq!(module.wavelength_nm, Some(850));
        let readings = readings(&sfp()).unwrap();
        assert_eq!((readings.celsius, readings.volts), (38.5, 3.3));
        let rounded = |value: f64| (value * 1000.0).round() / 1000.0;
        let lane = readings.lanes[0];
        assert_eq!([lane.sent_mw, lane.received_mw, lane.bias_ma].map(rounded), [0.55, 0.42, 7.5]);
    }

    #[test]
    fn below_zero_is_signed() {
        let mut memory = sfp();
        put(&mut memory, 256 + 96, &[0xff, 0x80]);
        assert_eq!(readings(&memory).unwrap().celsius, -0.5);
    }

    #[test]
    fn a_copper_cable_has_no_wavelength_and_an_old_module_no_diagnostics() {
        let mut memory = sfp();
        memory[8] = 0x04;
        memory[92] = 0x58; // calibrated externally
        assert_eq!(module(&memory).unwrap().wavelength_nm, None);
        assert_eq!(readings(&memory), None);
    }

    #[test]
    fn a_qsfp_has_four_lanes() {
        let mut memory = vec![0; 640];
        memory[0] = 0x11;
        put(&mut memory, 22, &[40, 0]);
        put(&mut memory, 26, &[0x80, 0xe8]);
        for lane in 0..4_usize {
            put(&mut memory, 34 + 2 * lane, &(5000 + 1000 * lane as u16).to_be_bytes());
        }
        put(&mut memory, 148, b"MELLANOX        ");
        put(&mut memory, 186, &17_000_u16.to_be_bytes());
        assert_eq!(module(&memory).unwrap().wavelength_nm, Some(850));
        let readings = readings(&memory).unwrap();
        assert_eq!((readings.celsius, readings.lanes.len(), readings.lanes[3].received_mw), (40.0, 4, 0.8));
    }

    /// `ethtool -m enp3s0f1 hex on` of a 25GBASE-SR module of FS (netdev, 2020-03-11, C. Preimesberger, "transceiver made for fiber is
    /// misreported as supporting copper"): the lines that are not zero.
    const SFP28: &[(usize, &str)] = &[
        (0x00, "03 04 07 00 00 00 00 00 00 00 00 06 ff 00 00 00"),
        (0x10, "0a 0a 0a 07 46 53 20 20 20 20 20 20 20 20 20 20"),
        (0x20, "20 20 20 20 02 00 17 6a 53 46 50 32 38 2d 32 35"),
        (0x30, "47 53 52 2d 38 35 20 20 30 31 20 20 03 52 00 b7"),
        (0x40, "08 1a 68 00 47 31 39 30 37 30 34 33 30 35 37 20"),
        (0x50, "20 20 20 20 31 39 30 39 32 32 20 20 68 fa 08 56"),
        (0x100, "50 00 f6 00 46 00 00 00 8c a0 75 30 88 b8 79 18"),
        (0x110, "15 7c 03 e8 13 88 05 dc 57 73 04 ea 4e 20 06 c9"),
        (0x120, "57 73 02 76 4e 20 03 66 00 00 00 00 00 00 00 00"),
        (0x160, "29 64 84 30 0b ec 3a ee 38 38 00 00 00 00 30 00"),
    ];

    fn limits_of(memory: &[u8]) -> Option<[f64; 4]> {
        let limits = readings(memory).unwrap().received_limits?;
        let PowerLimits { low_alarm_mw, low_warning_mw, high_warning_mw, high_alarm_mw } = limits;
        Some([low_alarm_mw, low_warning_mw, high_warning_mw, high_alarm_mw].map(|mw| (mw * 1e4).round() / 1e4))
    }

    #[test]
    fn an_sfp_states_its_thresholds_unless_they_are_empty() {
        let mut memory = vec![0; 512];
        for (at, line) in SFP28 {
            let bytes: Vec<u8> = line.split(' ').map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect();
            put(&mut memory, *at, &bytes);
        }
        assert_eq!(module(&memory).unwrap().part, "SFP28-25GSR-85");
        assert_eq!(limits_of(&memory), Some([0.063, 0.087, 2.0, 2.2387]));
        assert_eq!((readings(&memory).unwrap().lanes[0].received_mw * 1e4).round(), 14_392.0);
        for nothing in [0, 0xff] {
            put(&mut memory, 0x120, &[nothing; 8]);
            assert_eq!(limits_of(&memory), None, "{nothing:#x}");
        }
    }

    #[test]
    fn a_qsfp_states_its_thresholds_in_a_page_that_it_may_not_have() {
        // A module of 40GBASE-SR4 behind mlx4 (netdev, 2024-05-23, K. Olędzki, "no SFP-DOM support via netlink?").
        let mut memory = vec![0; 640];
        memory[0] = 0x0d;
        put(&mut memory, 26, &32_917_u16.to_be_bytes());
        let thresholds = [21_878_u16, 446, 17_378, 1_122].map(u16::to_be_bytes).concat();
        put(&mut memory, 0x230, &thresholds);
        assert_eq!(limits_of(&memory), Some([0.0446, 0.1122, 1.7378, 2.1878]));
        assert_eq!(limits_of(&memory[..256]), None, "its driver reads the first page alone");
        memory[2] = 1 << 2;
        assert_eq!(limits_of(&memory), None, "it is flat");
    }

    #[test]
    fn what_is_cut_short_or_of_unknown_form_is_nothing() {
        assert_eq!(module(&[]), None);
        assert_eq!(module(&[0x99; 512]), None);
        assert_eq!(module(&sfp()[..50]), None);
        assert_eq!(readings(&sfp()[..256]), None);
    }
}
