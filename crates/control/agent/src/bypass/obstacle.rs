//! Reasons why a program cannot be bypassed, as far as known before it starts.

use std::{
    env,
    ffi::{OsStr, OsString},
    fs::{self, File},
    io::{self, Read},
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
};

use model::bypass::{Kind, Obstacle};
use object::ReadCache;

use super::image::Image;

/// The kernel's limit of nested interpreters.
const MOST_SCRIPTS: usize = 5;

/// The obstacle for a program, found like in a shell; `None` without a known one.
pub(super) fn of(program: &OsStr, library: &Path) -> Option<Obstacle> {
    let mut path = find(program)?;
    for _ in 0..MOST_SCRIPTS {
        let image = image(&path)?;
        let Image::Script { interpreter, rest } = image else { return judged(path, &image, library) };
        // Set-user-ID has no effect on a script.
        path = called_by_env(&interpreter, &rest).unwrap_or(interpreter.into());
    }
    None
}

/// The obstacle for a program, by a link in /proc to its file.
pub(super) fn of_file(link: &Path, library: &Path) -> Option<Obstacle> {
    let kind = judged(link.to_owned(), &image(link)?, library)?.kind;
    Some(Obstacle { program: fs::read_link(link).ok()?, kind })
}

/// The reason why the kernel did not run a program, in more detail than its error.
pub(super) fn not_run(program: &Path, error: &io::Error) -> String {
    let interpreter = || match image(&find(program.as_os_str())?)? {
        Image::Script { interpreter, .. } if !Path::new(&interpreter).exists() => Some(interpreter),
        _ => None,
    };
    match error.kind() {
        _ if program.as_os_str().is_empty() => "its name is empty".to_owned(),
        io::ErrorKind::PermissionDenied if program.is_dir() => "it is a directory".to_owned(),
        io::ErrorKind::NotFound if let Some(interpreter) = interpreter() => {
            format!("there is no {interpreter}, its interpreter, as its first line says")
        }
        _ => {
            let said = error.to_string();
            said.split(" (os error").next().unwrap_or_default().to_owned()
        }
    }
}

/// The file that `exec` uses for this name.
fn find(program: &OsStr) -> Option<PathBuf> {
    if program.as_encoded_bytes().contains(&b'/') {
        return Some(program.into());
    }
    let folders = env::var_os("PATH").unwrap_or_else(|| OsString::from("/usr/bin:/bin"));
    let is_program =
        |path: &PathBuf| fs::metadata(path).is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0);
    env::split_paths(&folders).map(|folder| folder.join(program)).find(is_program)
}

/// The program that `/usr/bin/env` starts with these arguments.
fn called_by_env(interpreter: &str, rest: &str) -> Option<PathBuf> {
    let words = rest.split_whitespace().filter(|word| !word.starts_with('-') && !word.contains('='));
    if interpreter.ends_with("/env") { find(OsStr::new(words.into_iter().next()?)) } else { None }
}

fn image(path: &Path) -> Option<Image> {
    Some(Image::read(&ReadCache::new(File::open(path).ok()?)))
}

fn judged(program: PathBuf, image: &Image, library: &Path) -> Option<Obstacle> {
    let kind = match image {
        Image::Program { machine, .. } if !is_of_machine(*machine, library) => Kind::OtherMachine,
        Image::Program { go: true, .. } => Kind::Go,
        Image::Program { loader: None, .. } => Kind::Static,
        Image::Program { loader: Some(loader), .. } if loader.contains("ld-musl") => Kind::OtherLibc,
        Image::Program { .. } if takes_rights(&program) => Kind::SetId,
        Image::Other if is_elf(&program) => Kind::OtherMachine,
        _ => return None,
    };
    Some(Obstacle { program, kind })
}

/// An unreadable library is reported elsewhere.
fn is_of_machine(machine: u16, library: &Path) -> bool {
    match image(library) {
        Some(Image::Program { machine: ours, .. }) => machine == ours,
        _ => true,
    }
}

fn is_elf(path: &Path) -> bool {
    let mut mark = [0; 4];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut mark));
    read.is_ok() && mark == *b"\x7fELF"
}

