//! Forms that a report takes, a module each.

mod csv;
mod html;
mod markdown;
mod numbers;

pub use self::{
    csv::csv,
    html::{comparison_html, html},
    markdown::markdown,
};
