mod candidate;
mod care;
mod create;
mod laws;
mod lifecycle;
mod policy;
mod schemas;
mod support;
