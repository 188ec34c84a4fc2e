//! FTP: vsftpd for a user without a name, and curl.

use super::{Call, Method, Program, Run};
use crate::{
    ProbeError,
    transfer::{in_url, own_name},
};

/// Direction as FTP calls it.
pub(super) enum Ftp {
    Put,
    Get,
}

impl Method for Ftp {
    fn client(&self) -> Program {
        Program { name: "curl", package: "curl" }
    }

    fn server(&self) -> Program {
        Program { name: "vsftpd", package: "vsftpd" }
    }

    fn serve(&self, call: &Call<'_>) -> Result<Run, ProbeError> {
        let (room, ip) = (call.place.room().display(), call.server.ip());
        let listen =
            if ip.is_ipv6() { "listen_ipv6=YES\nlisten=NO\nlisten_address6" } else { "listen=YES\nlisten_address" };
        let text = format!(
            "{listen}={ip}\nlisten_port={}\nbackground=NO\nrun_as_launching_user=YES\nseccomp_sandbox=NO\nftp_username={}\n\
             anonymous_enable=YES\nno_anon_password=YES\nlocal_enable=NO\nwrite_enable=YES\nanon_upload_enable=YES\nanon_root={room}\n\
             anon_world_readable_only=NO\nsecure_chroot_dir={room}\n",
            call.server.port(),
            own_name(),
        );
        // It reads no file of another user.
        let configuration = call.place.give("vsftpd.conf", &text)?;
        let mut command = call.command();
        command.arg(configuration);
        Ok(command.into())
    }

    fn ask(&self, call: &Call<'_>) -> Result<Run, ProbeError> {
        let mut command = call.command();
        command.args(["-q", "-sS", "--noproxy", "*", "--interface", &call.local.to_string()]);
        command.arg(match self {
            Self::Put => "-T",
            Self::Get => "-o",
        });
        let url = format!("ftp://{}:{}/contents", in_url(call.server.ip()), call.server.port());
        command.arg(call.place.contents()).arg(url);
        Ok(command.into())
    }
}
