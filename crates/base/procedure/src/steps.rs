//! A list of configurations, one after the other.

use crate::{Configuration, Next, Past, Procedure, Why};

/// The simplest procedure: nothing depends on a trial.
#[derive(Debug)]
pub(crate) struct Steps(pub(crate) Vec<Configuration>);

impl Procedure for Steps {
    fn next(&self, past: &[Past]) -> Next {
        self.0.get(past.len()).map_or(Next::End(Why::AllAsked), |next| Next::Measure(next.clone(), Why::Listed))
    }

    fn expected(&self, past: &[Past]) -> Vec<Configuration> {
        self.0.iter().skip(past.len()).cloned().collect()
    }
}
