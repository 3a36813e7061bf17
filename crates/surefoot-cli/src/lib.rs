//! What the command `surefoot` is made of and others may use: tables in files, and files that are
//! there whole or not at all.

pub mod aside;
pub mod table;
