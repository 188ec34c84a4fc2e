//! `--set KEY=VALUE` on a plan, before it is read as one.

use super::PlanError;

/// Changes the plan by each of these in turn.
pub(super) fn apply_sets(table: &mut toml::Table, sets: &[String]) -> Result<(), PlanError> {
    make_room(table, sets);
    sets.iter().try_for_each(|set| apply_set(table, set))
}

/// Keys of which an item has one at the most.
const ONE_OF: [(&str, &[&str]); 2] =
    [("latency", &["count", "duration"]), ("packets", &["frame_sizes", "sizes", "stream"])];

/// A latency trial ends by its count or after its duration: who asks for the one means it instead of the plan's other one. To
/// ask for both stays an error.
fn make_room(table: &mut toml::Table, sets: &[String]) {
    let asks = |key: &str| sets.iter().any(|set| set.split_once('=').is_some_and(|(asked, _)| asked.trim() == key));
    for (section, keys) in ONE_OF {
        let Some(asked) = keys.iter().find(|key| asks(&format!("{section}.{key}"))) else { continue };
        let items = table.get_mut(section).and_then(toml::Value::as_array_mut);
        for item in items.into_iter().flatten().filter_map(toml::Value::as_table_mut) {
            keys.iter().filter(|key| *key != asked).for_each(|other| drop(item.remove(*other)));
        }
    }
}

/// Changes one key, that key in all items of a section, or in one of them.
fn apply_set(table: &mut toml::Table, set: &str) -> Result<(), PlanError> {
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
        [section, number, key] if !key.is_empty() => {
            let items = table.get_mut(*section).and_then(toml::Value::as_array_mut);
            let index = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
            let item = items.zip(index).and_then(|(items, index)| items.get_mut(index)?.as_table_mut());
            let why = || format!("the plan has no [[{section}]] number {number}; they are counted from 1");
            item.ok_or_else(|| error(&why()))?.insert((*key).to_owned(), value);
        }
        _ => {
            let why = "the key is one word (repeats), section.word for all items of a section (latency.count), or \
                       section.number.word for one of them (goodput.2.duration)";
            return Err(error(why));
        }
    }
    Ok(())
}

/// A TOML value where it is one (numbers, lists), text otherwise (`10 s`).
fn parse_set_value(text: &str) -> toml::Value {
    let document = format!("value = {text}");
    let parsed = toml::from_str::<toml::Table>(&document).ok().and_then(|mut table| table.remove("value"));
    parsed.unwrap_or_else(|| toml::Value::String(text.to_owned()))
}
