mod candidate;
mod care;
mod laws;
mod policy;
mod schemas;
mod support;
