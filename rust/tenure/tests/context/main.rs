//! Contexts, engines and threads.

mod engine;
mod installed;
mod threads;
