//! Figures as SVG. Drawn here rather than by a plotting library, because colours must follow the reader's light or dark
//! scheme by class, text must stay legible at phone width, and each figure carries its words for a screen reader.
//!
//! The classes that give colours: `series` in the colour of `s0` to `s5`, within it `bar` and `mark`, `dashed` for a hollow
//! and dashed one; `grid` and `axis` for lines; for text `name` (paler), `heading` and `value`; `box` and `link` of a topology.

mod chart;
mod distribution;
mod goodput;
mod latency;
mod topology;

pub(crate) use chart::swatch;
pub(crate) use distribution::distribution;
pub(crate) use goodput::goodput_over_time;
pub(crate) use latency::rtt_by_frame_size;
pub(crate) use topology::topology;
