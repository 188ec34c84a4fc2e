//! Figures as SVG. Drawn here rather than by a plotting library, because colours must follow the reader's light or dark
//! scheme by class, text must stay legible at phone width, and each figure carries its words for a screen reader.
//!
//! The classes that give colours: `series` in the colour of `s0` to `s5`, within it `bar` and `mark`, `dashed` for a hollow
//! and dashed one, `level` for a line across, `fill` for an area, `whisker`, `range` and `middle` of a box plot; `grid` and `axis` for lines; for text `name` (paler), `heading` and `value`; `box` and `link` of a topology.

pub(crate) mod axis;
pub(crate) mod chart;
mod cpu;
mod distribution;
mod marks;
mod repeats;
mod rows;
mod side_by_side;
mod topology;

pub(crate) use self::{
    cpu::{NamedCore, cores},
    distribution::{distribution, merged},
    marks::swatch,
    repeats::{FigureSubject, Repeated, repeats},
    side_by_side::{Bars, Sides, side_by_side},
    topology::topology,
};
