//! Weights that were fitted on measured data, by `cargo xtask relevance --write`.

/// The bias of the relevance estimate, then the weights of the evidence in its order.
pub(super) const RELEVANCE: [f32; 6] = [-6.71, 4.02, 6.16, 8.02, -0.69, -0.43];
