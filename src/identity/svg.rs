//! Check of an SVG logo: a drawing and nothing else, so that a document with it runs nothing and fetches nothing.

use roxmltree::{Document, Node};

const SVG: &str = "http://www.w3.org/2000/svg";

/// Elements that run, fetch or hold something other than a drawing.
const REFUSED: [&str; 12] = [
    "script",
    "foreignObject",
    "iframe",
    "object",
    "embed",
    "audio",
    "video",
    "handler",
    "listener",
    "animate",
    "set",
    "discard",
];

/// Refusal of files other than an SVG drawing that refers to nothing outside itself.
pub(super) fn check(content: &[u8]) -> Result<(), String> {
    let text =
        str::from_utf8(content).map_err(|_| "this is neither SVG nor PNG; save it as one of these".to_owned())?;
    // A document type is refused: its entities could grow without bound.
    let document = Document::parse(text).map_err(|error| {
        if text.trim_start().starts_with('<') {
            format!("it cannot be read as SVG ({error}); save it again as plain SVG")
        } else {
            "this is neither SVG nor PNG; save it as one of these".to_owned()
        }
    })?;
    let root = document.root_element();
    let has_size = root.has_attribute("viewBox") || root.has_attribute("width") && root.has_attribute("height");
    if !root.has_tag_name((SVG, "svg")) || !has_size {
        return Err("it is XML, but no SVG drawing with a size (viewBox, or width and height)".to_owned());
    }
    document.descendants().find_map(fault).map_or(Ok(()), |what| {
        Err(format!(
            "it has {what}, and a logo neither runs nor fetches anything; remove that and save it as plain SVG"
        ))
    })
}

fn fault(node: Node<'_, '_>) -> Option<String> {
    if let Some(instruction) = node.pi() {
        return Some(format!("a processing instruction ({})", instruction.target));
    }
    let name = node.tag_name().name();
    if REFUSED.iter().any(|refused| name.eq_ignore_ascii_case(refused)) || name.starts_with("animate") {
        return Some(format!("an element <{name}>"));
    }
    let text = node.text().filter(|_| name.eq_ignore_ascii_case("style"));
    if let Some(outside) = text.and_then(outside) {
        return Some(format!("{outside} in its style"));
    }
    node.attributes().find_map(|attribute| {
        let (name, value) = (attribute.name(), attribute.value());
        let runs = name.len() > 2 && name.get(..2).is_some_and(|start| start.eq_ignore_ascii_case("on"));
        let is_reference = name.eq_ignore_ascii_case("href") || name.eq_ignore_ascii_case("src");
        match () {
            () if runs => Some(format!("a script in {name}")),
            () if is_reference && !is_inside(value) => Some(format!("a reference to {value:.40}")),
            () => outside(value).map(|outside| format!("{outside} in {name}")),
        }
    })
}

/// References to a part of the drawing, or to a picture in it, stay inside.
fn is_inside(reference: &str) -> bool {
    ["#", "data:image/png;", "data:image/jpeg;"].iter().any(|inside| reference.trim_start().starts_with(inside))
}

/// References of a style to outside the drawing. A backslash could hide one.
fn outside(style: &str) -> Option<&'static str> {
    let style = style.to_ascii_lowercase();
    if style.contains("@import") || style.contains('\\') {
        return Some("an import or an escape");
    }
    let mut targets = style.split("url(").skip(1).map(|target| target.trim_start().trim_start_matches(['"', '\'']));
    targets.any(|target| !is_inside(target)).then_some("a reference to another file")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(inside: &str) -> Result<(), String> {
        let head = format!("<svg xmlns=\"{SVG}\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" viewBox=\"0 0 2 1\">");
        check(format!("{head}{inside}</svg>").as_bytes())
    }

    #[test]
    fn drawings_may_refer_to_themselves() {
        for drawing in [
            "",
            "<g eЗM=\"a name of letters of two bytes\"/>",
            "<title>logo</title><g fill=\"#123\"><path d=\"M0 0h2\"/></g>",
            "<defs><linearGradient id=\"a\"/></defs><rect fill=\"url(#a)\"/><use xlink:href=\"#a\"/><use href=\"#a\"/>",
            "<style>.a { fill: url( '#a' ) }</style><image href=\"data:image/png;base64,AAAA\"/>",
        ] {
            assert_eq!(checked(drawing), Ok(()), "{drawing}");
        }
    }

    #[test]
    fn what_runs_or_fetches_something_is_refused_by_name() {
        for (drawing, told) in [
            ("<script>x</script>", "an element <script>"),
            ("<foreignObject/>", "an element <foreignObject>"),
            ("<a><animateTransform/></a>", "an element <animateTransform>"),
            ("<rect onload=\"x\"/>", "a script in onload"),
            ("<use xlink:href=\"http://example.com/a.svg#a\"/>", "a reference to http://example.com/a.svg#a"),
            ("<a href=\"javascript:x\"/>", "a reference to javascript:x"),
            ("<image href=\"logo.png\"/>", "a reference to logo.png"),
            ("<image href=\"data:image/svg+xml;base64,AAAA\"/>", "a reference to data:image/svg+xml"),
            ("<rect style=\"fill: URL(http://example.com)\"/>", "a reference to another file in style"),
            ("<style>@import 'a.css';</style>", "an import or an escape in its style"),
            ("<style>rect { fill: u\\rl(a) }</style>", "an import or an escape in its style"),
            ("<?xml-stylesheet href=\"a.css\"?>", "a processing instruction (xml-stylesheet)"),
        ] {
            let error = checked(drawing).unwrap_err();
            assert!(error.contains(told), "{drawing}: {error}");
        }
    }

    #[test]
    fn other_files_are_no_drawings() {
        let error = |content: &[u8]| check(content).unwrap_err();
        assert!(error(b"\xff\xfe").contains("neither SVG nor PNG"));
        assert!(error(b"GIF89a").contains("neither SVG nor PNG"));
        assert!(error(b"<svg").contains("cannot be read as SVG"));
        assert!(error(b"<html/>").contains("no SVG drawing"));
        assert!(error(b"<svg xmlns=\"http://www.w3.org/2000/svg\"/>").contains("with a size"));
        let bomb = b"<!DOCTYPE svg [<!ENTITY a \"aaaa\">]><svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 1 1\">&a;</svg>";
        assert!(error(bomb).contains("cannot be read as SVG"), "{}", error(bomb));
    }
}
