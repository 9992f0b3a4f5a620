//! The one integration binary of the engine.

mod simulation;
mod store;
