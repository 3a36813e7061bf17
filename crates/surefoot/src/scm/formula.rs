//! `X := formula(parents, u)`, in people's own units.

use super::equation::Mechanism;
use crate::content::Content;
use crate::expression::{Expression, FormulaProblem, Input, Obstacle, Trend};
use crate::graph::{Builder, Form, Implicit, Interval, Intervals};
use crate::network::{Lanes, Workspace};
use crate::{Error, Feature, Features, Result};

/// The largest difference, in standardised units and relative to values beyond 1, between a
/// value and the same value after a trip through its noise.
const TOLERANCE: f64 = 1e-6;

#[derive(Debug)]
pub(super) struct Formula {
    feature: Feature,
    parents: Vec<Feature>,
    expression: Expression,
    /// What each slot of the expression stands for.
    slots: Vec<Slot>,
    /// Whether it is `g(parents) + coefficient * u`.
    is_additive: bool,
    inversion: Inversion,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Slot {
    Parent(usize),
    Noise,
    Value,
}

/// How the noise is recovered.
#[derive(Debug)]
enum Inversion {
    /// From `g(parents) + coefficient * u`.
    Additive { coefficient: f64 },
    /// By a second formula.
    Given { expression: Expression, slots: Vec<Slot> },
    /// By root search on a formula strictly monotone in the noise.
    Search { increasing: bool },
}

/// Refuses a formula with `u` in it where that may be taken for a feature: there is one of this
/// name, and nothing shows that it is told from the noise.
pub(super) fn require_one_meaning(features: &Features, i: usize, formula: &str) -> Result<()> {
    // What cannot be parsed is told elsewhere.
    let Ok(expression) = Expression::parse(formula) else { return Ok(()) };
    let noise = expression.inputs().iter().find(|input| input.is_noise());
    let is_told_apart = expression.inputs().iter().any(|input| input.quoted && input.name == "u");
    match noise.filter(|_| features.index("u").is_ok() && !is_told_apart) {
        None => Ok(()),
        Some(noise) => Err(Error::Formula {
            feature: features.feature(i).name.clone(),
            formula: formula.into(),
            column: noise.column,
            problem: FormulaProblem::NoiseOrFeature,
        }),
    }
}

impl Formula {
    /// Parses, finds the parents and makes sure that the noise can be recovered.
    pub fn new(
        features: &Features,
        i: usize,
        formula: &str,
        inverse: Option<&str>,
    ) -> Result<(Vec<usize>, Self)> {
        let feature = features.feature(i).clone();
        let fault = |text: &str, (column, problem): (usize, FormulaProblem)| Error::Formula {
            feature: feature.name.clone(),
            formula: text.into(),
            column,
            problem,
        };
        let expression = Expression::parse(formula).map_err(|f| fault(formula, f))?;
        let mut indices = Vec::new();
        let mut slots = Vec::new();
        for input in expression.inputs() {
            slots.push(if input.is_noise() {
                Slot::Noise
            } else {
                let index = features.index(&input.name).map_err(|_| {
                    let problem = FormulaProblem::Name { name: input.name.clone(), known: features.names() };
                    fault(formula, (input.column, problem))
                })?;
                indices.push(index);
                Slot::Parent(indices.len() - 1)
            });
        }
        let noise = slots.iter().position(|&slot| slot == Slot::Noise);
        let not_invertible =
            |reason| Error::NotInvertible { feature: feature.name.clone(), formula: formula.into(), reason };
        let noise = noise.ok_or_else(|| not_invertible(Obstacle::Absent))?;
        let coefficient = expression.coefficient(noise);
        if coefficient == Some(0.0) {
            return Err(not_invertible(Obstacle::Absent));
        }
        let inversion = match (inverse, coefficient) {
            (Some(text), _) => {
                let parse = Expression::parse(text).and_then(|inverse| {
                    let slots = inverse_slots(features, i, &indices, inverse.inputs())?;
                    Ok(Inversion::Given { expression: inverse, slots })
                });
                parse.map_err(|f| fault(text, f))?
            }
            (None, Some(coefficient)) => Inversion::Additive { coefficient },
            (None, None) => match expression.trend(noise).map_err(not_invertible)? {
                Trend::Constant => return Err(not_invertible(Obstacle::Absent)),
                trend => Inversion::Search { increasing: trend == Trend::Increasing },
            },
        };
        let is_additive = coefficient.is_some();
        let parents = indices.iter().map(|&p| features.feature(p).clone()).collect();
        Ok((indices, Self { feature, parents, expression, slots, is_additive, inversion }))
    }

