//! Figures as inline SVG. Drawn here rather than by a plotting library, because colours must follow the reader's light
//! or dark scheme by CSS class, text must stay legible at phone width, and each figure carries its words for a screen
//! reader.

mod chart;
mod distribution;
mod goodput;
mod latency;
mod topology;

pub(crate) use distribution::distribution;
pub(crate) use goodput::goodput_over_time;
pub(crate) use latency::rtt_by_frame_size;
pub(crate) use topology::topology;
