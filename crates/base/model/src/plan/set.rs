//! `--set KEY=VALUE` on a plan, before it is read as one.

use super::PlanError;

/// Changes one key, or that key in all items of a section.
pub(super) fn apply_set(table: &mut toml::Table, set: &str) -> Result<(), PlanError> {
    let error = |why: &str| PlanError::Set { set: set.to_owned(), why: why.to_owned() };
    let (key, value) = set.split_once('=').ok_or_else(|| error("write it as KEY=VALUE, for example repeats=6"))?;
    let value = parse_set_value(value.trim());
    let path: Vec<&str> = key.trim().split('.').collect();
    match path.as_slice() {
        [key] if !key.is_empty() => {
            table.insert((*key).to_owned(), value);
        }
        [section, key] if !key.is_empty() => {
            let Some(toml::Value::Array(items)) = table.get_mut(*section) else {
                let why = format!("the plan has no [[{section}]] section, so there is nothing that this could change");
                return Err(error(&why));
            };
            for item in items.iter_mut().filter_map(toml::Value::as_table_mut) {
                item.insert((*key).to_owned(), value.clone());
            }
        }
        _ => return Err(error("the key is one word (repeats) or section.word (latency.count)")),
    }
    Ok(())
}

/// A TOML value where it is one (numbers, lists), text otherwise (`10 s`).
fn parse_set_value(text: &str) -> toml::Value {
    let document = format!("value = {text}");
    let parsed = toml::from_str::<toml::Table>(&document).ok().and_then(|mut table| table.remove("value"));
    parsed.unwrap_or_else(|| toml::Value::String(text.to_owned()))
}
