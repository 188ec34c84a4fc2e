//! The section of a plan for transfers of a file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Item, each_mtu,
    stored::{Extent, mtus},
};
use crate::{
    plausible::{self, Checked},
    probe::{IpVersion, ProbeSpec, TransferContents, TransferMethod, TransferSpec},
    units::{Bytes, Mtu},
};

/// Files from one end to the other, by each method.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TransferItem {
    /// Methods, in the order in which they are measured; all without any. A stored plan names them: later versions have more.
    #[serde(default = "all_methods")]
    pub methods: Vec<TransferMethod>,
    /// Contents: one file, or many small ones too, by the methods that can.
    #[serde(default = "one_file", skip_serializing_if = "is_one_file")]
    pub contents: Vec<TransferContents>,
    /// `4` or `6`.
    #[serde(default)]
    pub ip: IpVersion,
    /// Size of the file; without it 1 GiB, or an eighth of the memory that an end has available.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Bytes>,
    /// Path of a file at the end that sends it, which then goes from disk to disk; without it the file is made in memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// MTUs that both ends are set to, one after the other, and put back afterwards; empty leaves the bed's own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mtus: Vec<Mtu>,
}

fn all_methods() -> Vec<TransferMethod> {
    TransferMethod::ALL.to_vec()
}

fn one_file() -> Vec<TransferContents> {
    vec![TransferContents::File]
}

fn is_one_file(contents: &[TransferContents]) -> bool {
    contents == [TransferContents::File]
}

impl TransferItem {
    /// A spec for each MTU, method and contents.
    fn each(&self) -> impl Iterator<Item = TransferSpec> {
        let spec = |mtu, method, contents| {
            let is_one = contents == TransferContents::File;
            let (size, file) = (self.size.filter(|_| is_one), self.file.clone().filter(|_| is_one));
            TransferSpec { method, ip: self.ip, contents, size, mtu, file }
        };
        let of_method = move |mtu, method: TransferMethod| {
            let can = self.contents.iter().filter(move |contents| method.can_move(**contents));
            can.map(move |contents| spec(mtu, method, *contents))
        };
        each_mtu(&self.mtus).flat_map(move |mtu| self.methods.iter().flat_map(move |method| of_method(mtu, *method)))
    }
}

impl Item for TransferItem {
    fn check(&self) -> Result<(), String> {
        if self.each().next().is_none() {
            return Err("none of the methods moves these contents".to_owned());
        }
        self.each().try_for_each(|spec| spec.check())
    }

    fn specs(&self) -> Vec<ProbeSpec> {
        self.each().map(ProbeSpec::from).collect()
    }

    fn extent(&self) -> Extent {
        Extent::of(&[mtus(&self.mtus), self.methods.len(), self.contents.len()], &[])
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
        let both = specs("methods = [\"nc\", \"sendfile\"]\ncontents = [\"file\", \"small-files\"]\nsize = \"1 GiB\"");
        assert_eq!(both, ["transfer nc IPv4 1 GiB", "transfer nc IPv4 small-files", "transfer sendfile IPv4 1 GiB"]);
        let none = "name = \"t\"\n[[transfer]]\nmethods = [\"sendfile\"]\ncontents = [\"small-files\"]";
        let refused = Plan::parse(none, &[]).unwrap_err().to_string();
        assert!(refused.contains("none of the methods moves these contents"), "{refused}");
    }
}
