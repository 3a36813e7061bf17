//! Ascent on the dual variables: Adam on the smoothed bound.

use nalgebra::{DMatrix, DVector, SymmetricEigen};

use super::domain::Domain;
use super::dual::{ConcaveGram, Dual, Form, Parts, curvatures, form, parts};
use super::layers::Layers;
use super::moments::{Grid, InnerMoments, MOMENTS, Mix, OuterMoments};
use super::ranges::Ranges;
use crate::network::{LANES, Lanes, vectorised};

/// The numbers of points on the grids of the last and of the first of two hidden layers.
const POINTS: (usize, usize) = (33, 25);
/// The number of steps after which the signs of Gershgorin's circles are computed again.
const RENEWED: usize = 32;

/// Settings of an ascent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Schedule {
    pub steps: usize,
    pub rate: f64,
    /// The smoothing at the start and at the end.
    pub smoothing: (f64, f64),
    /// The bound at which the ascent stops.
    pub enough: f64,
}

/// The ascent over one domain.
pub(super) struct Ascent<'a> {
    layers: &'a Layers<'a>,
    ranges: &'a Ranges,
    domain: &'a Domain,
    outer: Grid,
    inner: Grid,
    curvatures: Vec<Lanes>,
    /// For each unit of the last layer, its share in Gershgorin's circles with fixed signs.
    shares: Vec<Lanes>,
}

/// The solution of a trust-region problem with a smoothed multiplier.
pub(super) struct Solved {
    pub value: f64,
    pub at: DVector<f64>,
    pub multiplier: f64,
    /// The eigenvalues with the multiplier added, and the eigenvectors.
    pub eigen: SymmetricEigen<f64, nalgebra::Dyn>,
}

/// Minimises a form over the ball: for every multiplier `m`, `min over y of form(y) + m (|y|^2 - R^2)` is a
/// lower bound. With a smoothing t the multiplier maximises that bound plus `t / 2` times the logarithm of
/// the determinant of `matrix + m`.
pub(super) fn solve(form: &Form, radius: f64, smoothing: f64) -> Solved {
    let n = form.linear.len();
    let eigen = SymmetricEigen::new(form.matrix.clone());
    with_multiplier(form, eigen, radius, smoothing, n)
}

pub(super) fn with_multiplier(
    form: &Form,
    mut eigen: SymmetricEigen<f64, nalgebra::Dyn>,
    radius: f64,
    smoothing: f64,
    n: usize,
) -> Solved {
    let square = radius * radius;
    let turned = eigen.eigenvectors.tr_mul(&form.linear);
    let least = eigen.eigenvalues.min();
    let length = |m: f64| -> f64 {
        (0..n)
            .map(|k| {
                let curved = eigen.eigenvalues[k] + m;
                (0.5 * turned[k] / curved).powi(2) + 0.5 * smoothing / curved
            })
            .sum()
    };
    let mut low = (-least).max(0.0) + 1e-9 * (1.0 + least.abs());
    let mut high = low + 2.0 * (0.5 * turned.norm() / radius + 0.5 * n as f64 * smoothing / square + 1e-9);
    if length(low) > square {
        for _ in 0..40 {
            let middle = 0.5 * (low + high);
            if length(middle) > square { low = middle } else { high = middle }
        }
    } else {
        high = low;
    }
    let multiplier = high;
    eigen.eigenvalues.add_scalar_mut(multiplier);
    let steps = DVector::from_fn(n, |k, _| -0.5 * turned[k] / eigen.eigenvalues[k]);
    let value = form.constant + 0.5 * turned.dot(&steps) - multiplier * square;
    Solved { value, at: &eigen.eigenvectors * steps, multiplier, eigen }
}

impl<'a> Ascent<'a> {
    pub fn new(layers: &'a Layers<'a>, ranges: &'a Ranges, domain: &'a Domain) -> Self {
        let outer = Grid::new(POINTS.0, &ranges.lower, &ranges.upper, |b, l, z| {
            layers.weight[b].0[l] * (ranges.origin[b].0[l] + z).tanh()
        });
        let mut inner = Grid::default();
        let mut bends = Vec::new();
        if let Some(first) = &ranges.inner {
            inner = Grid::new(POINTS.1, &first.lower, &first.upper, |b, l, u| {
                (layers.origin[b].0[l] + u).tanh() - first.offset[b].0[l] - first.slope[b].0[l] * u
            });
            bends = curvatures(layers, first);
        }
        Self { layers, ranges, domain, outer, inner, curvatures: bends, shares: Vec::new() }
    }

