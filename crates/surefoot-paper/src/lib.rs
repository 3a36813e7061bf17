//! The paper's data sets, its published answers and its experiments.
//!
//! The paper is "On the Adversarial Robustness of Causal Algorithmic Recourse" by
//! Dominguez-Olmedo, Karimi and Schölkopf (2022).

pub mod figure;
pub mod loan;
pub mod data;
pub mod reference;
pub mod training;
pub mod experiment;

pub use data::DataSet;
pub use reference::Reference;
