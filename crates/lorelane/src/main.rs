//! Faces: show what the engine did.
fn main() {}