    /// Fixes the signs of Gershgorin's circles at the current parabolas. Then the circles are linear in the
    /// concave parts of the parabolas.
    fn renew(&mut self, dual: &Dual) {
        let Some(second) = self.layers.second else { return };
        let (units, below) = (second.forward.inputs(), second.backward.blocks());
        let mut matrix = vec![Lanes::ZERO; units * below];
        vectorised(ConcaveGram { second, alpha: &dual.alpha, matrix: &mut matrix });
        let mut signs: Vec<Lanes> = matrix.iter().map(|m| m.map(f64::signum)).collect();
        // The diagonal is positive wherever there is any concave parabola.
        (0..units).for_each(|k| signs[k * below + k / LANES].0[k % LANES] = 1.0);
        let outputs = second.backward.inputs();
        self.shares.resize(outputs * below, Lanes::ZERO);
        for j in 0..outputs {
            let mut sums = vec![Lanes::ZERO; below];
            for k in 0..units {
                let w = second.backward.weights(k / LANES, j).0[k % LANES];
                for b in 0..below {
                    let sign = &signs[k * below + b].0;
                    for l in 0..LANES {
                        sums[b].0[l] += sign[l] * w;
                    }
                }
            }
            for b in 0..below {
                self.shares[j * below + b] = sums[b] * *second.backward.weights(b, j);
            }
        }
    }

    fn circles(&self, dual: &Dual) -> Vec<Lanes> {
        let below = dual.blocks().1;
        let mut circles = vec![Lanes::ZERO; below];
        for (j, shares) in self.shares.chunks_exact(below.max(1)).enumerate() {
            let concave = (-dual.alpha[j / LANES].0[j % LANES]).max(0.0);
            if concave > 0.0 {
                for b in 0..below {
                    for l in 0..LANES {
                        circles[b].0[l] += concave * shares[b].0[l];
                    }
                }
            }
        }
        circles
    }

    /// The bound on the grids, and the gradient of the smoothed bound.
    fn gradient(&self, dual: &Dual, smoothing: f64, gradient: &mut Dual) -> f64 {
        let (layers, ranges) = (self.layers, self.ranges);
        let n = layers.inputs;
        let (blocks, below) = dual.blocks();
        let parts = parts(layers, ranges, &self.curvatures, dual, self.circles(dual));
        let mut form = form(layers, ranges, dual, &parts);
        let (mut first, mut second) = (vec![Lanes::ZERO; blocks], vec![Lanes::ZERO; blocks]);
        form.constant += vectorised(OuterMoments {
            grid: &self.outer,
            alpha: &dual.alpha,
            beta: &dual.beta,
            smoothing,
            first: &mut first,
            second: &mut second,
        });
        let mut moments: [Vec<Lanes>; MOMENTS] = std::array::from_fn(|_| vec![Lanes::ZERO; below]);
        if below > 0 {
            let pull: Vec<Lanes> = (0..below).map(|b| parts.e[b] + dual.shift[b]).collect();
            let price: Vec<Lanes> =
                (0..below).map(|b| parts.split[b].map(|s| 0.5 / s) + parts.circles[b]).collect();
            form.constant += vectorised(InnerMoments {
                grid: &self.inner,
                pull: &pull,
                twist: &dual.twist,
                price: &price,
                square: &parts.square,
                line: &dual.line,
                smoothing,
                moments: &mut moments,
            });
        }
        let slabs: Vec<f64> = dual.slabs.iter().map(|m| m.exp()).collect();
        let ellipsoid = dual.ellipsoid.exp();
        form.add_multipliers(self.domain, &slabs, ellipsoid);
        let solved = solve(&form, self.domain.radius, smoothing);
        let y = &solved.at;
        // The second moments: those of the minimiser, and a spread that belongs to the smoothing.
        let mut spread = solved.eigen.eigenvectors.clone();
        for k in 0..n {
            let factor = (0.5 * smoothing / solved.eigen.eigenvalues[k]).sqrt();
            spread.column_mut(k).scale_mut(factor);
        }
        let x: DMatrix<f64> = &spread * spread.transpose() + y * y.transpose();
        let outer = Means::new(n, x.as_slice(), y.as_slice(), &ranges.columns);
        for b in 0..blocks {
            gradient.alpha[b] = outer.squares[b] - second[b];
            gradient.beta[b] = outer.values[b] - first[b];
        }
        self.inner_gradient(dual, &parts, &moments, (&x, y), gradient);
        self.multiplier_gradient((&x, y), (&slabs, ellipsoid), gradient);
        solved.value
    }

