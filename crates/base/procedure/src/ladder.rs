//! Loads from the lowest to the highest, for each configuration that is otherwise the same.

use model::ProbeSpec;

use crate::{Configuration, Next, PastTrial, Procedure, Reason};

/// A load, with the proof of its MTU before it where that is changed.
type Rung = Vec<Configuration>;

/// The loads of each configuration, climbed as long as the trials of a rung let it.
#[derive(Debug)]
pub(crate) struct Ladder {
    /// The rungs of each configuration.
    flights: Vec<Vec<Rung>>,
    /// Whether the trials of a rung allow the next one.
    climbs: fn(&[PastTrial]) -> bool,
}

impl Ladder {
    /// Climbs all rungs, whatever their trials bring.
    pub(crate) fn of_all_rungs(configurations: Vec<Configuration>) -> Self {
        Self::new(configurations, |_| true)
    }

    pub(crate) fn new(configurations: Vec<Configuration>, climbs: fn(&[PastTrial]) -> bool) -> Self {
        let mut flights: Vec<(ProbeSpec, Vec<Rung>)> = Vec::new();
        let mut rung = Rung::new();
        for configuration in configurations {
            let load = configuration.spec.probe().without_load();
            rung.push(configuration);
            // A proof of the MTU has no load.
            let Some(flight) = load else { continue };
            let rung = std::mem::take(&mut rung);
            match flights.last_mut() {
                Some((last, rungs)) if *last == flight => rungs.push(rung),
                _ => flights.push((flight, vec![rung])),
            }
        }
        Self { flights: flights.into_iter().map(|(_, rungs)| rungs).collect(), climbs }
    }

    /// Configurations that come after this past.
    fn rest<'a>(&'a self, mut past: &[PastTrial]) -> Vec<&'a Configuration> {
        let mut rest = Vec::new();
        for flight in &self.flights {
            for rung in flight {
                let (of_rung, later) = past.split_at(rung.len().min(past.len()));
                past = later;
                rest.extend(&rung[of_rung.len()..]);
                if of_rung.len() == rung.len() && !(self.climbs)(of_rung) {
                    break;
                }
            }
        }
        rest
    }
}

impl Procedure for Ladder {
    fn next(&self, past: &[PastTrial]) -> Next {
        let next = self.rest(past).first().map(|next| (*next).clone());
        next.map_or(Next::End(Reason::AllAsked), |next| Next::Measure(next, Reason::Rung))
    }

    fn expected(&self, past: &[PastTrial]) -> Vec<Configuration> {
        self.rest(past).into_iter().cloned().collect()
    }
}
