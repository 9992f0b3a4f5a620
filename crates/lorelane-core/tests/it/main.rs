mod candidate;
mod care;
mod laws;
mod policy;
mod support;
