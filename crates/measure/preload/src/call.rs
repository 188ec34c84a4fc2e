//! System calls as libc makes them, with errno and as the cancellation points that some of them are.

pub(crate) use adoption::call::*;

/// A system call as libc does it, with errno.
macro_rules! kernel {
    ($number:ident $(, $argument:expr)* $(,)?) => {
        $crate::call::answer($crate::call::raw(libc::$number, [$($crate::call::Argument::word($argument)),*])) as _
    };
}

/// The same for a function that is a cancellation point.
macro_rules! waiting {
    ($number:ident $(, $argument:expr)* $(,)?) => {
        $crate::call::answer($crate::call::raw_waiting(libc::$number, [$($crate::call::Argument::word($argument)),*])) as _
    };
}

pub(crate) use {kernel, waiting};