    fn parent(&self, j: usize, parents: &[f64]) -> f64 {
        self.parents[j].own_units(parents[j])
    }

    /// The value of a slot, given the noise or the value (whichever the formula uses), all
    /// in own units.
    fn input(&self, slot: Slot, parents: &[f64], other: f64) -> f64 {
        match slot {
            Slot::Parent(j) => self.parent(j, parents),
            Slot::Noise | Slot::Value => other,
        }
    }

    fn own_value(&self, parents: &[f64], noise: f64) -> f64 {
        self.expression.evaluate(&|slot| self.input(self.slots[slot], parents, noise))
    }

    fn derivative(&self, of: Slot, parents: &[f64], noise: f64) -> f64 {
        let slot = self.slots.iter().position(|&slot| slot == of);
        slot.map_or(0.0, |slot| {
            self.expression.derivative(slot, &|slot| self.input(self.slots[slot], parents, noise))
        })
    }
}

/// An inverse may name the feature itself and its parents, and nothing else.
fn inverse_slots(
    features: &Features,
    i: usize,
    parents: &[usize],
    inputs: &[Input],
) -> Result<Vec<Slot>, (usize, FormulaProblem)> {
    let name = |i: usize| features.feature(i).name.as_str();
    let slot = |input: &Input| {
        if input.is_noise() {
            return Err((input.column, FormulaProblem::NoiseInInverse));
        }
        if input.name == name(i) {
            return Ok(Slot::Value);
        }
        let parent = parents.iter().position(|&p| input.name == name(p));
        parent.map(Slot::Parent).ok_or_else(|| {
            let known = [i].iter().chain(parents).map(|&p| name(p).into()).collect();
            (input.column, FormulaProblem::InverseName { name: input.name.clone(), known })
        })
    };
    inputs.iter().map(slot).collect()
}

impl Mechanism for Formula {
    fn value(&self, parents: &[f64], noise: f64) -> f64 {
        self.feature.standardise(self.own_value(parents, noise))
    }

    fn noise(&self, parents: &[f64], value: f64) -> Result<f64> {
        let own = self.feature.own_units(value);
        let unreachable = || Error::Unreachable { feature: self.feature.name.clone(), value: own };
        let noise = match &self.inversion {
            Inversion::Additive { coefficient } => (own - self.own_value(parents, 0.0)) / coefficient,
            Inversion::Given { expression, slots } => {
                expression.evaluate(&|slot| self.input(slots[slot], parents, own))
            }
            Inversion::Search { increasing } => {
                let sign = if *increasing { 1.0 } else { -1.0 };
                root(|noise| sign * (self.own_value(parents, noise) - own)).unwrap_or(f64::NAN)
            }
        };
        let back = self.own_value(parents, noise);
        if noise.is_finite() && ((back - own) / self.feature.std).abs() <= TOLERANCE * value.abs().max(1.0) {
            return Ok(noise);
        }
        match self.inversion {
            Inversion::Given { .. } if noise.is_finite() => {
                Err(Error::WrongInverse { feature: self.feature.name.clone(), value: own, noise, back })
            }
            _ => Err(unreachable()),
        }
    }

    fn gradient(&self, parents: &[f64], noise: f64) -> Vec<f64> {
        let in_parent = |(j, parent): (usize, &Feature)| {
            self.derivative(Slot::Parent(j), parents, noise) * parent.std / self.feature.std
        };
        self.parents.iter().enumerate().map(in_parent).collect()
    }

    fn slope(&self, parents: &[f64], noise: f64) -> f64 {
        self.derivative(Slot::Noise, parents, noise) / self.feature.std
    }

