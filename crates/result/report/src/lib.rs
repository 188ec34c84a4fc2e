//! Runs as HTML and JSON, in English and Japanese.
