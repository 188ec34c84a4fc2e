//! Goodput: bulk data one way, counted where it arrives.
//!
//! One thread gives to all streams in turn; each stream has a thread that takes. The counted time begins a fixed warm-up after the first byte (that warm-up is stored with
//! the result) and is cut into whole seconds by the receiver's clock. Sender and receiver also count every byte of the
//! whole transfer, so that the two sums can be compared after the last byte has been drained.

mod receiver;
mod sender;
mod timeline;

pub use receiver::Receiver;
pub use sender::Sender;

/// Bytes given to one write or read call. Fits a core's second-level cache together with the kernel's copy.
const CHUNK: usize = 256 * 1024;

/// A blocked call returns after this long, to see whether the side shall stop.
const STOP_CHECK: std::time::Duration = std::time::Duration::from_millis(500);

#[cfg(test)]
mod tests;
