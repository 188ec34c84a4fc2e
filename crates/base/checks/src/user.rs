//! The user's rights.

use model::{
    Privilege,
    check::{Check, Finding, Lack, Severity, Subject},
};

/// The rights of the user, who may or may not make user namespaces.
pub fn user(privilege: Privilege, namespaces: Result<(), String>) -> Check {
    match (privilege, namespaces) {
        (Privilege::Root | Privilege::UserNamespace, _) => Check::ok(Subject::User, Finding::Root),
        (Privilege::User, Ok(())) => Check::not(Subject::User, Severity::Info, Finding::NamespacesAllowed, Lack::Root),
        (Privilege::User, Err(why)) => {
            let found = Finding::NoNamespaces { why };
            Check::not(Subject::User, Severity::Fail, found, Lack::RootAndUserNamespaces)
        }
    }
}

/// A user namespace that could not be made.
pub fn user_namespace(error: String) -> Check {
    Check::failed(Subject::UserNamespace, error, Lack::RootAndUserNamespaces)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ordinary_user_needs_user_namespaces() {
        let severity = |privilege, namespaces| user(privilege, namespaces).severity;
        assert_eq!(severity(Privilege::Root, Err("forbidden".into())), Severity::Ok);
        assert_eq!(severity(Privilege::User, Ok(())), Severity::Info);
        assert_eq!(severity(Privilege::User, Err("forbidden".into())), Severity::Fail);
    }
}
