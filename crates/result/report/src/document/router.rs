//! The XDP router as JSON.

use model::{Router, RouterPort};

use crate::shape::{document, schema};

document! {
    /// JSON document of `router up` and `router stats`.
    RouterDocument of (router: &Router) {
        /// Name and version of this shape.
        schema: RouterSchemaName = RouterSchemaName::V1,
        /// The process that owns it, with which it ends; null for one that was kept.
        owner: Option<u32> = router.owner,
        /// Its ports, with the packets that each received.
        ports: Vec<RouterPort> = router.ports.clone(),
    }
}

schema!("wireproof-router/1": RouterSchemaName, router_schema of RouterDocument);
