//! Live rates as people see them: on a screen, line by line, and summed up at the end.
//!
//! Nothing here reads a clock, a counter or a key; it draws what it is given.

mod columns;
mod detail;
mod graph;
mod lines;
mod scale;
mod screen;
mod style;
mod table;
mod text;

pub use lines::{lines, summary};
pub use screen::{KeyPress, Screen};