    fn evaluate(
        &self,
        parents: &[Lanes],
        noise: Lanes,
        _: &mut Option<Workspace>,
        partials: Option<&mut [Lanes]>,
    ) -> Lanes {
        let input = |slot: usize| match self.slots[slot] {
            Slot::Parent(j) => parents[j].map(|p| self.parents[j].own_units(p)),
            Slot::Noise | Slot::Value => noise,
        };
        if let Some(partials) = partials {
            for (slot, meaning) in self.slots.iter().enumerate() {
                if let Slot::Parent(j) = *meaning {
                    let scale = self.parents[j].std / self.feature.std;
                    partials[j] = self.expression.derivative(slot, &input).map(|d| d * scale);
                }
            }
        }
        self.expression.evaluate(&input).map(|value| self.feature.standardise(value))
    }

    fn tell(&self, content: &mut Content) {
        content.text("formula");
        content.text(&self.expression.canonical());
        if let Inversion::Given { expression, .. } = &self.inversion {
            content.text(&expression.canonical());
        }
    }

    fn is_additive(&self) -> bool {
        self.is_additive
    }

    fn coefficients(&self) -> Option<Vec<f64>> {
        if !self.is_additive() {
            return None;
        }
        let mut coefficients = vec![0.0; self.parents.len()];
        for (slot, meaning) in self.slots.iter().enumerate() {
            let coefficient = self.expression.coefficient(slot).filter(|c| c.is_finite())?;
            if let Slot::Parent(j) = *meaning {
                coefficients[j] = coefficient * self.parents[j].std / self.feature.std;
            }
        }
        Some(coefficients)
    }

    fn has_given_inverse(&self) -> bool {
        matches!(self.inversion, Inversion::Given { .. })
    }

    fn compose<'a>(&'a self, graph: &mut Builder<'a>, parents: &[Form], noise: &Form) -> Form {
        let own = self.compose_own(graph, &self.expression, &self.slots, parents, noise);
        own.shifted(-self.feature.mean).scaled(1.0 / self.feature.std)
    }

    fn compose_noise<'a>(&'a self, graph: &mut Builder<'a>, parents: &[Form], value: &Form) -> Form {
        let own = value.clone().scaled(self.feature.std).shifted(self.feature.mean);
        match &self.inversion {
            Inversion::Given { expression, slots } => {
                self.compose_own(graph, expression, slots, parents, &own)
            }
            _ => graph.implicit(self, parents.iter().chain([value]).cloned().collect()),
        }
    }
}

impl Formula {
    /// One of the formulas as a part of a graph, in own units.
    fn compose_own<'a>(
        &'a self,
        graph: &mut Builder<'a>,
        expression: &Expression,
        slots: &[Slot],
        parents: &[Form],
        other: &Form,
    ) -> Form {
        let own = |j: usize| parents[j].clone().scaled(self.parents[j].std).shifted(self.parents[j].mean);
        expression.fold(graph, &|slot| match slots[slot] {
            Slot::Parent(j) => own(j),
            Slot::Noise | Slot::Value => other.clone(),
        })
    }

    fn own_range(&self, parents: &[Interval], noise: Interval) -> Interval {
        self.expression.fold(&mut Intervals, &|slot| match self.slots[slot] {
            Slot::Parent(j) => {
                let (Feature { mean, std, .. }, p) = (&self.parents[j], parents[j]);
                Interval { lower: mean + std * p.lower, upper: mean + std * p.upper }
                    .widened(8.0 * f64::EPSILON)
            }
            Slot::Noise | Slot::Value => noise,
        })
    }
}

/// The noise of an equation from its parents and its value, by root search.
impl Implicit for Formula {
    fn solution(&self, arguments: &[f64]) -> f64 {
        match arguments.split_last() {
            Some((&value, parents)) => self.noise(parents, value).unwrap_or(f64::NAN),
            None => f64::NAN,
        }
    }

    /// By the theorem of implicit functions.
    fn slopes(&self, arguments: &[f64]) -> Vec<f64> {
        let Some((_, parents)) = arguments.split_last() else { return Vec::new() };
        let noise = self.solution(arguments);
        let slope = self.slope(parents, noise);
        let mut gradient = self.gradient(parents, noise);
        gradient.iter_mut().for_each(|g| *g = -*g / slope);
        gradient.push(1.0 / slope);
        gradient
    }

