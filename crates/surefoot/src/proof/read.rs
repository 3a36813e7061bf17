//! Reads saved proofs. Every error names its place: `ruled_out[3].upper[0]`.

mod trees;

use serde_json::{Map, Value};

use super::fingerprint::Fingerprint;
use super::saved::{SavedNorm, SavedProof, VERSION};
use crate::error::SavedProblem;
use crate::error::{FeatureError, FileError, PeopleError};
use crate::outcome::{Recourse, Shortfall, Undecided, UndecidedReason};
use crate::proof::{
    BoundKind, Case, Cell, Cone, Cover, Cut, Parabolas, PhaseBound, PhaseNode, Piece, RuledOut, Scenario,
    WeightedMargin,
};
use crate::uncertainty::named_norms;
use crate::{Action, ActionKind, Cost, Error, Norm, Outcome, Result};

/// The margins and the requirements of a ruled-out part, with their coefficients.
type Terms = (Vec<WeightedMargin>, Vec<(usize, f64)>);

/// A JSON value with its path in the file.
struct At<'v> {
    value: &'v Value,
    place: String,
}

impl SavedProof {
    /// Reads what [`SavedProof::to_json`] wrote.
    ///
    /// # Errors
    /// If it is not JSON, if something is missing or has the wrong type or length, or if it has an
    /// unknown version. The *claims* of the proof are not checked here: see [`verify`](crate::verify()).
    pub fn from_json(text: &str) -> Result<Self> {
        let value: Value = serde_json::from_str(text).map_err(|error| {
            Error::File(FileError::SavedProof {
                place: format!("line {}, column {}", error.line(), error.column()),
                problem: SavedProblem::Syntax(error.to_string()),
            })
        })?;
        Self::from_value(&value)
    }

    /// Reads a proof from parsed JSON.
    pub fn from_value(value: &Value) -> Result<Self> {
        let top = At { value, place: "the top".into() };
        let version = top.field("surefoot_proof")?;
        match version.value.as_u64() {
            Some(1..=VERSION) => {}
            Some(found) => return Err(version.wrong(SavedProblem::Version { found, newest: VERSION })),
            None => return Err(version.expected("a whole number")),
        }
        let individual = top.field("individual")?.listed(None, At::finite_or_missing)?;
        let width = individual.len();
        let coordinates = match top.object()?.get("coordinates") {
            None => width,
            Some(value) => match value.as_u64().and_then(|count| usize::try_from(count).ok()) {
                Some(count) if count >= width => count,
                _ => return Err(top.field("coordinates")?.expected("at least the number of features")),
            },
        };
        let cost = top.field("cost")?;
        let form = top.field("form")?;
        let cover = top.field("cover")?;
        let ruled_out = top.field("ruled_out")?.items()?;
        let scenarios = top.scenarios(coordinates)?;
        Ok(Self {
            problem: top.fingerprint()?,
            coordinates,
            norm: top.field("norm")?.norm(width)?,
            epsilon: top.field("epsilon")?.finite()?,
            cost: match cost.text()? {
                "l1" => Cost::L1,
                "l2" => Cost::L2,
                _ => return Err(cost.expected("`l1` or `l2`")),
            },
            form: match form.text()? {
                "relative" => ActionKind::Relative,
                "absolute" => ActionKind::Absolute,
                _ => return Err(form.expected("`relative` or `absolute`")),
            },
            outcome: top.field("outcome")?.outcome(width)?,
            cover: match cover.value {
                Value::Null => None,
                _ => Some(cover.cover(coordinates)?),
            },
            further: match top.object()?.contains_key("further") {
                true => top.field("further")?.listed(None, |item| item.cover(coordinates))?,
                false => Vec::new(),
            },
            ruled_out: ruled_out
                .iter()
                .map(|part| part.ruled_out(width, coordinates, &scenarios))
                .collect::<Result<_>>()?,
            dividing: top.dividing(width)?,
            cases: match top.object()?.contains_key("cases") {
                true => top.field("cases")?.listed(None, |item| item.case(width, coordinates, &scenarios))?,
                false => Vec::new(),
            },
            individual,
        })
    }
}