    /// The gradient in the variables of the first of two hidden layers, and what these add to that of the
    /// second.
    fn inner_gradient(
        &self,
        dual: &Dual,
        parts: &Parts,
        moments: &[Vec<Lanes>; MOMENTS],
        (x, y): (&DMatrix<f64>, &DVector<f64>),
        gradient: &mut Dual,
    ) {
        let (layers, ranges) = (self.layers, self.ranges);
        let n = layers.inputs;
        let (blocks, below) = dual.blocks();
        let Some(layer) = layers.second else { return };
        let [u, uu, rho, urho, rhorho] = moments;
        let own = Means::new(n, x.as_slice(), y.as_slice(), &layers.columns);
        let rest = Means::new(n, x.as_slice(), y.as_slice(), &parts.rest);
        let mut pulled = vec![Lanes::ZERO; below];
        // The derivative in the rows `r_k`.
        let mut rows = rest.turned;
        for b in 0..below {
            let (split, shift) = (parts.split[b], dual.shift[b]);
            gradient.square[b] = own.squares[b] - uu[b];
            gradient.line[b] = own.values[b] - u[b];
            gradient.shift[b] = split * (rest.values[b] - shift) + rho[b];
            gradient.split[b] = split * (shift * (rest.values[b] - shift.map(|q| 0.5 * q)))
                - split * rest.squares[b].map(|s| 0.5 * s)
                + rhorho[b] * split.map(|s| 0.5 / s);
            pulled[b] = rho[b] + self.curvatures[b] * gradient.square[b];
            let mut twist = urho[b];
            for i in 0..n {
                let row = split * (shift.map(|q| q * y[i]) - rows[i * below + b]);
                rows[i * below + b] = row;
                twist = twist - row * layers.columns[i * below + b];
            }
            gradient.twist[b] = twist;
        }
        let mut up = vec![Lanes::ZERO; blocks];
        layer.forward.multiply(&pulled, &mut up);
        let mut through = vec![Lanes::ZERO; n * blocks];
        layer.forward.multiply(&rows, &mut through);
        for b in 0..blocks {
            gradient.beta[b] = gradient.beta[b] + up[b];
            for i in 0..n {
                let k = i * blocks + b;
                gradient.alpha[b] = gradient.alpha[b] + (through[k] * ranges.columns[k]).map(|x| 2.0 * x);
            }
        }
        for (j, shares) in self.shares.chunks_exact(below).enumerate() {
            if dual.alpha[j / LANES].0[j % LANES] < 0.0 {
                gradient.alpha[j / LANES].0[j % LANES] += crate::graph::dot(shares, rhorho);
            }
        }
    }

    /// The gradient in the logarithms of the multipliers.
    fn multiplier_gradient(
        &self,
        (x, y): (&DMatrix<f64>, &DVector<f64>),
        (slabs, ellipsoid): (&[f64], f64),
        gradient: &mut Dual,
    ) {
        for (k, slab) in self.domain.slabs.iter().enumerate() {
            let d = DVector::from_column_slice(&slab.direction);
            let mean = d.dot(&(x * &d)) - (slab.lower + slab.upper) * d.dot(y) + slab.lower * slab.upper;
            gradient.slabs[k] = slabs[k] * mean;
        }
        if let Some(own) = &self.domain.ellipsoid {
            let turned = &own.matrix * &own.centre;
            let mean = own.matrix.dot(x) - 2.0 * turned.dot(y) + own.centre.dot(&turned) - 1.0;
            gradient.ellipsoid = ellipsoid * mean;
        }
    }

