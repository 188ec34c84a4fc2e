//! Calls that execute another program in this process. It inherits the sockets, and the datagrams that wait go to the kernel's queues
//! first.
//!
//! libc's functions do the rest: some take a variable number of arguments, which a shim leaves where they are.

use std::{
    arch::naked_asm,
    ffi::{CStr, c_int, c_void},
    ptr,
    sync::atomic::{AtomicPtr, Ordering::Relaxed},
};

use crate::call::set_errno;

/// A function of libc by its name, found once: the search takes locks, which a child of `vfork` has to do without.
struct Next(&'static CStr, AtomicPtr<c_void>);

impl Next {
    const fn of(name: &'static CStr) -> Self {
        Self(name, AtomicPtr::new(ptr::null_mut()))
    }

    fn find(&self) -> *mut c_void {
        let known = self.1.load(Relaxed);
        if !known.is_null() {
            return known;
        }
        // SAFETY: a name that ends with NUL.
        let found = unsafe { libc::dlsym(libc::RTLD_NEXT, self.0.as_ptr()) };
        let found = if found.is_null() { is_missing as *mut c_void } else { found };
        self.1.store(found, Relaxed);
        found
    }
}

/// A function that this libc does not have.
extern "C" fn is_missing() -> c_int {
    set_errno(libc::ENOSYS);
    -1
}

/// Prepares the call, and goes on in libc's function with all arguments as they are.
macro_rules! shims {
    ($($name:ident of $next:ident, $address:ident: $text:literal;)*) => {
        $(
            static $next: Next = Next::of($text);

            extern "C" fn $address() -> *mut c_void {
                adoption::before_exec();
                $next.find()
            }

            #[cfg(target_arch = "x86_64")]
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            unsafe extern "C-unwind" fn $name() -> c_int {
                naked_asm!(
                    ".cfi_startproc",
                    "push rdi",
                    ".cfi_adjust_cfa_offset 8",
                    "push rsi",
                    ".cfi_adjust_cfa_offset 8",
                    "push rdx",
                    ".cfi_adjust_cfa_offset 8",
                    "push rcx",
                    ".cfi_adjust_cfa_offset 8",
                    "push r8",
                    ".cfi_adjust_cfa_offset 8",
                    "push r9",
                    ".cfi_adjust_cfa_offset 8",
                    "push rax",
                    ".cfi_adjust_cfa_offset 8",
                    "call {address}",
                    "mov r11, rax",
                    "pop rax",
                    ".cfi_adjust_cfa_offset -8",
                    "pop r9",
                    ".cfi_adjust_cfa_offset -8",
                    "pop r8",
                    ".cfi_adjust_cfa_offset -8",
                    "pop rcx",
                    ".cfi_adjust_cfa_offset -8",
                    "pop rdx",
                    ".cfi_adjust_cfa_offset -8",
                    "pop rsi",
                    ".cfi_adjust_cfa_offset -8",
                    "pop rdi",
                    ".cfi_adjust_cfa_offset -8",
                    "jmp r11",
                    ".cfi_endproc",
                    address = sym $address,
                )
            }

            #[cfg(target_arch = "aarch64")]
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            unsafe extern "C-unwind" fn $name() -> c_int {
                naked_asm!(
                    ".cfi_startproc",
                    "stp x29, x30, [sp, #-80]!",
                    ".cfi_def_cfa_offset 80",
                    ".cfi_offset x29, -80",
                    ".cfi_offset x30, -72",
                    "mov x29, sp",
                    "stp x0, x1, [sp, #16]",
                    "stp x2, x3, [sp, #32]",
                    "stp x4, x5, [sp, #48]",
                    "stp x6, x7, [sp, #64]",
                    "bl {address}",
                    "mov x16, x0",
                    "ldp x0, x1, [sp, #16]",
                    "ldp x2, x3, [sp, #32]",
                    "ldp x4, x5, [sp, #48]",
                    "ldp x6, x7, [sp, #64]",
                    "ldp x29, x30, [sp], #80",
                    ".cfi_restore x29",
                    ".cfi_restore x30",
                    ".cfi_def_cfa_offset 0",
                    "br x16",
                    ".cfi_endproc",
                    address = sym $address,
                )
            }
        )*

        /// Looks all of them up.
        pub(crate) fn find_all() {
            for next in [$(&$next),*] {
                next.find();
            }
        }
    };
}

shims! {
    execl of EXECL, before_execl: c"execl";
    execle of EXECLE, before_execle: c"execle";
    execlp of EXECLP, before_execlp: c"execlp";
    execv of EXECV, before_execv: c"execv";
    execve of EXECVE, before_execve: c"execve";
    execveat of EXECVEAT, before_execveat: c"execveat";
    execvp of EXECVP, before_execvp: c"execvp";
    execvpe of EXECVPE, before_execvpe: c"execvpe";
    fexecve of FEXECVE, before_fexecve: c"fexecve";
}
