//! Intermediate values of a model as linear functions of the last activation's output.
//!
//! Scalers, layers without activation and other linear operators are folded into one such function, so that
//! a network of plain layers remains.

use ndarray::{Array1, Array2, Axis};

/// `map * h + bias` with one row for each column of the value.
#[derive(Clone, Debug)]
pub struct Affine {
    /// The layer whose output is `h`; `None` if `h` is the model's input.
    pub below: Option<usize>,
    map: Map,
    /// The constants; one entry if the width is not known yet.
    bias: Vec<f64>,
}

#[derive(Clone, Debug)]
enum Map {
    /// The same factor for every column, of any number.
    Uniform(f64),
    /// A factor for each column.
    Diagonal(Vec<f64>),
    Dense(Array2<f64>),
}

impl Affine {
    /// The input, of any width.
    pub fn input() -> Self {
        Self { below: None, map: Map::Uniform(1.0), bias: vec![0.0] }
    }

    /// The output of a layer of this width.
    pub fn layer(below: usize, width: usize) -> Self {
        Self { below: Some(below), map: Map::Diagonal(vec![1.0; width]), bias: vec![0.0; width] }
    }

    /// `(1 - p, p)` for a layer whose output is the probability `p`.
    pub fn pair(below: usize) -> Self {
        let map = Map::Dense(ndarray::array![[-1.0], [1.0]]);
        Self { below: Some(below), map, bias: vec![1.0, 0.0] }
    }

    /// The number of columns; `None` if it is not known yet.
    pub fn width(&self) -> Option<usize> {
        match &self.map {
            Map::Uniform(_) => None,
            Map::Diagonal(_) | Map::Dense(_) => Some(self.bias.len()),
        }
    }

    /// The number of its coefficients and constants.
    pub fn size(&self) -> usize {
        self.bias.len()
            + match &self.map {
                Map::Uniform(_) => 1,
                Map::Diagonal(factors) => factors.len(),
                Map::Dense(map) => map.len(),
            }
    }

    /// The number of columns of `h`; `None` if it is not known yet.
    fn width_below(&self) -> Option<usize> {
        match &self.map {
            Map::Uniform(_) => None,
            Map::Diagonal(factors) => Some(factors.len()),
            Map::Dense(map) => Some(map.ncols()),
        }
    }

    /// The number of its coefficients and constants for this number of columns.
    pub fn size_with(&self, width: usize) -> Option<usize> {
        width.checked_mul(self.width_below().unwrap_or(self.bias.len()).checked_add(1)?)
    }

    /// Sets the width; `None` if it differs from the known one.
    pub fn with_width(self, width: usize) -> Option<Self> {
        match (self.width(), &self.map) {
            (None, Map::Uniform(factor)) => Some(Self {
                below: self.below,
                map: Map::Diagonal(vec![*factor; width]),
                bias: vec![self.bias[0]; width],
            }),
            (Some(found), _) if found == width => Some(self),
            _ => None,
        }
    }

    /// Sets the width to that of a row of constants, which may be one for all columns.
    fn like(self, row: &[f64]) -> Option<Self> {
        if row.len() == 1 { Some(self) } else { self.with_width(row.len()) }
    }

    /// Adds a row, or one number to every column; `None` if the widths differ.
    pub fn plus(self, row: &[f64]) -> Option<Self> {
        let mut sum = self.like(row)?;
        let terms = row.iter().cycle();
        sum.bias.iter_mut().zip(terms).for_each(|(bias, term)| *bias += term);
        Some(sum)
    }

    /// Multiplies each column by its factor, or all by one; `None` if the widths differ.
    pub fn times(self, row: &[f64]) -> Option<Self> {
        let mut product = self.like(row)?;
        let factors = || row.iter().cycle();
        match &mut product.map {
            Map::Uniform(all) => *all *= row[0],
            Map::Diagonal(each) => each.iter_mut().zip(factors()).for_each(|(each, factor)| *each *= factor),
            Map::Dense(map) => {
                map.axis_iter_mut(Axis(0)).zip(factors()).for_each(|(mut line, &factor)| line *= factor);
            }
        }
        product.bias.iter_mut().zip(factors()).for_each(|(bias, factor)| *bias *= factor);
        Some(product)
    }

