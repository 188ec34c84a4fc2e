//! Which core each end measures on. Pure.

/// Cores for the two ends out of those allowed: two different ones where there are two. Core 0 is left to the kernel's
/// own work where there are more than two.
pub(crate) fn choose(allowed: &[usize]) -> [Option<usize>; 2] {
    match allowed {
        [] => [None, None],
        [only] => [Some(*only); 2],
        [first, second] => [Some(*first), Some(*second)],
        many => {
            let mut calm = many.iter().copied().filter(|cpu| *cpu != 0);
            [calm.next(), calm.next()]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::choose;

    #[test]
    fn ends_sit_apart_where_they_can() {
        assert_eq!(choose(&[]), [None, None]);
        assert_eq!(choose(&[3]), [Some(3), Some(3)]);
        assert_eq!(choose(&[0, 1]), [Some(0), Some(1)]);
        assert_eq!(choose(&[0, 1, 2, 3]), [Some(1), Some(2)]);
        assert_eq!(choose(&[4, 6, 8]), [Some(4), Some(6)]);
    }
}
