//! Ensembles by hand, and models that other programs wrote.