/// Whether the loader ignores the caller's environment (secure execution). File capabilities have no effect for root,
/// which has them all.
fn takes_rights(path: &Path) -> bool {
    const SET_USER: u32 = 0o4000;
    const SET_GROUP: u32 = 0o2010;
    let Ok(file) = fs::metadata(path) else { return false };
    let (user, group) = kernel::privilege::effective();
    file.mode() & SET_USER != 0 && file.uid() != user || file.mode() & SET_GROUP == SET_GROUP && file.gid() != group
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use tempfile::TempDir;

    use super::*;

    /// A folder with freshly compiled programs.
    struct Programs(TempDir);

    impl Programs {
        fn new() -> Self {
            let programs = Self(TempDir::new().expect("a folder"));
            fs::write(programs.path("main.c"), "int main(void) { return 0; }").expect("it can be written to");
            // As written by Go's linker (cmd/link/internal/ld/elf.go): four bytes of name, four of description, type 4.
            let note = "__asm__(\".section .note.go.buildid,\\\"a\\\",@note\\n.long 4,4,4\\n.asciz \\\"Go\\\\0\\\"\\n.long 0\\n.text\");";
            fs::write(programs.path("go.c"), note).expect("it can be written to");
            programs
        }

        fn path(&self, name: &str) -> PathBuf {
            self.0.path().join(name)
        }

        fn compile(&self, name: &str, arguments: &[&str]) -> PathBuf {
            let mut cc = Command::new("cc");
            cc.current_dir(self.0.path()).args(["main.c", "-o", name]).args(arguments);
            assert!(cc.status().expect("a C compiler is installed").success());
            self.path(name)
        }

        fn script(&self, name: &str, text: &str) -> PathBuf {
            let path = self.path(name);
            fs::write(&path, text).expect("it can be written to");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("ours");
            path
        }
    }

    /// The test program stands for the library: it is for this machine.
    fn found(program: &Path) -> Option<(PathBuf, Kind)> {
        let library = env::current_exe().expect("it runs");
        of(program.as_os_str(), &library).map(|obstacle| (obstacle.program, obstacle.kind))
    }

    #[test]
    fn programs_without_a_loader_and_those_of_go_are_known() {
        let programs = Programs::new();
        let plain = programs.compile("plain", &[]);
        let alone = programs.compile("static", &["-static"]);
        let at_any_place = programs.compile("static-pie", &["-static-pie"]);
        let go = programs.compile("go", &["go.c"]);
        let static_go = programs.compile("static-go", &["go.c", "-static"]);
        assert_eq!(found(&plain), None);
        assert_eq!(found(&alone), Some((alone.clone(), Kind::Static)));
        assert_eq!(found(&at_any_place), Some((at_any_place, Kind::Static)));
        assert_eq!(found(&go), Some((go, Kind::Go)));
        assert_eq!(found(&static_go), Some((static_go, Kind::Go)));
    }

    #[test]
    fn scripts_are_their_interpreters() {
        let programs = Programs::new();
        let alone = programs.compile("static", &["-static"]);
        let line = format!("#!{} -x\n", alone.display());
        let script = programs.script("script", &line);
        let outer = programs.script("outer", &format!("#! {}\nanything", script.display()));
        let by_env = programs.script("by-env", &format!("#!/usr/bin/env -S A=b {} -x\n", alone.display()));
        for script in [script, outer, by_env] {
            assert_eq!(found(&script), Some((alone.clone(), Kind::Static)), "{}", script.display());
        }
        assert_eq!(found(&programs.script("shell", "#!/bin/sh\n")), None);
        assert_eq!(found(&programs.script("text", "echo x\n")), None);
        let endless = programs.path("endless");
        programs.script("endless", &format!("#!{}\n", endless.display()));
        assert_eq!(found(&endless), None);
    }

    #[test]
    fn programs_for_others_are_known() {
        let programs = Programs::new();
        let plain = fs::read(programs.compile("plain", &[])).expect("readable");
        let write = |name: &str, bytes: &[u8]| {
            fs::write(programs.path(name), bytes).expect("it can be written to");
            programs.path(name)
        };
        // `e_machine` is at byte 18, the class at byte 4.
        let mut other = plain.clone();
        other[18] = 0xf7;
        let other = write("other", &other);
        assert_eq!(found(&other), Some((other, Kind::OtherMachine)));
        let mut small = plain.clone();
        small[4] = 1;
        let small = write("small", &small);
        assert_eq!(found(&small), Some((small, Kind::OtherMachine)));
        let musl = programs.compile("musl", &["-Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1"]);
        assert_eq!(found(&musl), Some((musl, Kind::OtherLibc)));
        assert_eq!(found(&programs.path("none")), None);
        assert_eq!(found(&write("cut", &plain[..100])), Some((programs.path("cut"), Kind::OtherMachine)));
    }

    #[test]
    fn a_program_that_takes_anothers_rights_is_known() {
        let programs = Programs::new();
        let plain = programs.compile("plain", &[]);
        let become_as = |uid: u32, gid: u32, mode: u32| {
            std::os::unix::fs::chown(&plain, Some(uid), Some(gid)).expect("this test needs root");
            fs::set_permissions(&plain, fs::Permissions::from_mode(mode)).expect("root may");
            found(&plain).map(|(_, kind)| kind)
        };
        let (user, group) = kernel::privilege::effective();
        assert_eq!(become_as(65_534, group, 0o4755), Some(Kind::SetId));
        assert_eq!(become_as(user, 65_534, 0o2755), Some(Kind::SetId));
        assert_eq!(become_as(user, group, 0o6755), None);
        // Without group execution, the bit has another meaning.
        assert_eq!(become_as(user, 65_534, 0o2745), None);
        assert_eq!(become_as(65_534, 65_534, 0o755), None);
    }

    #[test]
    fn what_is_not_run_says_why() {
        let programs = Programs::new();
        let script = programs.script("script", "#!/no/such/shell\n");
        let why = |path: &Path| not_run(path, &Command::new(path).spawn().expect_err("it cannot be run"));
        assert_eq!(why(&script), "there is no /no/such/shell, its interpreter, as its first line says");
        assert_eq!(why(programs.0.path()), "it is a directory");
        assert_eq!(why(&programs.path("none")), "No such file or directory");
        assert_eq!(why(Path::new("")), "its name is empty");
    }

    #[test]
    fn programs_are_found_as_a_shell_finds_them() {
        let of_name = find(OsStr::new("sh")).expect("it is on the PATH");
        assert!(of_name.is_absolute() && of_name.ends_with("sh"));
        assert_eq!(find(OsStr::new("./some/where")), Some("./some/where".into()));
        assert_eq!(find(OsStr::new("no-such-program-anywhere")), None);
    }
}
