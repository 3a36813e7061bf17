//! Affine bounds by backward substitution.
//!
//! For every argument of a function on the tape, in order, its range over a zone is computed by
//! substituting the nodes that it depends on, from the last to the first. A sum is replaced by its terms,
//! other nodes by
//!
//! ```text
//! f(z) = slope z + offset +- radius       over the range of z that is known already,
//! x y  = x0 y + y0 x - x0 y0 +- rx ry     with x in x0 +- rx and y in y0 +- ry,
//! |z|  = g . z + gap / 2 +- gap / 2       with the unit vector g along the middles of the ranges of z,
//! ```
//!
//! until `a . y + constant +- error` in the inputs y is left. Each error counts with the exact
//! coefficient of its node. The zone's support function closes the bound (Zhang et al., 2018,
//! "Efficient neural network robustness certification with general activation functions").
//!
//! *Rounding.* Every coefficient carries an upper bound of the sum of the absolute values of all terms that
//! were added to it (its magnitude). The coefficient's error is at most [`Tape::rounding`] times the magnitude; the
//! reason is given there. Constants and errors are sums of as many terms as there are nodes. They are
//! added with compensation, whose error is a few units in the last place of the sum of magnitudes.

use std::collections::BTreeMap;

use super::norm::{self, Touching};
use super::substitution::{Norms, Substituted, Substitution};
use super::tape::{Node, Tape};
use super::unit::{Line, Range, line, touching, values, values_within, within_domain};
use super::zone::Zone;
use crate::graph::Interval;
use crate::network::vectorised;

/// The number of nodes that are substituted at a time.
const GROUP: usize = 8;

/// `linear . y + constant +- error`, where each coefficient has an error of at most `doubt`.
#[derive(Clone, Debug)]
pub(super) struct Plane {
    pub linear: Vec<f64>,
    pub doubt: Vec<f64>,
    pub constant: f64,
    pub error: f64,
}

/// The affine bounds of a tape over a zone.
#[derive(Clone, Debug)]
pub(super) struct Affine {
    /// The range of every node.
    pub ranges: Vec<Range>,
    pub lines: Vec<Option<Line>>,
    pub planes: Vec<Option<Plane>>,
    /// The planes of norms, by their nodes.
    norms: BTreeMap<usize, Touching>,
    /// For each node, its contribution to the error of the result, and its coefficient in the result.
    errors: Vec<f64>,
    pub coefficients: Vec<f64>,
    /// Whether the perturbed individual exists for no point of the zone. Then every statement holds.
    pub concerns_nobody: bool,
    /// Whether a value that must be finite was not proven to be. Then the bound proves nothing.
    pub is_unknown: bool,
}

impl Affine {
    pub fn new(tape: &Tape<'_>, zone: &Zone) -> Self {
        let count = tape.nodes.len();
        let mut affine = Self {
            ranges: vec![Range::EVERYTHING; count],
            lines: vec![None; count],
            planes: vec![None; count],
            norms: BTreeMap::new(),
            errors: vec![0.0; count],
            coefficients: vec![0.0; count],
            concerns_nobody: false,
            is_unknown: false,
        };
        // The nodes of a level need the ranges of the levels before, and none of their own.
        for level in &tape.levels {
            for &k in level {
                affine.ranges[k] = affine.interval(tape, zone, k, &tape.nodes[k]);
                if let Node::Apply(unit, j) = &tape.nodes[k] {
                    let within = match tape.must_be_defined[k] {
                        true => Some(affine.ranges[*j]),
                        false => within_domain(*unit, affine.ranges[*j]),
                    };
                    affine.concerns_nobody |= within.is_none();
                    affine.lines[k] = within.map(|within| line(*unit, within));
                }
                if let Node::Norm(arguments) = &tape.nodes[k] {
                    let touching = norm::in_the_middle(&affine.ranges_of(arguments));
                    affine.norms.extend(touching.map(|touching| (k, touching)));
                }
            }
            let is_target = |&k: &usize| tape.bounded[k] && !matches!(tape.nodes[k], Node::Input);
            let targets: Vec<usize> = level.iter().copied().filter(is_target).collect();
            for group in targets.chunks(GROUP) {
                for (&k, plane) in group.iter().zip(affine.substitute(tape, group)) {
                    let range = Range::new(plane.least(zone), plane.most(zone));
                    affine.ranges[k] = affine.ranges[k].and(range);
                    affine.planes[k] = Some(plane);
                }
            }
            let is_unknown = |&k: &usize| tape.must_be_defined[k] && !affine.ranges[k].size().is_finite();
            affine.is_unknown |= level.iter().any(is_unknown);
        }
        affine
    }