    /// The formula rises (or falls) with the noise whatever the parents. So if at some noise
    /// even its largest value over all parents is below every value asked for, the noise that
    /// is searched for is larger; and likewise for an upper bound.
    fn solutions(&self, arguments: &[Interval]) -> Interval {
        let Some((value, parents)) = arguments.split_last() else { return Interval::EVERYTHING };
        let sign = match self.inversion {
            Inversion::Search { increasing: false } => -1.0,
            _ => 1.0,
        };
        let own = |v: f64| self.feature.own_units(v);
        // The search itself stops within a rounding error of the root.
        let value = Interval { lower: own(value.lower), upper: own(value.upper) }.widened(1e-12);
        let at = |noise: f64| {
            let range = self.own_range(parents, Interval::point(noise));
            if sign > 0.0 { (range, value) } else { (flipped(range), flipped(value)) }
        };
        let below = |noise: f64| matches!(at(noise), (range, value) if range.upper < value.lower);
        let above = |noise: f64| matches!(at(noise), (range, value) if range.lower > value.upper);
        Interval { lower: last(below, f64::NEG_INFINITY), upper: last(above, f64::INFINITY) }
    }
}

fn flipped(x: Interval) -> Interval {
    Interval { lower: -x.upper, upper: -x.lower }
}

/// A number that has a property, as far from `from` (minus or plus infinity) as bisection over
/// all floating-point numbers finds one; otherwise `from` itself.
fn last(property: impl Fn(f64) -> bool, from: f64) -> f64 {
    let (mut has, mut lacks) = (ordinal(f64::MAX.copysign(from)), ordinal(f64::MAX.copysign(-from)));
    let mut found = from;
    while (has - lacks).abs() > 1 {
        let middle = has + (lacks - has) / 2;
        if property(number(middle)) {
            (has, found) = (middle, number(middle));
        } else {
            lacks = middle;
        }
    }
    found
}

/// A root of an increasing function that may be undefined (NaN) beyond some point on either
/// side: by bisection over all floating-point numbers in their order, which takes 64 steps
/// wherever the root is. Nothing if no point is found where the function is defined.
fn root(f: impl Fn(f64) -> f64) -> Option<f64> {
    let anchor = candidates().find(|&x| !f(x).is_nan())?;
    // Left of the anchor undefined counts as too low, right of it as too high.
    let low = |x: f64| if x < anchor { !matches!(f(x), y if y > 0.0) } else { f(x) <= 0.0 };
    let (mut lower, mut upper) = (ordinal(-f64::MAX), ordinal(f64::MAX));
    while lower + 1 < upper {
        let middle = lower + (upper - lower) / 2;
        if low(number(middle)) { lower = middle } else { upper = middle }
    }
    // Undefined is no better than infinitely wrong.
    let error = |x: f64| if f(x).is_nan() { f64::INFINITY } else { f(x).abs() };
    let (lower, upper) = (number(lower), number(upper));
    Some(if error(upper) < error(lower) { upper } else { lower })
}

/// Zero, then powers of two, then numbers between them.
fn candidates() -> impl Iterator<Item = f64> {
    let scaled = |mantissa: i32| (-40..64).map(move |k| f64::from(mantissa) * 2f64.powi(k));
    let odd = (1..256).step_by(2);
    std::iter::once(0.0).chain(odd.flat_map(scaled).flat_map(|x| [x, -x]))
}

/// The position of a finite number among all of them in order.
fn ordinal(x: f64) -> i128 {
    let magnitude = i128::from(x.abs().to_bits());
    if x < 0.0 { -magnitude } else { magnitude }
}