    /// Ascends from a start; returns the best variables, the bound on the grids and the number of steps.
    pub fn run(&mut self, start: Dual, schedule: Schedule) -> (Dual, f64, usize) {
        let mut dual = start;
        let mut best = (dual.clone(), f64::NEG_INFINITY);
        let mut gradient = dual.clone();
        let scales = Scales::of(self.layers);
        let zero = |x: &Dual| {
            let mut x = x.clone();
            x.each_mut(|v, _| v.fill(Lanes::ZERO));
            x.slabs.fill(0.0);
            x.ellipsoid = 0.0;
            x
        };
        let (mut mean, mut variance) = (zero(&dual), zero(&dual));
        for step in 0..schedule.steps {
            if step.is_multiple_of(RENEWED) {
                self.renew(&dual);
            }
            let share = step as f64 / schedule.steps as f64;
            let smoothing = schedule.smoothing.0 * (schedule.smoothing.1 / schedule.smoothing.0).powf(share);
            let value = self.gradient(&dual, smoothing, &mut gradient);
            if value > best.1 {
                best = (dual.clone(), value);
                if value >= schedule.enough {
                    return (best.0, best.1, step + 1);
                }
            }
            let rate = schedule.rate * (0.02 + 0.98 * (1.0 - share).powf(1.5));
            let (a, b) = (1.0 - 0.9f64.powi(step as i32 + 1), 1.0 - 0.98f64.powi(step as i32 + 1));
            let adam = |v: &mut f64, m: &mut f64, q: &mut f64, g: f64, scale: f64| {
                *m = 0.9 * *m + 0.1 * g;
                *q = 0.98 * *q + 0.02 * g * g;
                *v += rate * scale * (*m / a) / ((*q / b).sqrt() + 1e-9);
            };
            dual.zip_mut(&mut mean, &mut variance, &gradient, |v, m, q, g, group| {
                for b in 0..v.len() {
                    let scale = scales.of_group(group, b);
                    for l in 0..LANES {
                        adam(&mut v[b].0[l], &mut m[b].0[l], &mut q[b].0[l], g[b].0[l], scale.0[l]);
                    }
                }
            });
            for k in 0..dual.slabs.len() {
                adam(&mut dual.slabs[k], &mut mean.slabs[k], &mut variance.slabs[k], gradient.slabs[k], 1.0);
            }
            adam(&mut dual.ellipsoid, &mut mean.ellipsoid, &mut variance.ellipsoid, gradient.ellipsoid, 1.0);
        }
        (best.0, best.1, schedule.steps)
    }
}

/// For columns c of rows: `c^T x c`, `c . y` and `x c` for each row.
struct Means {
    squares: Vec<Lanes>,
    values: Vec<Lanes>,
    turned: Vec<Lanes>,
}

impl Means {
    fn new(n: usize, x: &[f64], y: &[f64], columns: &[Lanes]) -> Self {
        let blocks = columns.len() / n;
        let mut turned = vec![Lanes::ZERO; columns.len()];
        vectorised(Mix { matrix: x, columns, output: &mut turned, inputs: n });
        let (mut squares, mut values) = (vec![Lanes::ZERO; blocks], vec![Lanes::ZERO; blocks]);
        for i in 0..n {
            for b in 0..blocks {
                let column = columns[i * blocks + b];
                squares[b] = squares[b] + column * turned[i * blocks + b];
                values[b] = values[b] + column.map(|c| c * y[i]);
            }
        }
        Self { squares, values, turned }
    }
}

/// The sizes of Adam's steps for each group of variables.
struct Scales {
    /// The absolute weights of the last hidden layer.
    weight: Vec<Lanes>,
}

impl Scales {
    fn of(layers: &Layers<'_>) -> Self {
        Self { weight: layers.weight.iter().map(|w| w.map(f64::abs)).collect() }
    }

    fn of_group(&self, group: usize, block: usize) -> Lanes {
        match group {
            0 => self.weight[block].map(|w| 0.1 * w),
            1 => self.weight[block],
            2 => Lanes::splat(0.3),
            3 => Lanes::splat(0.05),
            _ => Lanes::splat(1.0),
        }
    }
}

impl Dual {
    /// Calls a function for every group of variables on lanes.
    fn each_mut(&mut self, mut f: impl FnMut(&mut Vec<Lanes>, usize)) {
        let Dual { alpha, beta, square, line, split, shift, twist, .. } = self;
        for (group, v) in [alpha, beta, square, line, split, shift, twist].into_iter().enumerate() {
            f(v, group);
        }
    }

    fn zip_mut(
        &mut self,
        mean: &mut Dual,
        variance: &mut Dual,
        gradient: &Dual,
        mut f: impl FnMut(&mut [Lanes], &mut [Lanes], &mut [Lanes], &[Lanes], usize),
    ) {
        macro_rules! groups {
            ($($name:ident: $group:literal),*) => {
                $(f(&mut self.$name, &mut mean.$name, &mut variance.$name, &gradient.$name, $group);)*
            };
        }
        groups!(alpha: 0, beta: 1, square: 2, line: 3, split: 4, shift: 5, twist: 6);
    }
}
