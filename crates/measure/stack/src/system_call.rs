//! System calls without libc, optionally as cancellation points.
//!
//! The preloaded library defines libc's own names, which would lead back to it.

use std::{
    arch::global_asm,
    ffi::{c_int, c_long},
    ptr,
    sync::atomic::{AtomicPtr, Ordering},
};

// The assembly has no frame or unwind table of Rust: cancellation may unwind from any of its instructions.
#[cfg(target_arch = "x86_64")]
global_asm!(
    ".hidden wireproof_system_call",
    ".global wireproof_system_call",
    ".type wireproof_system_call, @function",
    "wireproof_system_call:",
    ".cfi_startproc",
    "mov rax, rdi",
    "mov rdi, rsi",
    "mov rsi, rdx",
    "mov rdx, rcx",
    "mov r10, r8",
    "mov r8, r9",
    "mov r9, [rsp + 8]",
    "syscall",
    "ret",
    ".cfi_endproc",
    ".size wireproof_system_call, . - wireproof_system_call",
);

#[cfg(target_arch = "aarch64")]
global_asm!(
    ".hidden wireproof_system_call",
    ".global wireproof_system_call",
    ".type wireproof_system_call, @function",
    "wireproof_system_call:",
    ".cfi_startproc",
    "mov x8, x0",
    "mov x0, x1",
    "mov x1, x2",
    "mov x2, x3",
    "mov x3, x4",
    "mov x4, x5",
    "mov x5, x6",
    "svc #0",
    "ret",
    ".cfi_endproc",
    ".size wireproof_system_call, . - wireproof_system_call",
);

unsafe extern "C-unwind" {
    fn wireproof_system_call(number: c_long, a: usize, b: usize, c: usize, d: usize, e: usize, f: usize) -> isize;
    fn pthread_setcanceltype(kind: c_int, old: *mut c_int) -> c_int;
}

const PTHREAD_CANCEL_ASYNCHRONOUS: c_int = 1;

/// glibc's flag (2.32 and newer) for a process that has never had another thread; null without it.
static SINGLE_THREADED: AtomicPtr<i8> = AtomicPtr::new(ptr::null_mut());

/// An argument of a system call.
pub trait Argument {
    /// As the kernel takes it: signed values are sign-extended.
    fn word(self) -> usize;
}

macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl Argument for $number {
            fn word(self) -> usize {
                self as usize
            }
        }
    )*};
}
numbers!(c_int, u32, usize, isize);

impl<T> Argument for *const T {
    fn word(self) -> usize {
        self as usize
    }
}

impl<T> Argument for *mut T {
    fn word(self) -> usize {
        self as usize
    }
}

/// A system call with up to six arguments; returns its result, or its error as a negative number.
///
/// # Safety
/// Result of the system call.
#[inline(always)]
pub unsafe fn raw<const N: usize>(number: c_long, arguments: [usize; N]) -> isize {
    let mut all = [0; 6];
    all[..N].copy_from_slice(&arguments);
    let [a, b, c, d, e, f] = all;
    // SAFETY: the caller's.
    unsafe { wireproof_system_call(number, a, b, c, d, e, f) }
}

/// The same as a cancellation point.
///
/// # Safety
/// Result of the system call; the frames above may hold nothing to drop.
#[inline(always)]
pub unsafe fn raw_cancellable<const N: usize>(number: c_long, arguments: [usize; N]) -> isize {
    if is_single_threaded() {
        // SAFETY: the caller's.
        return unsafe { raw(number, arguments) };
    }
    let mut old = 0;
    // SAFETY: libc itself calls the kernel in this way, and `old` outlives both calls.
    unsafe {
        pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &mut old);
        let result = raw(number, arguments);
        pthread_setcanceltype(old, ptr::null_mut());
        result
    }
}

/// Finds libc's flag for single-threaded processes; to be called once, at the start.
pub fn find_single_threaded() {
    // SAFETY: a name that ends with NUL.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"__libc_single_threaded".as_ptr()) };
    SINGLE_THREADED.store(found.cast(), Ordering::Relaxed);
}

/// Whether the process has never had another thread.
#[inline(always)]
pub fn is_single_threaded() -> bool {
    let said = SINGLE_THREADED.load(Ordering::Relaxed);
    // SAFETY: null, or a byte of libc that lives as long as the process.
    !said.is_null() && unsafe { said.read_volatile() } != 0
}