/// The inverse of [`ordinal`].
fn number(ordinal: i128) -> f64 {
    let magnitude = f64::from_bits(ordinal.unsigned_abs() as u64);
    if ordinal < 0 { -magnitude } else { magnitude }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compile(formula: &str, inverse: Option<&str>) -> Result<Formula> {
        let features =
            Features::new(vec![Feature::new("x").scaling(1.0, 2.0), Feature::new("y").scaling(-3.0, 0.5)])?;
        Formula::new(&features, 1, formula, inverse).map(|(_, formula)| formula)
    }

    #[test]
    fn additive_noise_is_recognised_and_needs_no_search() {
        for formula in ["x ^ 2 + u", "u", "3 - (u - x) / 2"] {
            let formula = compile(formula, None).unwrap();
            assert!(formula.is_additive());
            let noise = formula.noise(&[0.7], -1.3).unwrap();
            assert!((formula.value(&[0.7], noise) + 1.3).abs() < 1e-14);
        }
        assert_eq!(compile("4 * x - u", None).unwrap().coefficients(), Some(vec![16.0]));
        assert_eq!(compile("x ^ 2 + u", None).unwrap().coefficients(), None);
        assert_eq!(compile("x * 0 + exp(u)", None).unwrap().coefficients(), None);
    }

    #[test]
    fn search_and_inverse_find_the_same_noise() {
        let searched = compile("sigmoid(0.5 * x + u) - 3.5", None).unwrap();
        let given =
            compile("sigmoid(0.5 * x + u) - 3.5", Some("log((y + 3.5) / (-2.5 - y)) - 0.5 * x")).unwrap();
        assert!(!searched.is_additive() && !given.is_additive());
        for value in [-0.999, -0.5, 0.0, 0.3, 0.999] {
            let (a, b) = (searched.noise(&[0.4], value).unwrap(), given.noise(&[0.4], value).unwrap());
            assert!((a - b).abs() < 1e-10, "{a} {b}");
            assert!((searched.value(&[0.4], a) - value).abs() < 1e-14);
        }
        // sigmoid stays between 0 and 1
        for formula in [&searched, &given] {
            assert!(matches!(formula.noise(&[0.4], 1.01), Err(Error::Unreachable { .. })));
        }
    }

    #[test]
    fn search_copes_with_domains_and_directions() {
        for (formula, own) in [
            ("log(u)", -40.0),
            ("log(u - 5)", 2.0),
            ("-exp(u) + x", -1e6),
            ("sqrt(u + 1000)", 7.5),
            ("u ^ 3", -1e-12),
            ("1 / exp(u)", 1e-9),
            ("exp(u)", 1e30),
            ("log(u)", -200.0),
            ("1e300 * u ^ 3", 1.0),
            ("log(u - 0.1) - log(0.9 - u)", 0.3),
        ] {
            let formula = compile(formula, None).unwrap();
            let value = formula.feature.standardise(own);
            let noise = formula.noise(&[0.0], value).unwrap();
            assert!((formula.value(&[0.0], noise) - value).abs() <= 1e-12 * value.abs().max(1.0), "{own}");
        }
        assert!(matches!(compile("exp(u)", None).unwrap().noise(&[], 5.9), Err(Error::Unreachable { .. })));
        assert!(matches!(compile("sqrt(u)", None).unwrap().noise(&[], 5.9), Err(Error::Unreachable { .. })));
    }

    #[test]
    fn what_cannot_be_inverted_is_refused_with_the_reason() {
        for formula in [
            "x",
            "x + 0 * u",
            "x + u - u",
            "0.1 * u + 0.2 * u - 0.3 * u",
            "u ^ 2",
            "x * u",
            "max(x, u)",
            "abs(u)",
        ] {
            let error = compile(formula, None).unwrap_err();
            assert!(matches!(error, Error::NotInvertible { .. }), "{formula}: {error}");
        }
    }

    #[test]
    fn a_wrong_inverse_is_found_out() {
        let formula = compile("exp(u)", Some("y")).unwrap();
        assert!(matches!(formula.noise(&[], 10.0), Err(Error::WrongInverse { .. })));
        let additive = compile("x + u", Some("y + x")).unwrap();
        assert!(additive.is_additive());
        assert!(matches!(additive.noise(&[1.0], 10.0), Err(Error::WrongInverse { .. })));
        assert!(compile("x + u", Some("garbage((")).is_err());
        // Noise so small beside a constant that adding it changes nothing.
        let swallowed = compile("1e20 + u", None).unwrap();
        assert!(matches!(swallowed.noise(&[], 10.0), Err(Error::Unreachable { .. })));
        let names = |inverse| compile("exp(u)", Some(inverse)).unwrap_err().to_string();
        assert!(names("log(y) + u").contains("column 10"));
        assert!(names("log(x)").contains("`x`"));
        assert!(names("log(").contains("column 5"));
    }
}
