//! The packet engine: sends numbered frames, and counts them by number where they arrive.
