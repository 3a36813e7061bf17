//! Bounds of a margin: proven statements about all perturbations, or all actions, of a region.

mod affine;
mod compose;
mod curvature;
mod jet;
mod quadratic;
mod region;

pub(crate) use affine::{Affine, Plane};
pub(crate) use compose::{Composer, Coordinates};
pub(crate) use curvature::Curvature;
pub(crate) use jet::{Jet, Jets, Order};
pub(crate) use quadratic::Quadratic;
pub(crate) use region::Region;
