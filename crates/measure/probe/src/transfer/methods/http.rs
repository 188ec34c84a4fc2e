//! HTTP and HTTPS: nginx serves the contents, curl fetches them. The certificate is made for the trial and goes with it.

use std::fmt::Write as _;

use kernel::privilege;
use model::Privilege;

use super::{Call, Method, Program, Run, make};
use crate::{
    ProbeError,
    programs::{self, nginx},
    transfer::{in_url, kernel_tls, place::Place, unable},
};

pub(super) enum Http {
    Plain,
    Tls,
}

const OPENSSL: Program = Program { name: "openssl", package: "openssl" };

/// File of the certificate in the room.
const CERTIFICATE: &str = "certificate";

/// Name that the certificate is for.
const NAME: &str = "wireproof";

/// Cipher that processors have instructions for.
const CIPHER: &str = "TLS_AES_128_GCM_SHA256";

impl Method for Http {
    fn client(&self) -> Program {
        Program { name: "curl", package: "curl" }
    }

    fn server(&self) -> Program {
        Program { name: "nginx", package: "nginx" }
    }

    fn maker(&self) -> Option<Program> {
        match self {
            Self::Plain => None,
            Self::Tls => Some(OPENSSL),
        }
    }

    fn of_server(&self, place: &Place) -> Result<String, ProbeError> {
        match self {
            Self::Plain => Ok(String::new()),
            Self::Tls => make_certificate(place),
        }
    }

    fn serve(&self, call: &Call<'_>) -> Result<Run, ProbeError> {
        let program = nginx::Program::find()?;
        let room = call.place.room().display();
        let mut text = String::from("daemon off;\nmaster_process off;\nerror_log stderr crit;\n");
        if privilege::current() == Privilege::UserNamespace {
            // Nobody else may be there, and nginx would look for its own user.
            text += "user root root;\n";
        }
        let _ = write!(
            text,
            "pid {room}/pid;\nevents {{ worker_connections 64; }}\nhttp {{\naccess_log off;\nsendfile on;\n\
             default_type application/octet-stream;\nclient_body_temp_path {room}/body;\n"
        );
        for module in program.modules() {
            let _ = writeln!(text, "{module}_temp_path {room}/{module};");
        }
        let tls = match self {
            Self::Plain => String::new(),
            Self::Tls => format!(
                " ssl; ssl_protocols TLSv1.3; ssl_certificate {room}/{CERTIFICATE}; ssl_certificate_key {room}/key{}",
                if kernel_tls::is_there() && program.knows_kernel_tls() {
                    "; ssl_conf_command Options KTLS"
                } else {
                    ""
                }
            ),
        };
        let _ = write!(text, "server {{ listen {}{tls}; location /contents {{ root {room}; }} }}\n}}\n", call.server);
        let configuration = call.place.write("nginx.conf", &text)?;
        let mut command = call.command();
        command.arg("-p").arg(call.place.room()).arg("-c").arg(configuration);
        if program.takes_error_log() {
            command.args(["-e", "stderr"]);
        }
        Ok(command.into())
    }

    fn ask(&self, call: &Call<'_>) -> Result<Run, ProbeError> {
        let mut command = call.command();
        command.args(["-q", "-sS", "--fail", "--noproxy", "*", "--interface", &call.local.to_string()]);
        command.args(["--create-dirs", "-o"]).arg(call.output());
        match self {
            Self::Plain => command.arg(format!("http://{}/{}", call.server, call.in_url())),
            Self::Tls => {
                let (ip, port) = (in_url(call.server.ip()), call.server.port());
                let certificate = call.place.give(CERTIFICATE, &as_pem(call.words))?;
                command.arg("--cacert").arg(certificate).args(["--tls13-ciphers", CIPHER]);
                command.args([
                    "--resolve",
                    &format!("{NAME}:{port}:{ip}"),
                    &format!("https://{NAME}:{port}/{}", call.in_url()),
                ])
            }
        };
        Ok(command.into())
    }
}

/// Makes a key and a certificate in the room of the program; gives the certificate without its marks, in one line.
fn make_certificate(place: &Place) -> Result<String, ProbeError> {
    let program = OPENSSL.find().map_err(|lacks| unable(&lacks.name, "it is not installed"))?;
    let path = place.room().join(CERTIFICATE);
    let mut command = programs::command(&program);
    command.args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]);
    command.args(["-subj", &format!("/CN={NAME}"), "-addext", &format!("subjectAltName=DNS:{NAME}")]);
    command.arg("-keyout").arg(place.room().join("key")).arg("-out").arg(&path);
    make(OPENSSL.name, &mut command)?;
    let text = place.read(CERTIFICATE)?;
    Ok(text.lines().filter(|line| !line.starts_with("-----")).collect::<Vec<_>>().join(" "))
}

fn as_pem(line: &str) -> String {
    format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", line.trim().replace(' ', "\n"))
}
