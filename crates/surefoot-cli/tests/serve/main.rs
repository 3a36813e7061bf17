//! `surefoot serve`, asked over connections as programs ask it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

#[path = "../command/mod.rs"]
mod command;

mod answers;
mod client;
mod documents;
mod faults;
mod interface;
mod reload;
mod saturation;
