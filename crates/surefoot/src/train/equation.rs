//! Fits structural equations to a table, given a causal graph.

mod regression;

use std::fmt;
use std::ops::ControlFlow;

use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::check_table;
use super::descend::{Descent, Epoch, Watch};
use super::split::held_out;
use crate::coverage::radius_of_errors;
use crate::error::{CausalModelError, SettingError, TrainingError};
use crate::{Activation, Equation, Error, Features, Kind, Network, Result, Scm, chi_square};
use regression::{Table, dependence, least_squares, standard_errors};

/// The final share of training over which the step falls to 0.
const SETTLING: f64 = 0.5;

/// The settings with which structural equations are fitted: every feature that has causes becomes a
/// function of them plus noise.
///
/// ```
/// use surefoot::train::Fitting;
/// use surefoot::{Feature, Features};
///
/// let features = Features::new(vec![Feature::new("income"), Feature::new("savings")])?;
/// let rows = ndarray::Array2::from_shape_fn((50, 2), |(i, j)| (i * (j + 3)) as f64 % 7.0 + i as f64);
/// let fitted = Fitting::linear().run(&features, rows.view(), &[("savings", &["income"])])?;
/// assert!(fitted.equations[0].r_squared > 0.9);
/// let scm = fitted.scm(&features)?;
/// # Ok::<(), surefoot::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Fitting {
    /// The kind of the functions.
    pub shape: Shape,
    /// The share of the rows that is held out to measure the fit; with 0 the fit is measured on the rows of
    /// the fit.
    pub held_out: f64,
    /// The seed of the held-out rows and of initial weights.
    pub seed: u64,
}

/// The kind of a fitted function.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// Coefficients and an intercept, by least squares.
    Linear,
    /// A dense network, by Adam over mini-batches.
    Network {
        /// Widths of the hidden layers.
        hidden: Vec<usize>,
        /// The function between layers.
        activation: Activation,
        /// Passes over the rows.
        epochs: usize,
        /// Rows in a mini-batch.
        batch: usize,
        /// The step of Adam.
        step: f64,
    },
}

impl Fitting {
    /// Linear equations.
    pub fn linear() -> Self {
        Self { shape: Shape::Linear, held_out: 0.2, seed: 0 }
    }

    /// Networks with the settings of the published ones: one hidden layer of 100 tanh, Adam with step
    /// 0.005, batches of 100. (In addition, the step falls to 0 over the second half of training.)
    pub fn network(epochs: usize) -> Self {
        let shape = Shape::Network {
            hidden: vec![100],
            activation: Activation::Tanh,
            epochs,
            batch: 100,
            step: 0.005,
        };
        Self { shape, held_out: 0.2, seed: 0 }
    }
}

/// Fitted equations.
#[derive(Clone, Debug)]
pub struct Fitted {
    /// One for each feature with causes, in the order in which they were given.
    pub equations: Vec<FittedEquation>,
}

/// A fitted equation, `feature := function(parents) + u` in standardised units.
#[derive(Clone, Debug)]
pub struct FittedEquation {
    /// The name of the feature.
    pub feature: String,
    /// Its causes.
    pub parents: Vec<String>,
    /// The fitted function of the causes.
    pub function: Function,
    /// The explained share of its variance, on held-out rows.
    pub r_squared: f64,
    /// The standard deviation of the residuals: for networks on held-out rows, for linear equations on all
    /// rows, with one degree of freedom less for each fitted number.
    pub deviation: f64,
    /// The standard errors of the coefficients, if it is linear; empty for networks.
    pub standard_errors: Vec<f64>,
    /// How far the values of the rows on which the fit is measured are from the function.
    pub residuals: Vec<f64>,
    /// The doubts about the equation.
    pub warnings: Vec<Warning>,
}

/// A fitted function.
#[derive(Clone, Debug, PartialEq)]
pub enum Function {
    /// `coefficients . parents + intercept`.
    Linear {
        /// One for each parent.
        coefficients: Vec<f64>,
        /// The constant.
        intercept: f64,
    },
    /// A network.
    Network(Network),
}

/// A reason to doubt a fitted equation.
#[derive(Clone, Debug, PartialEq)]
pub enum Warning {
    /// The size of the residuals depends on a cause, which additive noise does not.
    ResidualsDepend {
        /// The feature.
        feature: String,
        /// The cause.
        parent: String,
        /// The rank correlation of squared residuals with the cause, or with its distance from
        /// the median.
        correlation: f64,
    },
    /// A cause is constant or a linear function of the others.
    Collinear {
        /// The feature.
        feature: String,
        /// The cause.
        parent: String,
    },
    /// The causes explain nothing on rows held out.
    Unexplained {
        /// The feature.
        feature: String,
    },
    /// The feature is binary and its equation gives any number.
    Binary {
        /// The feature.
        feature: String,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::ResidualsDepend { feature, parent, correlation } => write!(
                f,
                "`{feature}`: the size of what its equation leaves unexplained varies with `{parent}` (rank correlation {correlation:.2}), so its noise is not simply added; counterfactuals of people with unusual `{parent}` are less certain than they look"
            ),
            Warning::Collinear { feature, parent } => {
                write!(f, "`{feature}`: its cause `{parent}` is constant or follows from the others; drop it")
            }
            Warning::Unexplained { feature } => {
                write!(f, "`{feature}`: its causes explain nothing of it; check the graph")
            }
            Warning::Binary { feature } => write!(
                f,
                "`{feature}` is binary, and its equation gives any number: where its causes change, it becomes a fraction"
            ),
        }
    }
}

