//! A list of configurations, one after the other.

use crate::{Configuration, Next, PastTrial, Procedure, Reason};

/// The simplest procedure: nothing depends on a trial.
#[derive(Debug)]
pub(crate) struct Steps(pub(crate) Vec<Configuration>);

impl Procedure for Steps {
    fn next(&self, past: &[PastTrial]) -> Next {
        self.0.get(past.len()).map_or(Next::End(Reason::AllAsked), |next| Next::Measure(next.clone(), Reason::Listed))
    }

    fn expected(&self, past: &[PastTrial]) -> Vec<Configuration> {
        self.0.iter().skip(past.len()).cloned().collect()
    }
}
