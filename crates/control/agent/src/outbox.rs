//! The agent's end of the stream to the controller, shared by its threads.

use std::{
    fs::File,
    sync::{Arc, Mutex, PoisonError},
};

use protocol::{Failure, FromAgent, Hello, write_message, write_preamble};

/// Sends messages. The loss of the controller shows at the input, so errors here are not reported twice.
#[derive(Clone)]
pub(crate) struct Outbox(Arc<Mutex<File>>);

impl Outbox {
    pub(crate) fn new(output: File) -> Self {
        Self(Arc::new(Mutex::new(output)))
    }

    pub(crate) fn greet(&self, hello: &Hello) {
        let mut output = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let _ =
            write_preamble(&mut *output).and_then(|()| write_message(&mut *output, &FromAgent::Hello(hello.clone())));
    }

    pub(crate) fn send(&self, message: &FromAgent) {
        let mut output = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = write_message(&mut *output, message);
    }

    /// Sends the message that `make` gives, if any. No other thread sends meanwhile: what is taken first is sent first.
    pub(crate) fn send_if(&self, make: impl FnOnce() -> Option<FromAgent>) {
        let mut output = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(message) = make() {
            let _ = write_message(&mut *output, &message);
        }
    }

    pub(crate) fn fail(&self, id: u64, failure: Failure) {
        self.send(&FromAgent::Failed { id, failure });
    }
}
