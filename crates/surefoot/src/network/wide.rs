//! Products of a layer with a few columns, with units on SIMD lanes. Bounds and second derivatives consist
//! of these; a column holds the coefficients of one input.

use super::Layer;
use super::kernel::{Vectorised, vectorised};
use super::lanes::{LANES, Lanes};
use super::real::Real;

/// A matrix whose outputs are on SIMD lanes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Wide {
    /// For each block of outputs its weights, input by input.
    weights: Vec<Lanes>,
    inputs: usize,
    blocks: usize,
}

/// A layer with its transpose.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WideLayer {
    /// From inputs to outputs.
    pub forward: Wide,
    /// From outputs to inputs.
    pub backward: Wide,
    /// The bias of each output, padded with zeros.
    pub bias: Vec<Lanes>,
    /// The largest sum of absolute weights of an output.
    pub largest_row: f64,
}

impl WideLayer {
    pub fn new(layer: &Layer) -> Self {
        let (outputs, inputs) = layer.weight.dim();
        let rows = layer.weight.rows().into_iter();
        Self {
            forward: Wide::new(outputs, inputs, |i, j| layer.weight[[i, j]]),
            backward: Wide::new(inputs, outputs, |j, i| layer.weight[[i, j]]),
            bias: on_lanes(outputs, |i| layer.bias[i]),
            largest_row: rows.map(|row| row.iter().map(|w| w.abs()).sum()).fold(0.0, f64::max),
        }
    }
}

/// `count` values in blocks of lanes; the last block is padded with zeros.
pub(crate) fn on_lanes(count: usize, value: impl Fn(usize) -> f64) -> Vec<Lanes> {
    let at = |i: usize| if i < count { value(i) } else { 0.0 };
    (0..count.div_ceil(LANES)).map(|block| Lanes::from_fn(|l| at(block * LANES + l))).collect()
}

impl Wide {
    fn new(outputs: usize, inputs: usize, weight: impl Fn(usize, usize) -> f64) -> Self {
        let blocks = outputs.div_ceil(LANES);
        let at = |i: usize, j: usize| if i < outputs { weight(i, j) } else { 0.0 };
        let weights = (0..blocks)
            .flat_map(|block| (0..inputs).map(move |j| (block, j)))
            .map(|(block, j)| Lanes::from_fn(|l| at(block * LANES + l, j)));
        Self { weights: weights.collect(), inputs, blocks }
    }

    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// The number of blocks of outputs.
    pub fn blocks(&self) -> usize {
        self.blocks
    }

    /// The weights of an input in a block of outputs.
    #[inline(always)]
    pub fn weights(&self, block: usize, input: usize) -> &Lanes {
        &self.weights[block * self.inputs + input]
    }

    /// `output[c] = matrix * input[c]` for every column c; columns lie one after the other.
    pub fn multiply(&self, input: &[Lanes], output: &mut [Lanes]) {
        vectorised(Product::<false> { matrix: self, input, output });
    }

    /// `output[c] = |matrix| * input[c]`, with absolute weights.
    pub fn multiply_sizes(&self, input: &[Lanes], output: &mut [Lanes]) {
        vectorised(Product::<true> { matrix: self, input, output });
    }
}

struct Product<'a, const SIZES: bool> {
    matrix: &'a Wide,
    input: &'a [Lanes],
    output: &'a mut [Lanes],
}

impl<const SIZES: bool> Vectorised for Product<'_, SIZES> {
    type Output = ();

    /// At most two columns at a time: their sums are eight of the sixteen registers of AVX2.
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let columns = self.columns();
        let mut first = 0;
        while first + 2 <= columns {
            tile::<2, SIZES, FUSED>(self.matrix, self.input, first, self.output);
            first += 2;
        }
        if first < columns {
            tile::<1, SIZES, FUSED>(self.matrix, self.input, first, self.output);
        }
    }

    /// Four columns at a time, and the remaining ones together: a single column would wait for its weights.
    #[inline(always)]
    fn run_on_many_registers(self) {
        let columns = self.columns();
        let mut first = 0;
        while first + 4 <= columns {
            tile::<4, SIZES, true>(self.matrix, self.input, first, self.output);
            first += 4;
        }
        match columns - first {
            3 => tile::<3, SIZES, true>(self.matrix, self.input, first, self.output),
            2 => tile::<2, SIZES, true>(self.matrix, self.input, first, self.output),
            1 => tile::<1, SIZES, true>(self.matrix, self.input, first, self.output),
            _ => {}
        }
    }
}

impl<const SIZES: bool> Product<'_, SIZES> {
    #[inline(always)]
    fn columns(&self) -> usize {
        let stride = self.matrix.inputs.div_ceil(LANES);
        let columns = self.output.len() / self.matrix.blocks;
        assert!(self.input.len() >= columns * stride, "as many columns in as out");
        columns
    }
}

/// The products of some columns with all outputs.
#[inline(always)]
fn tile<const COLUMNS: usize, const SIZES: bool, const FUSED: bool>(
    matrix: &Wide,
    input: &[Lanes],
    first: usize,
    output: &mut [Lanes],
) {
    let stride = matrix.inputs.div_ceil(LANES);
    for block in 0..matrix.blocks {
        let weights = &matrix.weights[block * matrix.inputs..(block + 1) * matrix.inputs];
        let mut sums = [[0.0; LANES]; COLUMNS];
        for (j, weight) in weights.iter().enumerate() {
            for c in 0..COLUMNS {
                let x = input[(first + c) * stride + j / LANES].0[j % LANES];
                for l in 0..LANES {
                    let w = if SIZES { weight.0[l].abs() } else { weight.0[l] };
                    sums[c][l] = f64::fused::<FUSED>(x, w, sums[c][l]);
                }
            }
        }
        for c in 0..COLUMNS {
            output[(first + c) * matrix.blocks + block].0 = sums[c];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::kernel::{Level, vectorised_at};
    use super::*;

    #[test]
    fn products_agree_with_their_definition_at_every_level() {
        for (outputs, inputs) in [(1, 1), (3, 20), (16, 5), (100, 17), (33, 100)] {
            let weight = |i: usize, j: usize| ((i * 31 + j * 17) as f64).sin();
            let matrix = Wide::new(outputs, inputs, weight);
            for columns in [1, 2, 3, 4, 7] {
                let x = |c: usize, j: usize| ((c * 7 + j) as f64).cos();
                let input: Vec<Lanes> =
                    (0..columns).flat_map(|c| on_lanes(inputs, move |j| x(c, j))).collect();
                for (level, sizes) in Level::available().into_iter().flat_map(|l| [(l, false), (l, true)]) {
                    let mut output = vec![Lanes::splat(f64::NAN); columns * matrix.blocks()];
                    let (matrix, input, output) = (&matrix, &input[..], &mut output[..]);
                    match sizes {
                        true => vectorised_at(level, Product::<true> { matrix, input, output }),
                        false => vectorised_at(level, Product::<false> { matrix, input, output }),
                    }
                    for c in 0..columns {
                        for i in 0..outputs {
                            let w = |j| if sizes { weight(i, j).abs() } else { weight(i, j) };
                            let exact: f64 = (0..inputs).map(|j| w(j) * x(c, j)).sum();
                            let fused = (0..inputs).fold(0.0, |sum, j| x(c, j).mul_add(w(j), sum));
                            let found = output[c * matrix.blocks() + i / LANES].0[i % LANES];
                            assert!((found - exact).abs() < 1e-13);
                            assert!(level == Level::Portable || found == fused, "{level:?} {columns}");
                        }
                    }
                }
            }
        }
    }
}
