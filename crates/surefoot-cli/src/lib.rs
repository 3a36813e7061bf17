//! What the command `surefoot` is made of and others may use: tables in files.

pub mod table;
