//! TLS in the kernel (kTLS): whether it is there, and whether a server used it.

use std::fs;

use model::trial::KernelTls;

/// Counters of this network namespace, there while the module is (networking/tls.rst of the kernel's documentation).
const COUNTERS: &str = "/proc/thread-self/net/tls_stat";

/// Connections that the kernel or the card began to encrypt.
const COUNTED: [&str; 2] = ["TlsTxSw", "TlsTxDevice"];

/// Whether the kernel has it.
pub(super) fn is_there() -> bool {
    connections().is_some()
}

/// Connections so far; `None` where the kernel has none of it.
pub(super) fn connections() -> Option<u64> {
    Some(sum(&fs::read_to_string(COUNTERS).ok()?))
}

/// Its use since then.
pub(super) fn since(before: Option<u64>) -> KernelTls {
    of(before, connections())
}

fn of(before: Option<u64>, after: Option<u64>) -> KernelTls {
    match before.zip(after) {
        None => KernelTls::Lacking,
        Some((before, after)) if after > before => KernelTls::Used,
        Some(_) => KernelTls::Unused,
    }
}

fn sum(text: &str) -> u64 {
    let counts = text.lines().filter_map(|line| line.split_once(char::is_whitespace));
    let counted = counts.filter(|(name, _)| COUNTED.contains(name));
    counted.filter_map(|(_, count)| count.trim().parse::<u64>().ok()).fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_that_the_kernel_encrypts_are_counted() {
        let text = "TlsCurrTxSw                     \t1\nTlsTxSw                         \t7\nTlsRxSw                         \t9\n\
                    TlsTxDevice                     \t2\nTlsDecryptError                 \t3\n";
        assert_eq!(sum(text), 9);
        assert_eq!(of(Some(9), Some(9)), KernelTls::Unused);
        assert_eq!(of(Some(8), Some(9)), KernelTls::Used);
        assert_eq!(of(None, None), KernelTls::Lacking);
    }
}
