//! What the command `surefoot` is made of and others may use: tables in files, and what a signal
//! does.

pub mod interrupt;
pub mod table;