    /// The range of the result, over all points of the zone for which the perturbed individual exists.
    pub fn result(&self) -> Range {
        if self.concerns_nobody {
            Range::new(f64::INFINITY, f64::NEG_INFINITY)
        } else if self.is_unknown {
            Range::EVERYTHING
        } else {
            self.ranges.last().copied().unwrap_or(Range::EVERYTHING)
        }
    }

    /// The plane of the result.
    pub fn plane(&self) -> Option<&Plane> {
        self.planes.last()?.as_ref()
    }

    /// The range of a node by interval arithmetic.
    fn interval(&self, tape: &Tape<'_>, zone: &Zone, k: usize, node: &Node<'_>) -> Range {
        match node {
            Node::Input => zone.input(k),
            Node::Sum(constant, terms) => {
                let (mut sum, mut size) = (Range::point(*constant), constant.abs());
                for &(j, factor) in terms {
                    let term = self.ranges[j].scaled(factor);
                    sum = Range::new(sum.lower + term.lower, sum.upper + term.upper);
                    size += if term.size().is_finite() { term.size() } else { 0.0 };
                }
                sum.widened((terms.len() + 2) as f64 * f64::EPSILON * size)
            }
            Node::Apply(unit, j) if tape.must_be_defined[k] => values(*unit, self.ranges[*j]),
            Node::Apply(unit, j) => within_domain(*unit, self.ranges[*j])
                .map_or(Range::EVERYTHING, |within| values_within(*unit, within)),
            Node::Product(i, j) => self.ranges[*i].times(self.ranges[*j]),
            Node::Norm(arguments) => norm::values(&self.ranges_of(arguments)),
            Node::Slack(share, j) => {
                let most = share * self.ranges[*j].size().max(1.0);
                Range::point(0.0).widened(most * (1.0 + tape.rounding))
            }
            Node::Opaque(operator, arguments) => {
                let interval = |&j: &usize| {
                    let Range { lower, upper } = self.ranges[j];
                    Interval { lower, upper }
                };
                let arguments: Vec<Interval> = arguments.iter().map(interval).collect();
                let range = operator.range(&arguments);
                Range::new(range.lower, range.upper).widened(0.0)
            }
        }
    }

    pub fn ranges_of(&self, nodes: &[usize]) -> Vec<Range> {
        nodes.iter().map(|&j| self.ranges[j]).collect()
    }

    /// The planes of a group of nodes of one level.
    fn substitute(&mut self, tape: &Tape<'_>, targets: &[usize]) -> Vec<Plane> {
        let unknown = Line { slope: 0.0, offset: 0.0, radius: f64::INFINITY };
        let parallel = |k: usize, _: f64| (self.lines[k].unwrap_or(unknown), 0.0);
        let norms = Norms { parallel: &self.norms, touching: None };
        if let [target] = *targets {
            let substituted = Substitution { affine: self, tape, targets: [target], lines: parallel, norms };
            let Substituted { planes, errors, coefficients } = vectorised(substituted);
            if target + 1 == tape.nodes.len() {
                self.errors = errors.into_iter().flatten().collect();
                self.coefficients = coefficients.into_iter().flatten().collect();
            }
            return planes.into();
        }
        // An incomplete group is filled up with its first node.
        let targets: [usize; GROUP] = std::array::from_fn(|l| *targets.get(l).unwrap_or(&targets[0]));
        vectorised(Substitution { affine: self, tape, targets, lines: parallel, norms }).planes.into()
    }

