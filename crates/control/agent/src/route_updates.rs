//! Routes that are deleted and added again, in turn, as a routing protocol does (RFC 2544, section 11.3).

use std::{
    sync::mpsc::{self, Receiver, RecvTimeoutError, Sender},
    thread::{self, JoinHandle},
};

use kernel::{namespace, route};
use model::{UPDATE_EVERY, change::Route};

/// Updates of routes until it is dropped. Undoing the routes is the ledger's.
pub(crate) struct RouteUpdates {
    stop: Option<Sender<()>>,
    updates: Option<JoinHandle<()>>,
}

impl RouteUpdates {
    /// Begins with routes that are there.
    pub(crate) fn start(route: Route) -> Self {
        let (stop, stopped) = mpsc::channel();
        let update = move || {
            // Without its namespace there is nothing to update.
            let _ = namespace::within(&route.namespace, || alternate(&route, stopped));
        };
        Self { stop: Some(stop), updates: Some(thread::spawn(update)) }
    }
}

impl Drop for RouteUpdates {
    fn drop(&mut self) {
        self.stop = None;
        let _ = self.updates.take().map(JoinHandle::join);
    }
}

/// Deletes and adds routes of the caller's namespace.
fn alternate(route: &Route, stopped: Receiver<()>) {
    let mut is_there = true;
    while stopped.recv_timeout(UPDATE_EVERY.into()) == Err(RecvTimeoutError::Timeout) {
        let change = if is_there { route::remove } else { route::add };
        for network in route.networks() {
            // Somebody else may have changed it, which is their affair.
            let _ = change("", &route.interface, network, route.via);
        }
        is_there = !is_there;
    }
}
