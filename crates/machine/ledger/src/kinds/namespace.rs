//! New network namespaces.

use kernel::namespace::{self, Unnamed};
use model::change::Namespace;
use serde::{Deserialize, Serialize, Serializer};

use super::Kind;
use crate::{failure::Failure, record::Namespaces};

/// There was none. The namespace is created before it gets its name, so that its identity is recorded first.
#[derive(Deserialize)]
#[serde(from = "()")]
pub(crate) struct NoNamespace(Option<Unnamed>);

impl Kind for Namespace {
    type Before = NoNamespace;

    const BEFORE: &'static str = "absent";

    fn namespaces(&self) -> Vec<&str> {
        vec![&self.name]
    }

    fn read(&self) -> Result<Option<NoNamespace>, Failure> {
        let Self { name } = self;
        if namespace::exists(name) {
            let (what, remove) = (format!("namespace {name}"), format!("ip netns delete {name}"));
            return Err(Failure::AlreadyExists { what, remove });
        }
        Ok(Some(NoNamespace(Some(Unnamed::new()?))))
    }

    fn identities(&self, before: Option<&NoNamespace>) -> kernel::Result<Namespaces> {
        let unnamed = before.and_then(|before| before.0.as_ref());
        Ok(Namespaces(unnamed.map(|unnamed| (self.name.clone(), unnamed.identity())).into_iter().collect()))
    }

    fn make(&self, before: NoNamespace) -> Result<(), Failure> {
        Ok(before.0.map_or(Ok(()), |unnamed| unnamed.publish(&self.name))?)
    }

    fn undo(&self, _: NoNamespace, recorded: &Namespaces) -> Result<bool, Failure> {
        let Self { name } = self;
        match namespace::identity(name) {
            Err(error) if error.says_gone() => return Ok(false),
            // Without an identity: the process was killed between creating the file and mounting on it.
            identity => match identity? {
                Some(identity) if recorded.identity(name) != Some(identity) => return Ok(false),
                Some(_) => namespace::end_processes_in(name)?,
                None => {}
            },
        }
        namespace::delete(name)?;
        Ok(true)
    }
}

impl From<()> for NoNamespace {
    fn from((): ()) -> Self {
        Self(None)
    }
}

impl Serialize for NoNamespace {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_unit()
    }
}