    /// `value * weight`, with one row of the weight for each column; `None` if the widths differ.
    pub fn through(self, weight: &Array2<f64>) -> Option<Self> {
        let value = self.with_width(weight.nrows())?;
        let map = match value.map {
            Map::Dense(map) => weight.t().dot(&map),
            Map::Diagonal(factors) => weight.t().to_owned() * &Array1::from(factors),
            Map::Uniform(_) => return None,
        };
        let bias = weight.t().dot(&Array1::from(value.bias)).to_vec();
        Some(Self { below: value.below, map: Map::Dense(map), bias })
    }

    /// The concatenation of the columns of several values; `None` if they follow different layers.
    pub fn beside(values: Vec<Self>) -> Option<Self> {
        let below = values.first()?.below;
        let mut bias = Vec::new();
        let mut rows = Vec::new();
        for value in values {
            if value.below != below {
                return None;
            }
            bias.extend_from_slice(&value.bias);
            rows.push(value.dense()?.0);
        }
        let views: Vec<_> = rows.iter().map(|rows| rows.view()).collect();
        let map = Map::Dense(ndarray::concatenate(Axis(0), &views).ok()?);
        Some(Self { below, map, bias })
    }

    /// Weight and bias; `None` if the width is not known yet.
    pub fn dense(self) -> Option<(Array2<f64>, Array1<f64>)> {
        let map = match self.map {
            Map::Uniform(_) => return None,
            Map::Diagonal(factors) => Array2::from_diag(&Array1::from(factors)),
            Map::Dense(map) => map,
        };
        Some((map, Array1::from(self.bias)))
    }

    /// Whether each column is a multiple of the same column of a layer's output.
    pub fn is_untouched(&self) -> bool {
        self.below.is_some() && matches!(self.map, Map::Diagonal(_))
    }

    /// Weights and bias of one column.
    pub fn column(&self, column: usize) -> Option<(Vec<f64>, f64)> {
        let bias = *self.bias.get(column)?;
        let weights = match &self.map {
            Map::Uniform(_) => return None,
            Map::Diagonal(factors) => {
                let mut weights = vec![0.0; factors.len()];
                weights[column] = factors[column];
                weights
            }
            Map::Dense(map) => map.row(column).to_vec(),
        };
        Some((weights, bias))
    }

    /// One column alone.
    pub fn only(&self, column: usize) -> Option<Self> {
        let (weights, bias) = self.column(column)?;
        let map = Map::Dense(Array2::from_shape_vec((1, weights.len()), weights).ok()?);
        Some(Self { below: self.below, map, bias: vec![bias] })
    }

    /// The second of two columns minus the first.
    pub fn difference(&self) -> Option<Self> {
        self.clone().through(&ndarray::array![[-1.0], [1.0]])
    }

    /// Whether it has two columns, each the negative of the other.
    pub fn is_opposite(&self) -> bool {
        match (self.width(), self.column(0), self.column(1)) {
            (Some(2), Some((first, a)), Some((second, b))) => {
                a == -b && first.iter().zip(&second).all(|(v, w)| *v == -w)
            }
            _ => false,
        }
    }

    /// The sum of all columns if it does not depend on the input.
    pub fn constant_sum(&self) -> Option<f64> {
        let width = self.width()?;
        let summed = self.clone().through(&Array2::ones((width, 1)))?;
        let (weights, bias) = summed.column(0)?;
        weights.iter().all(|&weight| weight == 0.0).then_some(bias)
    }

    /// Whether no column is negative for any `h` between 0 and 1.
    pub fn is_positive_over_probabilities(&self) -> bool {
        let lowest = |column: usize| {
            let (weights, bias) = self.column(column)?;
            Some(bias + weights.iter().map(|weight| weight.min(0.0)).sum::<f64>())
        };
        self.width()
            .is_some_and(|width| (0..width).all(|column| lowest(column).is_some_and(|least| least >= 0.0)))
    }
}