impl SavedProof {
    /// Rejects a proof that [`SavedProof::from_json`] would not have read: one constructed by hand with
    /// lengths that do not match.
    pub(crate) fn check_lengths(&self) -> Result<()> {
        let (features, width) = (self.individual.len(), self.coordinates);
        let mut lengths = Vec::new();
        for Cover { basis, worst, pieces } in self.cover.iter().chain(&self.further) {
            lengths.push((if basis.is_empty() { 0 } else { width * width }, basis.len()));
            lengths.push((width, worst.len()));
            lengths.extend(pieces.iter().flat_map(|p| [(width, p.lower.len()), (width, p.upper.len())]));
            let cuts = pieces.iter().flat_map(|piece| &piece.cells).filter_map(|cell| cell.cut.as_ref());
            lengths.extend(cuts.map(|cut| (width, cut.direction.len())));
        }
        let of_cases = self.cases.iter().flat_map(|case| &case.ruled_out);
        for part in self.ruled_out.iter().chain(of_cases) {
            let count = part.features.len();
            lengths.extend([(count, part.lower.len()), (count, part.upper.len())]);
            let rays = part.cone.iter().flat_map(|cone| &cone.rays);
            lengths.extend(rays.map(|ray| (count, ray.len())));
            lengths.extend(part.margins.iter().map(|margin| (width, margin.scenario.perturbation.len())));
            let points = part.margins.iter().filter_map(|margin| margin.touches.as_ref());
            lengths.extend(points.map(|point| (count, point.len())));
            if let Some(&index) = part.features.iter().find(|&&i| i >= features) {
                return Err(Error::Feature(FeatureError::NoSuchFeature { index, features }));
            }
        }
        if let Some(&index) = self.cases.iter().flat_map(|case| &case.fixed).find(|&&i| i >= features) {
            return Err(Error::Feature(FeatureError::NoSuchFeature { index, features }));
        }
        match lengths.into_iter().find(|(expected, found)| expected != found) {
            Some((expected, found)) => Err(Error::People(PeopleError::VectorLength { expected, found })),
            None => Ok(()),
        }
    }
}

impl<'v> At<'v> {
    fn wrong(&self, problem: SavedProblem) -> Error {
        Error::File(FileError::SavedProof { place: self.place.clone(), problem })
    }

    /// The norm. A custom set is identified by its parameters, which may be empty.
    fn norm(&self, width: usize) -> Result<SavedNorm> {
        let name = self.field("kind")?;
        let parameters = self.object()?.get("parameters");
        let parameters = parameters.map(|_| self.field("parameters")?.finite_numbers(None)).transpose()?;
        let known: Vec<&str> = named_norms().into_iter().map(|(name, _)| name).collect();
        if parameters.is_none() && !known.contains(&name.text()?) {
            return Err(name.wrong(SavedProblem::NotOneOf(known)));
        }
        let weights = self.field("weights")?;
        let weights = match weights.value {
            Value::Null => None,
            _ => Some(weights.finite_numbers(Some(width))?),
        };
        if let Some(weights) = &weights {
            Norm::L2.with_weights(weights.clone())?;
        }
        Ok(SavedNorm { name: name.text()?.to_owned(), parameters, weights })
    }

    fn expected(&self, what: &'static str) -> Error {
        self.wrong(SavedProblem::Expected(what))
    }

