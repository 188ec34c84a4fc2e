//! Values brought together that are alike, in the order in which they first came.

/// Each value once.
pub fn distinct<T: PartialEq>(values: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut found = Vec::new();
    for value in values {
        if !found.contains(&value) {
            found.push(value);
        }
    }
    found
}

/// Values that are alike, together; no group is empty.
pub fn grouped<T>(values: impl IntoIterator<Item = T>, alike: impl Fn(&T, &T) -> bool) -> Vec<Vec<T>> {
    let mut groups: Vec<Vec<T>> = Vec::new();
    for value in values {
        match groups.iter_mut().find(|group| alike(&group[0], &value)) {
            Some(group) => group.push(value),
            None => groups.push(vec![value]),
        }
    }
    groups
}
