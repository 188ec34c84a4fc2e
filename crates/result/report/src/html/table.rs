//! Tables that scroll in their own box, also by keyboard.

use maud::{Markup, html};

/// A table with a caption; `head` is made of [`words`] and [`figures`], `rows` of `tr` elements.
pub(super) fn table(caption: &str, head: &Markup, rows: &Markup) -> Markup {
    html! {
        div.scroll role="region" aria-label=(caption) tabindex="0" {
            table {
                caption { span { (caption) } }
                thead { tr { (head) } }
                tbody { (rows) }
            }
        }
    }
}

/// Head of a column of words.
pub(super) fn words(head: &str) -> Markup {
    html! { th scope="col" { (head) } }
}

/// Head of a column of figures, which stand to the right.
pub(super) fn figures(head: &str) -> Markup {
    html! { th.figures scope="col" { (head) } }
}

/// A table of items and their values, two columns without a head. Items without a value are left out.
pub(super) fn items(caption: &str, items: &[(String, String)]) -> Markup {
    html! {
        div.scroll role="region" aria-label=(caption) tabindex="0" {
            table.items {
                caption { span { (caption) } }
                tbody {
                    @for (item, value) in items.iter().filter(|(_, value)| !value.is_empty()) {
                        tr { th scope="row" { (item) } td { (value) } }
                    }
                }
            }
        }
    }
}
