//! The program nginx, as it is installed here.

use std::{
    path::PathBuf,
    process::{Command, Stdio},
};

use kernel::process::tie;

use crate::{ProbeError, programs};

/// Longest version shown.
const LONGEST_VERSION: usize = 20;

/// The first version with the option `-e`.
const ERROR_LOG: [u32; 3] = [1, 19, 5];

/// The first version with TLS in the kernel (`Options KTLS` of OpenSSL 3).
const KERNEL_TLS: [u32; 3] = [1, 21, 4];

/// Modules with a folder for temporary files, which a build can leave out.
const MODULES: [&str; 4] = ["proxy", "fastcgi", "uwsgi", "scgi"];

/// The nginx program: its path and its version.
pub(crate) struct Program {
    path: PathBuf,
    /// Like `1.26.3`.
    version: String,
    /// Output of `nginx -V`.
    about: String,
}

impl Program {
    /// Finds it, and asks for its version.
    pub(crate) fn find() -> Result<Self, ProbeError> {
        let path = programs::find("nginx");
        let path = path.ok_or_else(|| {
            unable(
                "there is no such program at the far side; install the package nginx there (its service is not needed), or use wireproof's \
                 own server (--server own)",
            )
        })?;
        let mut program = Self { path, version: String::new(), about: String::new() };
        let mut command = program.command();
        tie(&mut command, None).arg("-V").stdin(Stdio::null());
        let said = command.output().map_err(|error| unable(&format!("{}: {error}", program.path.display())))?;
        program.about = String::from_utf8_lossy(&said.stderr).into_owned();
        program.version = version(&program.about);
        Ok(program)
    }

    /// A call of it, by a user without rights where this process is root, and without our environment.
    pub(crate) fn command(&self) -> Command {
        programs::command(&self.path)
    }

    /// Like `nginx/1.26.3`.
    pub(crate) fn version(&self) -> String {
        format!("nginx/{}", self.version)
    }

    /// Whether it can be told on the command line where its errors go.
    pub(crate) fn takes_error_log(&self) -> bool {
        self.numbers() >= ERROR_LOG
    }

    /// Whether it and its OpenSSL let the kernel encrypt where they are asked to.
    pub(crate) fn knows_kernel_tls(&self) -> bool {
        self.numbers() >= KERNEL_TLS && self.about.contains("OpenSSL 3")
    }

    fn numbers(&self) -> [u32; 3] {
        let mut numbers = self.version.split('.').map_while(|number| number.parse::<u32>().ok());
        std::array::from_fn(|_| numbers.next().unwrap_or(0))
    }

    /// Modules whose folders for temporary files it has to be told of.
    pub(crate) fn modules(&self) -> impl Iterator<Item = &str> {
        MODULES.into_iter().filter(|module| !self.about.contains(&format!("--without-http_{module}_module")))
    }
}

fn unable(why: &str) -> ProbeError {
    ProbeError::Unable { what: "nginx".to_owned(), why: why.to_owned() }
}

fn version(about: &str) -> String {
    let rest = about.split_once("nginx/").map_or("", |(_, rest)| rest);
    rest.chars().take_while(|c| c.is_ascii_alphanumeric() || ".-".contains(*c)).take(LONGEST_VERSION).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(about: &str) -> Program {
        Program { path: PathBuf::new(), version: version(about), about: about.to_owned() }
    }

    #[test]
    fn its_version_is_read_from_what_it_says() {
        let debian =
            program("nginx version: nginx/1.22.1\nconfigure arguments: --with-debug --without-http_scgi_module");
        assert_eq!((debian.version().as_str(), debian.takes_error_log()), ("nginx/1.22.1", true));
        assert_eq!(debian.modules().collect::<Vec<_>>(), ["proxy", "fastcgi", "uwsgi"]);
        let old = program("nginx version: nginx/1.18.0 (Ubuntu)\n");
        assert!(!debian.knows_kernel_tls() && !old.knows_kernel_tls());
        let new = program("nginx version: nginx/1.22.1\nbuilt with OpenSSL 3.0.22 25 Aug 2026\n");
        assert!(new.knows_kernel_tls());
        assert_eq!((old.version().as_str(), old.takes_error_log()), ("nginx/1.18.0", false));
        assert_eq!(program("\u{1b}[31m").version(), "nginx/");
    }
}
