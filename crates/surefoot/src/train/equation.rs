//! Fits structural equations to a table, given a causal graph.

use std::fmt;
use std::ops::ControlFlow;

use nalgebra::DVector;
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::descend::{Descent, Epoch, Loss, Samples, Watch};
use super::split::held_out;
use super::{check_table, design};
use crate::error::{CausalModelError, PeopleError, TrainingError};
use crate::metrics::ranks;
use crate::network::{Block, Lanes, Real, Trainable};
use crate::{Activation, Equation, Error, Features, Kind, Network, Result, Scm};

/// The smallest rank correlation that is reported; weaker ones do not matter even if they are significant.
const WEAK: f64 = 0.1;

/// The critical value, in standard deviations, of the test whether residuals depend on a parent.
const SURE: f64 = 3.5;

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
    check_table(features, rows)?;
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
        check_table(features, rows)?;
        let (train, test) = self.split(rows)?;
        check_graph(features, graph)?;
        let table = Table { features, rows, train, test };
        let equations = graph.iter().map(|&(feature, parents)| {
            let watch: &mut Watch<'_> = &mut |epoch| watch(feature, epoch);
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
        Ok(FittedEquation {
            feature: feature.into(),
            parents: parents.iter().map(|&parent| parent.into()).collect(),
            function,
            r_squared,
            deviation,
            warnings,
        })
    }
}

/// Standardised rows, split into those of the fit and those on which it is measured.
struct Table<'a> {
    features: &'a Features,
    rows: ArrayView2<'a, f64>,
    train: Array2<f64>,
    test: Array2<f64>,
}

impl Table<'_> {
    fn is_constant(&self, column: usize) -> bool {
        self.rows.column(column).iter().all(|&v| v == self.rows[[0, column]])
    }

    /// The least-squares solution over all rows, and the predictions for the test rows of the solution over
    /// the training rows.
    fn fit_linear(&self, target: usize, columns: &[usize]) -> Result<(Function, Array1<f64>)> {
        let whole = least_squares(self.features, self.rows, target, columns).map_err(|error| {
            let Error::Training(TrainingError::Collinear { feature: cause }) = error else { return error };
            let is_constant = self.features.index(&cause).is_ok_and(|j| self.is_constant(j));
            let feature = self.features.feature(target).name.clone();
            Error::CausalModel(CausalModelError::CollinearCause { feature, cause, is_constant })
        })?;
        // The remaining rows may have no unique solution if a rare value is held out.
        let (coefficients, intercept) =
            least_squares(self.features, self.train.view(), target, columns).unwrap_or(whole.clone());
        let predicted =
            Function::Linear { coefficients, intercept }.values(&self.test.select(Axis(1), columns));
        let (coefficients, intercept) = whole;
        Ok((Function::Linear { coefficients, intercept }, predicted))
    }

    /// A network for the training rows, and its predictions for the test rows.
    fn fit_network(
        &self,
        descent: &Descent<'_>,
        target: usize,
        columns: &[usize],
        watch: &mut Watch<'_>,
    ) -> Result<(Function, Array1<f64>)> {
        let loss = Regression {
            inputs: self.train.select(Axis(1), columns),
            targets: self.train.column(target).to_owned(),
        };
        let function = Function::Network(descent.minimise::<f32>(&loss, watch)?.network);
        let predicted = function.values(&self.test.select(Axis(1), columns));
        Ok((function, predicted))
    }

    /// A warning if a parent is constant or a linear function of the others.
    fn collinear_parent(&self, target: usize, columns: &[usize]) -> Result<Option<Warning>> {
        match least_squares(self.features, self.rows, target, columns) {
            Err(Error::Training(TrainingError::Collinear { feature: parent })) => {
                let feature = self.features.feature(target).name.clone();
                Ok(Some(Warning::Collinear { feature, parent }))
            }
            other => other.map(|_| None),
        }
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

/// Coefficients and intercept, by a QR decomposition.
fn least_squares(
    features: &Features,
    rows: ArrayView2<'_, f64>,
    target: usize,
    columns: &[usize],
) -> Result<(Vec<f64>, f64)> {
    let design = design(rows, columns);
    let scale: Vec<f64> = design.column_iter().map(|column| column.norm()).collect();
    let targets = DVector::from_iterator(rows.nrows(), rows.column(target).iter().copied());
    let qr = design.qr();
    let r = qr.r();
    for (k, &column) in columns.iter().enumerate() {
        // A diagonal entry of R is the norm of the part of a column that is orthogonal to the columns
        // before it.
        if r.nrows() <= k + 1 || r[(k + 1, k + 1)].abs() <= 1e-10 * scale[k + 1] {
            return Err(Error::Training(TrainingError::Collinear {
                feature: features.feature(column).name.clone(),
            }));
        }
    }
    let projected = qr.q().transpose() * targets;
    let solution = r.solve_upper_triangular(&projected).ok_or(Error::People(PeopleError::NoPeople))?;
    Ok((solution.iter().skip(1).copied().collect(), solution[0]))
}

/// The parents with which the size of residuals varies, directly or by distance from the median.
fn dependence(
    features: &Features,
    feature: &str,
    rows: ArrayView2<'_, f64>,
    columns: &[usize],
    residuals: &Array1<f64>,
) -> Vec<Warning> {
    let squares = ranks(&residuals.mapv(|r| r * r).to_vec());
    let warning = |&column: &usize| {
        let values = rows.column(column).to_vec();
        let mut sorted = values.clone();
        sorted.sort_by(f64::total_cmp);
        let median = sorted[sorted.len() / 2];
        let distances: Vec<f64> = values.iter().map(|v| (v - median).abs()).collect();
        let correlations =
            [correlation(&squares, &ranks(&values)), correlation(&squares, &ranks(&distances))];
        let [a, b] = correlations;
        let correlation = if a.abs() >= b.abs() { a } else { b };
        let sure = correlation.abs() * ((values.len() - 1) as f64).sqrt() > SURE;
        (sure && correlation.abs() > WEAK).then(|| Warning::ResidualsDepend {
            feature: feature.into(),
            parent: features.feature(column).name.clone(),
            correlation,
        })
    };
    columns.iter().filter_map(warning).collect()
}

/// Pearson's correlation; 0 where one side is constant.
fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (mean_a, mean_b) = (mean(a), mean(b));
    let sum = |f: &dyn Fn(f64, f64) -> f64| -> f64 {
        a.iter().zip(b).map(|(a, b)| f(a - mean_a, b - mean_b)).sum()
    };
    let square = sum(&|a, _| a * a) * sum(&|_, b| b * b);
    if square > 0.0 { sum(&|a, b| a * b) / square.sqrt() } else { 0.0 }
}

/// Squared error.
struct Regression {
    inputs: Array2<f64>,
    targets: Array1<f64>,
}

impl Loss for Regression {
    fn samples(&self) -> usize {
        self.targets.len()
    }

    fn inputs(&self) -> usize {
        self.inputs.ncols()
    }

    fn add_gradient<T: Real>(
        &self,
        network: &Trainable<T>,
        samples: &Samples,
        block: &mut Block<T>,
        _: &mut ChaCha8Rng,
    ) -> f64 {
        let column = |j: usize| Lanes::from_fn(|l| self.inputs[[samples.rows[l], j]]);
        let x: Vec<Lanes> = (0..self.inputs()).map(column).collect();
        let error = network.value(&x, block) - Lanes::from_fn(|l| self.targets[samples.rows[l]]);
        let weighted = error * Lanes(samples.share);
        network.add_gradient(weighted + weighted, None, block);
        (weighted * error).0.iter().sum()
    }
}
