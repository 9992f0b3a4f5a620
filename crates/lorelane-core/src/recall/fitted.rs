//! Weights that were fitted on measured data, by `cargo xtask relevance --write`.

/// The bias of the relevance estimate, then the weights of the evidence in its order.
pub(super) const RELEVANCE: [f32; 5] = [-5.29, 3.67, 5.49, 7.01, -0.71];
