//! The Tidegate playground.
