//! Machines of several names that are one kernel, as containers of one host are. Pure.

use model::{Bed, Doubt, Environment};

/// Marks a bed between machines that are one kernel as simulated. Each of them chose its cores alone, so that the first of both may be
/// the same.
pub(crate) fn on_one_kernel(bed: &mut Bed, environment: &Environment) -> Option<Doubt> {
    if !environment.is_one_kernel() {
        return None;
    }
    bed.set_one_kernel();
    let (to, senders) = bed.endpoints.split_last()?;
    let cpu = *to.cpus.first()?;
    senders.iter().any(|end| end.cpus.first() == Some(&cpu)).then_some(Doubt::SharedCore { cpu })
}

#[cfg(test)]
mod tests {
    use model::environment::HostFacts;

    use super::*;

    fn booted(ids: [&str; 2]) -> Environment {
        let host = |id: &str| HostFacts { boot_id: id.into(), ..HostFacts::default() };
        Environment { hosts: ids.map(host).to_vec(), ..Environment::default() }
    }

    #[test]
    fn hosts_of_one_kernel_are_simulated_and_may_share_a_core() {
        let mut bed = Bed { simulated: false, ..model::fixture::lab() };
        for (end, cpus) in bed.endpoints.iter_mut().zip([[1, 0], [1, 2]]) {
            end.machine = format!("host-{}", end.name);
            end.cpus = cpus.to_vec();
        }
        assert_eq!(on_one_kernel(&mut bed, &booted(["x", "y"])), None);
        assert!(!bed.simulated, "two machines, each with its own core 1");
        assert_eq!(on_one_kernel(&mut bed, &booted(["x", "x"])), Some(Doubt::SharedCore { cpu: 1 }));
        assert!(bed.simulated && bed.layout() == "hosts-one-kernel");
        bed.endpoints[0].cpus = vec![0, 1];
        assert_eq!(on_one_kernel(&mut bed, &booted(["x", "x"])), None);
    }
}
