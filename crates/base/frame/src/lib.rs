//! Frames: builders, parsers, and the tag that each of our packets carries.
//!
//! This crate is pure: bytes in, bytes out. What BPF programs have to know of the tag is written from [`tag`] alone.

pub mod checksum;
mod compiled;
mod filter;
pub mod headers;
pub mod parse;
mod read;
pub mod resolve;
pub mod tag;
mod variation;

pub use self::{
    compiled::{CompileError, Compiled, Offsets, Place, Size},
    filter::{Filter, FilterError},
    read::{TaggedFrame, read},
    tag::Tag,
    variation::{Sequence, Variation, hash},
};
