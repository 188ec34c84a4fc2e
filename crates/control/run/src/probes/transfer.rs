//! Transfers of a file.

use model::{
    Direction, Measured, Mtu, SideFigures, TransferResult, TransferSide, TransferSpec,
    trial::{Disks, Lack},
};

use super::{Assembled, Ends, Rules, Sides};
use crate::misfit::{LEAST_TCP_MTU, Misfit};

impl Rules for TransferSpec {
    fn fit(&self, probe: String, mtu: Mtu) -> Result<(), Misfit> {
        if mtu.0 < LEAST_TCP_MTU { Err(Misfit::SmallMtu { probe, mtu }) } else { Ok(()) }
    }

    fn assemble(&self, ends: &Ends<'_>, sides: Vec<Sides>) -> Option<Assembled> {
        let (SideFigures::Transfer(near), SideFigures::Transfer(far)) = sides.into_iter().next()? else { return None };
        let names = [ends.senders.first()?, ends.receiver].map(|end| end.name.as_str());
        let result = result(self, self.mtu.or(ends.mtu())?, names, [*near, *far]);
        let seconds = result.seconds;
        Some(Assembled {
            measured: Measured::Transfer { spec: self.clone(), result: Box::new(result) },
            seconds,
            doubts: Vec::new(),
        })
    }
}

/// The figures of both sides (near, far) together.
fn result(spec: &TransferSpec, mtu: Mtu, names: [&str; 2], sides: [TransferSide; 2]) -> TransferResult {
    let lacks = names
        .iter()
        .zip(&sides)
        .filter_map(|(endpoint, side)| Some(Lack { endpoint: (*endpoint).to_owned(), program: side.lacks.clone()? }));
    let lacks = lacks.collect();
    let [near, far] = sides;
    let (sent, received) = match spec.method.direction() {
        Direction::Reverse => (&far, &near),
        Direction::Forward | Direction::Both => (&near, &far),
    };
    let disks = sent.disk_bps.zip(received.disk_bps).map(|(read_bps, write_bps)| Disks { read_bps, write_bps });
    let hashes = sent.sha256.as_ref().zip(received.sha256.as_ref());
    TransferResult {
        mtu,
        lacks,
        size: sent.bytes,
        arrived: received.bytes,
        seconds: near.seconds.unwrap_or_default(),
        verified: hashes.map(|(sent_hash, hash)| sent_hash == hash && sent.bytes == received.bytes),
        commands: [near.command, far.command],
        tcp: near.tcp,
        kernel_tls: far.kernel_tls,
        disks,
    }
}

#[cfg(test)]
mod tests {
    use model::{TransferMethod, trial::Program};

    use super::*;

    fn side(bytes: u64, hash: &str, seconds: Option<f64>) -> TransferSide {
        TransferSide { bytes, sha256: Some(hash.to_owned()), seconds, ..TransferSide::default() }
    }

    #[test]
    fn contents_that_differ_are_damaged_whichever_way_they_went() {
        for method in [TransferMethod::Nc, TransferMethod::Http] {
            let spec = TransferSpec::new(method);
            let of = |near, far| result(&spec, Mtu(1500), ["a", "b"], [near, far]);
            let same = of(side(9, "x", Some(2.0)), side(9, "x", None));
            assert_eq!((same.size, same.arrived, same.seconds, same.verified), (9, 9, 2.0, Some(true)));
            assert_eq!(of(side(9, "x", Some(2.0)), side(9, "y", None)).verified, Some(false));
            assert_eq!(of(side(8, "x", Some(2.0)), side(9, "x", None)).verified, Some(false));
        }
    }

    #[test]
    fn a_missing_program_is_told_with_its_end() {
        let spec = TransferSpec::new(TransferMethod::FtpGet);
        let program = Program { name: "vsftpd".to_owned(), package: "vsftpd".to_owned() };
        let far = TransferSide { lacks: Some(program.clone()), ..TransferSide::default() };
        let result = result(&spec, Mtu(1500), ["a", "b"], [TransferSide::default(), far]);
        assert_eq!(result.lacks, [Lack { endpoint: "b".to_owned(), program }]);
        assert!(!result.is_run() && result.verified.is_none());
    }
}