    fn object(&self) -> Result<&'v Map<String, Value>> {
        self.value.as_object().ok_or_else(|| self.expected("an object"))
    }

    fn field(&self, name: &'static str) -> Result<At<'v>> {
        let value = self.object()?.get(name).ok_or_else(|| self.wrong(SavedProblem::Missing(name)))?;
        let place = match self.place.as_str() {
            "the top" => name.to_owned(),
            place => format!("{place}.{name}"),
        };
        Ok(At { value, place })
    }

    fn items(&self) -> Result<Vec<At<'v>>> {
        let items = self.value.as_array().ok_or_else(|| self.expected("a list"))?;
        let item = |(k, value)| At { value, place: format!("{}[{k}]", self.place) };
        Ok(items.iter().enumerate().map(item).collect())
    }

    fn text(&self) -> Result<&'v str> {
        self.value.as_str().ok_or_else(|| self.expected("a string"))
    }

    /// A number, which may be infinite.
    fn number(&self) -> Result<f64> {
        match self.value {
            Value::Number(number) => number.as_f64().filter(|number| number.is_finite()),
            Value::String(text) if text == "inf" => Some(f64::INFINITY),
            Value::String(text) if text == "-inf" => Some(f64::NEG_INFINITY),
            _ => None,
        }
        .ok_or_else(|| self.expected("a number, \"inf\" or \"-inf\""))
    }

    fn finite(&self) -> Result<f64> {
        let number = self.number()?;
        if number.is_finite() { Ok(number) } else { Err(self.expected("a finite number")) }
    }

    /// A finite number, or nothing: NaN.
    fn finite_or_missing(&self) -> Result<f64> {
        if self.value.is_null() { Ok(f64::NAN) } else { self.finite() }
    }

    fn listed<T>(&self, length: Option<usize>, read: impl Fn(&At<'v>) -> Result<T>) -> Result<Vec<T>> {
        let items = self.items()?;
        match length {
            Some(expected) if expected != items.len() => {
                Err(self.wrong(SavedProblem::Length { expected, found: items.len() }))
            }
            _ => items.iter().map(read).collect(),
        }
    }

    fn numbers(&self, length: usize) -> Result<Vec<f64>> {
        self.listed(Some(length), At::number)
    }

    fn finite_numbers(&self, length: Option<usize>) -> Result<Vec<f64>> {
        self.listed(length, At::finite)
    }

    /// Distinct features in ascending order.
    fn features(&self, width: usize) -> Result<Vec<usize>> {
        let read = |item: &At<'v>| match item.value.as_u64().and_then(|i| usize::try_from(i).ok()) {
            Some(i) if i < width => Ok(i),
            _ => Err(item.expected("the number of a feature")),
        };
        let features = self.listed(None, read)?;
        match features.windows(2).all(|pair| pair[0] < pair[1]) {
            true => Ok(features),
            false => Err(self.expected("a list in ascending order")),
        }
    }

    fn action(&self, width: usize) -> Result<Action> {
        let features = self.field("features")?.features(width)?;
        let change = self.field("change")?.finite_numbers(Some(features.len()))?;
        Ok(Action { features, change })
    }

    fn outcome(&self, width: usize) -> Result<Outcome> {
        let kind = self.field("kind")?;
        Ok(match kind.text()? {
            "favourable" => Outcome::AlreadyFavourable,
            "found" => Outcome::Found(Recourse {
                action: self.field("action")?.action(width)?,
                counterfactual: self.field("counterfactual")?.finite_numbers(Some(width))?,
                cost: self.field("cost")?.finite()?,
                cost_bound: self.field("cost_bound")?.finite()?,
                margin: self.field("margin")?.finite()?,
            }),
            "impossible" => Outcome::Impossible(Shortfall {
                best: self.field("best")?.action(width)?,
                missing: self.field("missing")?.number()?,
            }),
            "undecided" => Outcome::Undecided(Undecided {
                best: self.field("best")?.action(width)?,
                margin: self.field("margin")?.number()?,
                required: self.field("required")?.number()?,
                cost_bound: self.field("cost_bound")?.number()?,
                reason: {
                    let field = self.field("reason")?;
                    let name = field.text()?;
                    let known = UndecidedReason::ALL.into_iter().find(|reason| reason.name() == name);
                    let names = || UndecidedReason::ALL.map(UndecidedReason::name).to_vec();
                    known.ok_or_else(|| field.wrong(SavedProblem::NotOneOf(names())))?
                },
            }),
            _ => return Err(kind.expected("`found`, `impossible`, `undecided` or `favourable`")),
        })
    }

    /// What is ruled out while some features stay as they are.
    fn case(&self, width: usize, coordinates: usize, scenarios: &[Scenario]) -> Result<Case> {
        let part = |part: &At<'v>| part.ruled_out(width, coordinates, scenarios);
        Ok(Case {
            fixed: self.field("fixed")?.features(width)?,
            ruled_out: self.field("ruled_out")?.listed(None, part)?,
            dividing: self.dividing(width)?,
        })
    }

    fn cover(&self, width: usize) -> Result<Cover> {
        let basis = self.field("basis")?;
        let length = if basis.items()?.is_empty() { 0 } else { width * width };
        let piece = |at: &At<'v>| {
            Ok(Piece {
                lower: at.field("lower")?.finite_numbers(Some(width))?,
                upper: at.field("upper")?.finite_numbers(Some(width))?,
                margin: at.field("margin")?.finite()?,
                cells: match at.object()?.get("cells") {
                    Some(_) => at.field("cells")?.listed(None, |cell| cell.cell(width))?,
                    None => Vec::new(),
                },
                phases: match at.object()?.get("phases") {
                    Some(_) => at.field("phases")?.listed(None, At::phase)?,
                    None => Vec::new(),
                },
                reason: match at.field("reason")?.text()? {
                    "affine" => BoundKind::Affine,
                    "curvature" => BoundKind::Curvature,
                    "quadratic" | "bent" => BoundKind::Quadratic,
                    "parabolas" => BoundKind::Parabolas,
                    "phases" => BoundKind::Phases,
                    "trees" => BoundKind::Trees,
                    _ => {
                        const NAMES: &str =
                            "`affine`, `quadratic`, `curvature`, `parabolas`, `phases` or `trees`";
                        return Err(at.field("reason")?.expected(NAMES));
                    }
                },
            })
        };
        Ok(Cover {
            basis: basis.finite_numbers(Some(length))?,
            worst: self.field("worst")?.finite_numbers(Some(width))?,
            pieces: self.field("pieces")?.listed(None, piece)?,
        })
    }

    fn cell(&self, width: usize) -> Result<Cell> {
        let bound = |at: &At<'v>| {
            Ok(Parabolas {
                outer: at.field("outer")?.listed(None, At::array)?,
                inner: at.field("inner")?.listed(None, At::array)?,
                slabs: at.field("slabs")?.finite_numbers(None)?,
                ellipsoid: at.field("ellipsoid")?.finite()?,
                ball: at.field("ball")?.finite()?,
            })
        };
        let cut = self.field("cut")?;
        let cut = match cut.value {
            Value::Null => None,
            _ => Some(Cut {
                direction: cut.field("direction")?.finite_numbers(Some(width))?,
                at: cut.field("at")?.finite()?,
            }),
        };
        Ok(Cell { bounds: self.field("bounds")?.listed(None, bound)?, cut })
    }

    /// A division by the sign of an argument, or a bound.
    fn phase(&self) -> Result<PhaseNode> {
        if self.value.is_object() {
            return Ok(PhaseNode::Closed(PhaseBound {
                slopes: self.field("slopes")?.listed(None, |layer| layer.finite_numbers(None))?,
                multipliers: self.field("multipliers")?.finite_numbers(None)?,
            }));
        }
        let number = |item: &At<'v>| match item.value.as_u64().and_then(|i| usize::try_from(i).ok()) {
            Some(number) => Ok(number),
            None => Err(item.expected("the number of a layer or a unit")),
        };
        match self.listed(Some(2), number)?[..] {
            [layer, unit] => Ok(PhaseNode::Split { layer, unit }),
            _ => Err(self.expected("a layer and a unit")),
        }
    }

    /// As many finite numbers as an array has.
    fn array<const N: usize>(&self) -> Result<[f64; N]> {
        let numbers = self.finite_numbers(Some(N))?;
        Ok(std::array::from_fn(|k| numbers[k]))
    }

    /// The fingerprint of the problem; `None` if the file has none.
    fn fingerprint(&self) -> Result<Option<Fingerprint>> {
        if self.object()?.get("problem").is_none_or(Value::is_null) {
            return Ok(None);
        }
        let problem = self.field("problem")?;
        let part = |name: &'static str| problem.field(name)?.text().map(str::to_owned);
        Ok(Some(Fingerprint {
            features: part("features")?,
            classifier: part("classifier")?,
            causal_model: part("causal_model")?,
            rules: part("rules")?,
        }))
    }

    /// A list of pairs of a number, which `read` reads, and a share.
    fn shares<T>(&self, read: impl Fn(&At<'v>) -> Result<T>) -> Result<Vec<(T, f64)>> {
        self.listed(None, |item| match &item.items()?[..] {
            [number, share] => Ok((read(number)?, share.finite()?)),
            _ => Err(item.expected("a number and its share")),
        })
    }

    /// The margins and requirements of a part, with their coefficients. Versions 1 and 2 stored one
    /// perturbation. Version 1 stored the number of one constraint, with coefficient one, or none; then
    /// the margin has coefficient one.
    fn terms(&self, width: usize, count: usize, scenarios: &[Scenario]) -> Result<Terms> {
        let object = self.object()?;
        let requirements = match object.contains_key("requirements") {
            true => self.field("requirements")?.shares(At::requirement)?,
            false if object.get("constraint").is_none_or(Value::is_null) => Vec::new(),
            false => vec![(self.field("constraint")?.requirement()?, 1.0)],
        };
        if object.contains_key("margins") {
            let points = match object.contains_key("points") {
                true => self.field("points")?.listed(None, |point| point.finite_numbers(Some(count)))?,
                false => Vec::new(),
            };
            let place = |item: &At<'v>| {
                let place = item.value.as_u64().and_then(|place| scenarios.get(usize::try_from(place).ok()?));
                place.ok_or_else(|| item.expected("the number of a perturbation"))
            };
            let margin = |item: &At<'v>| match &item.items()?[..] {
                [number, share, point @ ..] if point.len() < 2 => Ok(WeightedMargin {
                    scenario: place(number)?.clone(),
                    share: share.finite()?,
                    touches: point.first().map(|number| number.point(&points)).transpose()?,
                }),
                _ => Err(item.expected("a number, its share and perhaps the number of a point")),
            };
            return Ok((self.field("margins")?.listed(None, margin)?, requirements));
        }
        let perturbation = self.field("perturbation")?.finite_numbers(Some(width))?;
        let share = match object.contains_key("share") {
            true => self.field("share")?.finite()?,
            false if requirements.is_empty() => 1.0,
            false => 0.0,
        };
        let is_needed = share != 0.0 || requirements.is_empty();
        let scenario = Scenario { variant: 0, perturbation };
        let margins =
            if is_needed { vec![WeightedMargin { scenario, share, touches: None }] } else { Vec::new() };
        Ok((margins, requirements))
    }

    /// The scenarios to which parts refer by number. Without a list of variants all are of the first one.
    fn scenarios(&self, width: usize) -> Result<Vec<Scenario>> {
        let object = self.object()?;
        if !object.contains_key("perturbations") {
            return Ok(Vec::new());
        }
        let perturbations =
            self.field("perturbations")?.listed(None, |item| item.finite_numbers(Some(width)))?;
        let variants = match object.contains_key("variants") {
            true => self.field("variants")?.listed(Some(perturbations.len()), At::variant)?,
            false => vec![0; perturbations.len()],
        };
        let scenario = |(variant, perturbation)| Scenario { variant, perturbation };
        Ok(variants.into_iter().zip(perturbations).map(scenario).collect())
    }

    fn variant(&self) -> Result<usize> {
        let number = self.value.as_u64().and_then(|number| usize::try_from(number).ok());
        number.ok_or_else(|| self.expected("the number of a variant"))
    }

    /// The point of which this is the number.
    fn point(&self, points: &[Vec<f64>]) -> Result<Vec<f64>> {
        let number = self.value.as_u64().and_then(|number| usize::try_from(number).ok());
        let point = number.and_then(|number| points.get(number));
        point.cloned().ok_or_else(|| self.expected("the number of a point"))
    }

    fn requirement(&self) -> Result<usize> {
        let number = self.value.as_u64().and_then(|number| usize::try_from(number).ok());
        number.ok_or_else(|| self.expected("the number of a requirement"))
    }

    fn ruled_out(&self, width: usize, coordinates: usize, scenarios: &[Scenario]) -> Result<RuledOut> {
        let features = self.field("features")?.features(width)?;
        let count = features.len();
        let distance = self.field("distance")?.numbers(2)?;
        let rays: Vec<Vec<f64>> = self.field("rays")?.listed(None, |ray| ray.finite_numbers(Some(count)))?;
        let cone = Cone { rays, from: distance[0], to: distance[1] };
        let (margins, requirements) = self.terms(coordinates, count, scenarios)?;
        let undecided = match self.object()?.contains_key("undecided") {
            true => self.field("undecided")?.features(width)?,
            false => Vec::new(),
        };
        Ok(RuledOut {
            undecided,
            lower: self.field("lower")?.numbers(count)?,
            upper: self.field("upper")?.numbers(count)?,
            cost: self.field("cost")?.number()?,
            margins,
            cone: Some(cone).filter(|cone| !cone.rays.is_empty()),
            requirements,
            features,
        })
    }
}
