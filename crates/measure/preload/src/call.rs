//! System calls as libc makes them, with errno; some are cancellation points.

pub(crate) use adoption::call::*;

/// A system call like libc's, with errno.
macro_rules! kernel {
    ($number:ident $(, $argument:expr)* $(,)?) => {
        $crate::call::answer($crate::call::raw(libc::$number, [$($crate::call::Argument::word($argument)),*])) as _
    };
}

/// The same as a cancellation point.
macro_rules! waiting {
    ($number:ident $(, $argument:expr)* $(,)?) => {
        $crate::call::answer($crate::call::raw_waiting(libc::$number, [$($crate::call::Argument::word($argument)),*])) as _
    };
}

pub(crate) use {kernel, waiting};
