//! Weights that were fitted on measured data, by `cargo xtask relevance --write`.

/// The bias of the relevance estimate, then the weights of the evidence in its order.
pub(super) const RELEVANCE: [f32; 5] = [-5.63, 3.54, 4.29, 6.99, -0.65];
