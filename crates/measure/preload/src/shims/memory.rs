//! Calls after which memory may be there no more.

use std::ffi::{c_int, c_void};

use libc::{off_t, size_t};

use crate::{call::kernel, data::finish_copies, memory};

/// Makes a call that unmaps or protects these bytes.
fn change<T>(start: usize, length: usize, call: impl FnOnce() -> T) -> T {
    memory::change(start, length, finish_copies, call)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn munmap(start: *mut c_void, length: size_t) -> c_int {
    // SAFETY: the caller's memory, as libc takes it.
    change(start as usize, length, || unsafe { kernel!(SYS_munmap, start, length) })
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn mprotect(start: *mut c_void, length: size_t, rights: c_int) -> c_int {
    // SAFETY: the caller's memory, as libc takes it.
    change(start as usize, length, || unsafe { kernel!(SYS_mprotect, start, length, rights) })
}

/// Only over memory that may be in use.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn mmap(
    start: *mut c_void,
    length: size_t,
    rights: c_int,
    flags: c_int,
    fd: c_int,
    offset: off_t,
) -> *mut c_void {
    // SAFETY: the caller's memory, as libc takes it.
    let map = || unsafe { kernel!(SYS_mmap, start, length, rights, flags, fd, offset as isize) };
    let mapped: isize = if flags & libc::MAP_FIXED == 0 { map() } else { change(start as usize, length, map) };
    mapped as *mut c_void
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn mmap64(
    start: *mut c_void,
    length: size_t,
    rights: c_int,
    flags: c_int,
    fd: c_int,
    offset: off_t,
) -> *mut c_void {
    // SAFETY: the caller's memory, as libc takes it.
    unsafe { mmap(start, length, rights, flags, fd, offset) }
}

/// The last argument is one only with `MREMAP_FIXED`: what lay at that place goes, too.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn mremap(
    old: *mut c_void,
    old_length: size_t,
    length: size_t,
    flags: c_int,
    new: *mut c_void,
) -> *mut c_void {
    // SAFETY: the caller's memory, as libc takes it.
    let map = || unsafe { kernel!(SYS_mremap, old, old_length, length, flags, new) };
    let mapped: isize = change(old as usize, old_length, || match flags & libc::MREMAP_FIXED {
        0 => map(),
        _ => change(new as usize, length, map),
    });
    mapped as *mut c_void
}
