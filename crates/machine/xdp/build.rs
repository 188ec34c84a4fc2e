//! Compiles each `src/*/*.bpf.c` for BPF, with the tag's layout from `frame`, the flow table's from `steer` and the counters' from `router`.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

#[path = "src/steer/layout.rs"]
#[allow(dead_code, reason = "here it is for the header alone")]
mod layout;
#[path = "src/router/layout.rs"]
#[allow(dead_code, reason = "as above")]
mod router_layout;
// By its file: as a dependency, `frame` and `model` under it would be built a second time, for the build script alone.
#[path = "../../base/frame/src/tag.rs"]
#[allow(dead_code, unreachable_pub, reason = "as above")]
mod tag;

const PROGRAMS: [&str; 5] = ["sender", "receiver", "bare", "steer", "router"];

fn main() {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("tag.h"), tag::c_header()).expect("the folder that cargo gave can be written to");
    fs::write(out.join("steer.h"), layout::c_header()).expect("as above");
    fs::write(out.join("router.h"), router_layout::c_header()).expect("as above");
    println!("cargo::rerun-if-changed=src");
    for program in PROGRAMS {
        let source = format!("src/{program}/{program}.bpf.c");
        compile(Path::new(&source), &out, &out.join(format!("{program}.bpf.o")));
    }
}

fn compile(source: &Path, include: &Path, object: &Path) {
    // Debian and Ubuntu keep asm/types.h there; clang searches it only when it compiles for this machine itself.
    let machine = env::var("CARGO_CFG_TARGET_ARCH").expect("cargo sets it");
    let mut clang = Command::new("clang");
    clang
        // cpu v3: atomics that return the previous value (Linux 5.12).
        .args(["-target", "bpf", "-mcpu=v3", "-O2", "-g", "-Wall", "-Werror", "-c"])
        .arg(format!("-I/usr/include/{machine}-linux-gnu"))
        .arg(format!("-I{}", include.display()))
        .arg("-Isrc")
        .args([source, Path::new("-o"), object]);
    match clang.status() {
        Ok(status) if status.success() => {}
        Ok(_) => panic!("clang could not compile {}; it needs libbpf-dev and linux-libc-dev", source.display()),
        Err(error) => {
            panic!("clang, which compiles the BPF programs, could not be run: {error}; install clang and libbpf-dev")
        }
    }
}
