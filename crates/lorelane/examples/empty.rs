//! Does nothing: what any process costs on this machine. `cargo xtask bench` compares with it.
fn main() {}
