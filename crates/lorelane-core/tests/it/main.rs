mod candidate;
mod care;
mod laws;
mod support;
