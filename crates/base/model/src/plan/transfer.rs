//! The section of a plan for transfers of a file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Item, each_mtu,
    stored::{Extent, mtus},
};
use crate::{
    plausible::{self, Checked},
    probe::{IpVersion, ProbeSpec, TransferMethod, TransferSpec},
    units::{Bytes, Mtu},
};

/// A file from one end to the other, by each method.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TransferItem {
    /// Methods, in the order in which they are measured; all without any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub methods: Vec<TransferMethod>,
    /// `4` or `6`.
    #[serde(default)]
    pub ip: IpVersion,
    /// Size of the file; without it 1 GiB, or an eighth of the memory that an end has available.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Bytes>,
    /// MTUs that both ends are set to, one after the other, and put back afterwards; empty leaves the bed's own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mtus: Vec<Mtu>,
}

impl TransferItem {
    fn methods(&self) -> &[TransferMethod] {
        if self.methods.is_empty() { &TransferMethod::ALL } else { &self.methods }
    }

    /// A spec for each MTU and method.
    fn each(&self) -> impl Iterator<Item = TransferSpec> {
        let spec = |mtu, method| TransferSpec { method, ip: self.ip, size: self.size, mtu };
        each_mtu(&self.mtus).flat_map(move |mtu| self.methods().iter().map(move |method| spec(mtu, *method)))
    }
}

impl Item for TransferItem {
    fn check(&self) -> Result<(), String> {
        self.each().try_for_each(|spec| spec.check())
    }

    fn specs(&self) -> Vec<ProbeSpec> {
        self.each().map(ProbeSpec::from).collect()
    }

    fn extent(&self) -> Extent {
        Extent::of(&[mtus(&self.mtus), self.methods().len()], &[])
    }

    fn check_stored(&self) -> Checked {
        self.size.map_or(Ok(()), |size| plausible::bytes("size", size.0))
    }
}

#[cfg(test)]
mod tests {
    use crate::{Plan, probe::TransferMethod};

    #[test]
    fn each_mtu_has_each_method_and_a_plan_without_methods_all() {
        let specs = |keys: &str| -> Vec<String> {
            let plan = Plan::parse(&format!("name = \"t\"\n[[transfer]]\n{keys}"), &[]).unwrap();
            assert_eq!(Plan::parse(&plan.to_toml(), &[]), Ok(plan.clone()));
            plan.specs().iter().map(ToString::to_string).collect()
        };
        assert_eq!(specs("").len(), TransferMethod::ALL.len());
        let some = specs("methods = [\"nc\", \"http\"]\nmtus = [1500, 9000]\nsize = \"16 MiB\"");
        let transfers: Vec<_> = some.iter().filter(|spec| spec.starts_with("transfer")).collect();
        assert_eq!(transfers.len(), 4);
        assert_eq!(transfers[3], "transfer http IPv4 16 MiB MTU 9000");
    }
}
