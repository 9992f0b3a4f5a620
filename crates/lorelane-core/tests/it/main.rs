mod care;
mod laws;
mod support;
