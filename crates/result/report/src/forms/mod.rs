//! Forms that a page takes, a module each.

mod html;
mod numbers;

pub use html::html;
