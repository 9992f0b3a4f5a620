mod candidate;
mod care;
mod create;
mod laws;
mod policy;
mod schemas;
mod support;