impl Function {
    /// The value of the function for every row of parents.
    fn values(&self, parents: &Array2<f64>) -> Array1<f64> {
        match self {
            Function::Linear { coefficients, intercept } => {
                parents.dot(&ArrayView1::from(coefficients)) + *intercept
            }
            Function::Network(network) => Array1::from(network.values(parents.view())),
        }
    }
}

impl Fitted {
    /// The causal model.
    pub fn scm(&self, features: &Features) -> Result<Scm> {
        let equations = self.equations.iter().map(|fitted| (&fitted.feature[..], fitted.equation()));
        Scm::new(features, equations.collect())
    }
}

impl FittedEquation {
    /// The largest error of each coefficient with this probability, each by itself, if estimates are normal. Empty for
    /// networks.
    ///
    /// # Errors
    /// If the probability is none between 0 and 1.
    pub fn errors(&self, probability: f64) -> Result<Vec<f64>> {
        check_probability(probability)?;
        let width = chi_square::radius(1, probability);
        Ok(self.standard_errors.iter().map(|error| width * error).collect())
    }

    /// The distance from the function within which the value of a further person is with this probability, whatever the
    /// distribution. What the causes leave unexplained counts in full.
    ///
    /// # Errors
    /// If the probability is none between 0 and 1, or if the fit was measured on too few rows for it.
    pub fn band(&self, probability: f64) -> Result<f64> {
        check_probability(probability)?;
        radius_of_errors(&self.residuals, probability).ok_or_else(|| {
            let (feature, rows) = (self.feature.clone(), self.residuals.len());
            Error::Training(TrainingError::FewResiduals { feature, rows, probability })
        })
    }

    /// The equation, for a causal model.
    pub fn equation(&self) -> Equation {
        let parents: Vec<&str> = self.parents.iter().map(String::as_str).collect();
        match &self.function {
            Function::Linear { coefficients, intercept } => {
                Equation::linear(&parents, coefficients.clone(), *intercept)
            }
            Function::Network(network) => Equation::network(&parents, network.clone()),
        }
    }
}

/// A linear equation for a feature from its parents on standardised rows, by least squares.
///
/// An error names a parent that is constant or a linear function of the others.
pub fn linear_equation(
    features: &Features,
    rows: ArrayView2<'_, f64>,
    feature: &str,
    parents: &[&str],
) -> Result<Equation> {
    check_table(features, rows, |_, _| false)?;
    let (target, columns) = resolve(features, feature, parents)?;
    let (coefficients, intercept) = least_squares(features, rows, target, &columns)?;
    Ok(Equation::linear(parents, coefficients, intercept))
}

impl Fitting {
    /// Fits an equation for every feature named with its causes, on standardised rows.
    ///
    /// Linear equations are the least-squares solution over *all* rows; the share that they
    /// explain comes from a solution without the rows held out. Networks never see those.
    pub fn run(
        &self,
        features: &Features,
        rows: ArrayView2<'_, f64>,
        graph: &[(&str, &[&str])],
    ) -> Result<Fitted> {
        self.run_with(features, rows, graph, &mut |_, _| ControlFlow::Continue(()))
    }

