//! Calls after which memory may be there no more.

use std::ffi::{c_int, c_void};

use libc::size_t;

use crate::{call::kernel, memory::forget};

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn munmap(start: *mut c_void, length: size_t) -> c_int {
    // SAFETY: the caller's memory, as libc takes it.
    let result = unsafe { kernel!(SYS_munmap, start, length) };
    forget(start as usize, length);
    result
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn mprotect(start: *mut c_void, length: size_t, rights: c_int) -> c_int {
    // SAFETY: the caller's memory, as libc takes it.
    let result = unsafe { kernel!(SYS_mprotect, start, length, rights) };
    forget(start as usize, length);
    result
}
