//! Network cards as JSON.

use model::Cards;

use crate::shape::{document, schema};

document! {
    /// JSON document of `inspect`.
    CardsDocument of (cards: Cards) {
        /// Name and version of this shape.
        schema: CardsSchemaName = CardsSchemaName::V1,
        /// The cards.
        #[serde(flatten)]
        cards: Cards = cards,
    }
}

schema!("wireproof-inspect/1": CardsSchemaName, cards_schema of CardsDocument);