    /// Fits the equations and calls `watch` after every epoch of every feature; the feature's training ends
    /// when it breaks.
    pub fn run_with(
        &self,
        features: &Features,
        rows: ArrayView2<'_, f64>,
        graph: &[(&str, &[&str])],
        watch: &mut dyn FnMut(&str, &Epoch) -> ControlFlow<()>,
    ) -> Result<Fitted> {
        check_table(features, rows, |i, value| value.is_nan() && features.feature(i).missing.is_some())?;
        let (train, test) = self.split(rows)?;
        check_graph(features, graph)?;
        let table = Table { features, rows, train, test };
        let equations = graph.iter().map(|&(feature, parents)| {
            let watch: &mut Watch<'_> = &mut |epoch| watch(feature, epoch);
            let (target, columns) = resolve(features, feature, parents)?;
            let involved: Vec<usize> = columns.into_iter().chain([target]).collect();
            let is_usual =
                |i: &usize| features.feature(*i).special.is_empty() && features.feature(*i).missing.is_none();
            if involved.iter().all(is_usual) {
                return self.equation(&table, feature, parents, watch);
            }
            // An equation is about amounts: rows with special or missing values of its features say nothing of it.
            let usual = |rows: ArrayView2<'_, f64>| {
                let is_usual = |row: &usize| {
                    let special = features
                        .special_values(rows.row(*row).as_slice().unwrap_or(&rows.row(*row).to_vec()));
                    special.iter().all(|(i, _)| !involved.contains(i))
                        && involved.iter().all(|&i| !rows[[*row, i]].is_nan())
                };
                let kept: Vec<usize> = (0..rows.nrows()).filter(is_usual).collect();
                rows.select(Axis(0), &kept)
            };
            let (rows, train, test) = (usual(rows), usual(table.train.view()), usual(table.test.view()));
            // As many as there are unknowns, and one to measure by.
            if train.nrows() <= involved.len() + 1 || test.nrows() < 2 {
                let rows = rows.nrows();
                return Err(Error::Training(TrainingError::FewUsual { feature: feature.into(), rows }));
            }
            let table = Table { features, rows: rows.view(), train, test };
            self.equation(&table, feature, parents, watch)
        });
        Ok(Fitted { equations: equations.collect::<Result<_>>()? })
    }

    /// The rows of the fit and the rows on which it is measured.
    fn split(&self, rows: ArrayView2<'_, f64>) -> Result<(Array2<f64>, Array2<f64>)> {
        if self.held_out == 0.0 {
            return Ok((rows.to_owned(), rows.to_owned()));
        }
        let mut order: Vec<usize> = (0..rows.nrows()).collect();
        order.shuffle(&mut ChaCha8Rng::seed_from_u64(self.seed));
        let kept = order.split_off(held_out(rows.nrows(), self.held_out)?);
        Ok((rows.select(Axis(0), &kept), rows.select(Axis(0), &order)))
    }

    /// Fits the equation of one feature and measures it.
    fn equation(
        &self,
        table: &Table<'_>,
        feature: &str,
        parents: &[&str],
        watch: &mut Watch<'_>,
    ) -> Result<FittedEquation> {
        let (target, columns) = resolve(table.features, feature, parents)?;
        if columns.is_empty() {
            return Err(Error::CausalModel(CausalModelError::NoCauses { feature: feature.into() }));
        }
        if table.is_constant(target) {
            return Err(Error::Training(TrainingError::ConstantColumn { feature: feature.into() }));
        }
        let mut warnings = Vec::new();
        if table.features.feature(target).kind == Kind::Binary {
            warnings.push(Warning::Binary { feature: feature.into() });
        }
        let (function, predicted) = match &self.shape {
            Shape::Linear => table.fit_linear(target, &columns)?,
            Shape::Network { hidden, activation, epochs, batch, step } => {
                warnings.extend(table.collinear_parent(target, &columns)?);
                let descent = Descent {
                    hidden,
                    activation: *activation,
                    epochs: *epochs,
                    batch: *batch,
                    step: *step,
                    settling: SETTLING,
                    validation: None,
                    seed: self.seed.wrapping_add(target as u64),
                };
                table.fit_network(&descent, target, &columns, watch)?
            }
        };
        let actual = table.test.column(target);
        let residuals = &actual - &predicted;
        let spread = actual.var(0.0);
        let r_squared = 1.0 - residuals.mapv(|r| r * r).sum() / (spread * actual.len() as f64);
        if r_squared.is_nan() || r_squared <= 0.0 {
            warnings.push(Warning::Unexplained { feature: feature.into() });
        }
        // The dependence of the noise on a cause is tested on all rows: few are held out, and the
        // residuals of a function with far fewer parameters than rows are close to the noise.
        let rows = table.rows;
        let everywhere = &rows.column(target) - &function.values(&rows.select(Axis(1), &columns));
        warnings.extend(dependence(table.features, feature, rows, &columns, &everywhere));
        let deviation = match &function {
            Function::Linear { .. } => {
                let free = rows.nrows().saturating_sub(columns.len() + 1).max(1);
                (everywhere.mapv(|r| r * r).sum() / free as f64).sqrt()
            }
            Function::Network(_) => residuals.std(0.0),
        };
        let standard_errors = match &function {
            Function::Linear { .. } => standard_errors(rows, &columns, deviation),
            Function::Network(_) => Vec::new(),
        };
        Ok(FittedEquation {
            feature: feature.into(),
            parents: parents.iter().map(|&parent| parent.into()).collect(),
            function,
            r_squared,
            deviation,
            standard_errors,
            residuals: residuals.mapv(f64::abs).to_vec(),
            warnings,
        })
    }
}

fn check_probability(probability: f64) -> Result<()> {
    match probability > 0.0 && probability < 1.0 {
        true => Ok(()),
        false => Err(Error::Setting(SettingError::Setting { setting: "probability", value: probability })),
    }
}

/// Checks names and cycles before anything is fitted.
fn check_graph(features: &Features, graph: &[(&str, &[&str])]) -> Result<()> {
    let blank = |&(feature, parents)| (feature, Equation::linear(parents, vec![0.0; parents.len()], 0.0));
    Scm::new(features, graph.iter().map(blank).collect()).map(drop)
}

fn resolve(features: &Features, feature: &str, parents: &[&str]) -> Result<(usize, Vec<usize>)> {
    let parents = parents.iter().map(|parent| features.index(parent)).collect::<Result<Vec<_>>>()?;
    Ok((features.index(feature)?, parents))
}
