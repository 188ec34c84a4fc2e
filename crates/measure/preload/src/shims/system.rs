//! System calls by libc's `syscall`. Calls that close descriptors are intercepted, because libuv closes its own this
//! way.
//!
//! Calls that send and receive datagrams are intercepted too, as libuv uses them for several at once.
//!
//! All others are made here without a frame, as in libc: some return twice, or on another stack.

use std::{arch::naked_asm, ffi::c_long};

use super::{
    descriptors::{close_at_once, close_range, dup3},
    receive::{recvfrom, recvmmsg, recvmsg},
    send::{sendmmsg, sendmsg, sendto},
};
use crate::{
    call::{answer, raw},
    descriptors::live,
};

#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn syscall() -> c_long {
    naked_asm!(
        ".cfi_startproc",
        "cmp rdi, {close}",
        "je 2f",
        "cmp rdi, {close_range}",
        "je 2f",
        "cmp rdi, {dup2}",
        "je 2f",
        "cmp rdi, {dup3}",
        "je 2f",
        "cmp rdi, {sendto}",
        "je 4f",
        "cmp rdi, {recvfrom}",
        "je 4f",
        "cmp rdi, {sendmsg}",
        "je 4f",
        "cmp rdi, {recvmsg}",
        "je 4f",
        "cmp rdi, {recvmmsg}",
        "je 4f",
        "cmp rdi, {sendmmsg}",
        "je 4f",
        "mov rax, rdi",
        "mov rdi, rsi",
        "mov rsi, rdx",
        "mov rdx, rcx",
        "mov r10, r8",
        "mov r8, r9",
        "mov r9, [rsp + 8]",
        "syscall",
        "cmp rax, -4095",
        "jae 3f",
        "ret",
        "2:",
        "jmp {close_or_replace}",
        "3:",
        "mov rdi, rax",
        "jmp {failed}",
        "4:",
        "jmp {datagrams}",
        ".cfi_endproc",
        close = const libc::SYS_close,
        close_range = const libc::SYS_close_range,
        dup2 = const libc::SYS_dup2,
        dup3 = const libc::SYS_dup3,
        sendto = const libc::SYS_sendto,
        recvfrom = const libc::SYS_recvfrom,
        sendmsg = const libc::SYS_sendmsg,
        recvmsg = const libc::SYS_recvmsg,
        recvmmsg = const libc::SYS_recvmmsg,
        sendmmsg = const libc::SYS_sendmmsg,
        close_or_replace = sym close_or_replace,
        failed = sym failed,
        datagrams = sym datagrams,
    )
}

#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn syscall() -> c_long {
    naked_asm!(
        ".cfi_startproc",
        "cmp x0, #{close}",
        "b.eq 2f",
        "cmp x0, #{close_range}",
        "b.eq 2f",
        "cmp x0, #{dup3}",
        "b.eq 2f",
        "cmp x0, #{sendto}",
        "b.eq 4f",
        "cmp x0, #{recvfrom}",
        "b.eq 4f",
        "cmp x0, #{sendmsg}",
        "b.eq 4f",
        "cmp x0, #{recvmsg}",
        "b.eq 4f",
        "cmp x0, #{recvmmsg}",
        "b.eq 4f",
        "cmp x0, #{sendmmsg}",
        "b.eq 4f",
        "mov x8, x0",
        "mov x0, x1",
        "mov x1, x2",
        "mov x2, x3",
        "mov x3, x4",
        "mov x4, x5",
        "mov x5, x6",
        "svc #0",
        "cmn x0, #4095",
        "b.cs 3f",
        "ret",
        "2:",
        "b {close_or_replace}",
        "3:",
        "b {failed}",
        "4:",
        "b {datagrams}",
        ".cfi_endproc",
        close = const libc::SYS_close,
        close_range = const libc::SYS_close_range,
        dup3 = const libc::SYS_dup3,
        sendto = const libc::SYS_sendto,
        recvfrom = const libc::SYS_recvfrom,
        sendmsg = const libc::SYS_sendmsg,
        recvmsg = const libc::SYS_recvmsg,
        recvmmsg = const libc::SYS_recvmmsg,
        sendmmsg = const libc::SYS_sendmmsg,
        close_or_replace = sym close_or_replace,
        failed = sym failed,
        datagrams = sym datagrams,
    )
}

/// A call that closes a descriptor or replaces it.
unsafe extern "C-unwind" fn close_or_replace(number: c_long, a: usize, b: usize, c: usize) -> c_long {
    // SAFETY: none of them takes a pointer.
    let result = unsafe {
        match number {
            libc::SYS_close => close_at_once(a as _),
            libc::SYS_close_range => close_range(a as _, b as _, c as _),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_dup2 => super::descriptors::dup2(a as _, b as _),
            _ => dup3(a as _, b as _, c as _),
        }
    };
    result.into()
}

/// A call that sends or receives: handled by libc's function of that name if the socket is bypassed.
unsafe extern "C-unwind" fn datagrams(
    number: c_long,
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    e: usize,
    f: usize,
) -> c_long {
    // SAFETY: the caller's arguments, as the kernel takes them.
    unsafe {
        if live(a as _).is_none() {
            return answer(raw(number, [a, b, c, d, e, f])) as c_long;
        }
        match number {
            libc::SYS_sendto => sendto(a as _, b as _, c, d as _, e as _, f as _) as _,
            libc::SYS_recvfrom => recvfrom(a as _, b as _, c, d as _, e as _, f as _) as _,
            libc::SYS_sendmsg => sendmsg(a as _, b as _, c as _) as _,
            libc::SYS_recvmsg => recvmsg(a as _, b as _, c as _) as _,
            libc::SYS_sendmmsg => sendmmsg(a as _, b as _, c as _, d as _).into(),
            _ => recvmmsg(a as _, b as _, c as _, d as _, e as _).into(),
        }
    }
}

/// The kernel's error in libc's form.
extern "C-unwind" fn failed(result: isize) -> c_long {
    answer(result) as c_long
}
