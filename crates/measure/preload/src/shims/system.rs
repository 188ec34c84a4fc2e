//! System calls that a program makes by libc's `syscall`: those that end descriptors are seen, as libuv closes all of its own in that way.
//!
//! All others go to the kernel from here without a frame, as from libc: some of them return twice, or with another stack.

use std::{arch::naked_asm, ffi::c_long};

use super::descriptors::{close_at_once, close_range, dup3};
use crate::call::answer;

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
        "jmp {seen}",
        "3:",
        "mov rdi, rax",
        "jmp {failed}",
        ".cfi_endproc",
        close = const libc::SYS_close,
        close_range = const libc::SYS_close_range,
        dup2 = const libc::SYS_dup2,
        dup3 = const libc::SYS_dup3,
        seen = sym seen,
        failed = sym failed,
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
        "b {seen}",
        "3:",
        "b {failed}",
        ".cfi_endproc",
        close = const libc::SYS_close,
        close_range = const libc::SYS_close_range,
        dup3 = const libc::SYS_dup3,
        seen = sym seen,
        failed = sym failed,
    )
}

/// One that ends a descriptor, or what had its number until now.
unsafe extern "C-unwind" fn seen(number: c_long, a: usize, b: usize, c: usize) -> c_long {
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

/// The kernel's error, as libc tells it.
extern "C-unwind" fn failed(result: isize) -> c_long {
    answer(result) as c_long
}