    /// A plane below the result, up to its error, that is close to it near a point. Where the coefficient of
    /// a unit is positive, a line below the unit takes the place of its parallel lines; where it is negative,
    /// one above.
    pub fn tangent_plane(&self, tape: &Tape<'_>, at: &[f64]) -> Plane {
        let values = tape.values(at);
        let unknown = Line { slope: 0.0, offset: 0.0, radius: f64::INFINITY };
        let touching = |k: usize, c: f64| match (&tape.nodes[k], self.lines[k]) {
            (Node::Apply(unit, j), Some(line)) => {
                let within = self.ranges[*j];
                let touching = touching(*unit, within, values[*j], c > 0.0, line);
                // The largest distance of the function from the line, for the rounding of coefficients.
                let apart =
                    self.ranges[k].size() + touching.slope.abs() * within.size() + touching.offset.abs();
                (touching, apart)
            }
            _ => (unknown, 0.0),
        };
        let tangent = |&k: &usize| match &tape.nodes[k] {
            Node::Norm(arguments) => {
                let at: Vec<f64> = arguments.iter().map(|&j| values[j]).collect();
                norm::touching(&self.ranges_of(arguments), &at).map(|touching| (k, touching))
            }
            _ => None,
        };
        let tangents = self.norms.keys().filter_map(tangent).collect();
        let norms = Norms { parallel: &self.norms, touching: Some(&tangents) };
        let targets = [tape.nodes.len() - 1];
        let [plane] = vectorised(Substitution { affine: self, tape, targets, lines: touching, norms }).planes;
        plane
    }

    /// For each input, the part of the result's error that it causes: the contribution of each node,
    /// distributed in proportion to the influence of the inputs on its argument.
    pub fn error_share(&self, tape: &Tape<'_>, zone: &Zone) -> Vec<f64> {
        let mut error_share = vec![0.0; tape.inputs];
        let mut share = |error: f64, argument: usize| {
            let along = |i: usize| match &self.planes[argument] {
                Some(plane) => (plane.linear[i] * zone.width(i)).abs(),
                None if i == argument => 1.0,
                None => 0.0,
            };
            let total: f64 = (0..tape.inputs).map(along).sum();
            if total > 0.0 && error.is_finite() && total.is_finite() {
                (0..tape.inputs).for_each(|i| error_share[i] += error * along(i) / total);
            }
        };
        for (k, node) in tape.nodes.iter().enumerate() {
            match node {
                Node::Apply(_, j) => share(self.errors[k], *j),
                Node::Product(i, j) => [i, j].into_iter().for_each(|&j| share(0.5 * self.errors[k], j)),
                Node::Norm(arguments) => {
                    // Each argument causes a part in proportion to the square of the width of its range.
                    let squares: Vec<f64> =
                        self.ranges_of(arguments).iter().map(|y| (y.upper - y.lower).powi(2)).collect();
                    let all: f64 = squares.iter().sum();
                    let parts = arguments.iter().zip(&squares).filter(|_| all > 0.0);
                    parts.for_each(|(&j, square)| share(self.errors[k] * square / all, j));
                }
                Node::Opaque(_, arguments) => arguments.iter().for_each(|&j| share(self.errors[k], j)),
                _ => {}
            }
        }
        error_share
    }
}

impl Plane {
    /// The average with another plane, which counts with a share. What both bound, it bounds too.
    pub fn mixed(&self, other: &Plane, share: f64) -> Plane {
        let mix = |a: f64, b: f64| (1.0 - share) * a + share * b;
        let all = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(&a, &b)| mix(a, b)).collect::<Vec<f64>>();
        let linear = all(&self.linear, &other.linear);
        let mut doubt = all(&self.doubt, &other.doubt);
        let sizes = self.linear.iter().zip(&other.linear).map(|(a, b)| mix(a.abs(), b.abs()));
        doubt.iter_mut().zip(sizes).for_each(|(doubt, size)| *doubt += 4.0 * f64::EPSILON * (size + *doubt));
        let size = mix(self.constant.abs() + self.error, other.constant.abs() + other.error);
        let error = mix(self.error, other.error) + 4.0 * f64::EPSILON * size;
        Plane { linear, doubt, constant: mix(self.constant, other.constant), error }
    }

    /// A lower bound over a zone.
    pub fn least(&self, zone: &Zone) -> f64 {
        let bound = zone.least(&self.linear, &self.doubt) + self.constant - self.error;
        if bound.is_nan() { f64::NEG_INFINITY } else { bound - 4.0 * f64::EPSILON * self.size(bound) }
    }

    /// An upper bound over a zone.
    pub fn most(&self, zone: &Zone) -> f64 {
        let opposite: Vec<f64> = self.linear.iter().map(|a| -a).collect();
        let bound = -zone.least(&opposite, &self.doubt) + self.constant + self.error;
        if bound.is_nan() { f64::INFINITY } else { bound + 4.0 * f64::EPSILON * self.size(bound) }
    }

    fn size(&self, bound: f64) -> f64 {
        let size = self.constant.abs() + self.error + bound.abs();
        if size.is_finite() { size } else { 0.0 }
    }
}
