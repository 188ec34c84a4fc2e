//! OpenSSH: scp and sftp, with keys that are made for the trial and go with it.

use super::{Call, Method, Program, Run, make};
use crate::{
    ProbeError, programs,
    transfer::{
        in_url, own_name,
        place::Place,
        said::{self, Login},
        unable,
    },
};

/// Program of OpenSSH that copies.
pub(super) enum Ssh {
    Scp,
    Sftp,
}

/// Cipher that processors have instructions for (AES-NI, ARMv8), and so the quickest of OpenSSH's own.
const CIPHER: &str = "aes128-gcm@openssh.com";

impl Method for Ssh {
    fn client(&self) -> Program {
        let name = match self {
            Self::Scp => "scp",
            Self::Sftp => "sftp",
        };
        Program { name, package: "openssh-client" }
    }

    fn server(&self) -> Program {
        Program { name: "sshd", package: "openssh-server" }
    }

    fn of_client(&self, place: &Place) -> Result<String, ProbeError> {
        make_key(place)
    }

    /// The host key, and the user and the folder at the far end.
    fn of_server(&self, place: &Place) -> Result<String, ProbeError> {
        Ok(format!("{} {} {}", make_key(place)?, own_name(), place.room().display()))
    }

    fn serve(&self, call: &Call<'_>) -> Result<Run, ProbeError> {
        let client = said::key(call.words).ok_or_else(|| no_key("near"))?;
        let authorized = call.place.give("authorized", &format!("{client}\n"))?;
        // Without PAM it refuses users without a password, as "nobody" often is.
        let text = format!(
            "ListenAddress {}\nHostKey {}\nAuthorizedKeysFile {}\nPidFile none\nStrictModes no\nUsePAM yes\nPasswordAuthentication no\n\
             KbdInteractiveAuthentication no\nAllowTcpForwarding no\nLogLevel ERROR\nSubsystem sftp internal-sftp\nForceCommand internal-sftp\n",
            call.server,
            key(call.place).display(),
            authorized.display(),
        );
        let configuration = call.place.write("sshd_config", &text)?;
        let mut command = call.command();
        command.args(["-D", "-e", "-f"]).arg(configuration);
        Ok(command.into())
    }

    fn ask(&self, call: &Call<'_>) -> Result<Run, ProbeError> {
        let Login { key: host, user, room } = said::login(call.words).ok_or_else(|| no_key("far"))?;
        let known = call.place.give("known", &format!("wireproof {host}\n"))?;
        let mut command = call.command();
        command.args(["-q", "-F", "none", "-P", &call.server.port().to_string(), "-c", CIPHER]);
        command.arg("-i").arg(key(call.place));
        for option in [
            "BatchMode=yes",
            "IdentitiesOnly=yes",
            "StrictHostKeyChecking=yes",
            "HostKeyAlias=wireproof",
            &format!("UserKnownHostsFile={}", known.display()),
            "GlobalKnownHostsFile=/dev/null",
            &format!("BindAddress={}", call.local),
        ] {
            command.args(["-o", option]);
        }
        let host = format!("{user}@{}", in_url(call.server.ip()));
        let contents = call.place.contents();
        match self {
            Self::Scp if call.is_many => command.arg("-r").arg(contents).arg(format!("{host}:{room}/")),
            Self::Scp => command.arg(contents).arg(format!("{host}:{room}/contents")),
            Self::Sftp => {
                let put = if call.is_many { "put -R" } else { "put" };
                let batch = call.place.give("batch", &format!("{put} \"{}\" {room}/contents\n", contents.display()))?;
                command.arg("-b").arg(batch).arg(host)
            }
        };
        Ok(command.into())
    }
}

fn no_key(end: &str) -> ProbeError {
    unable("sshd", format!("the {end} end told no key; this is a fault in wireproof, please report it"))
}

fn key(place: &Place) -> std::path::PathBuf {
    place.room().join("key")
}

/// Makes a key in the room of the program; gives its public part, the kind and the key.
fn make_key(place: &Place) -> Result<String, ProbeError> {
    const PROGRAM: &str = "ssh-keygen";
    let path = key(place);
    let program = programs::find(PROGRAM).ok_or_else(|| unable(PROGRAM, "sudo apt install openssh-client"))?;
    let mut command = programs::command(&program);
    command.args(["-q", "-t", "ed25519", "-N", "", "-C", "", "-f"]).arg(&path);
    make(PROGRAM, &mut command)?;
    let text = place.read("key.pub")?;
    Ok(text.split_whitespace().take(2).collect::<Vec<_>>().join(" "))
}
