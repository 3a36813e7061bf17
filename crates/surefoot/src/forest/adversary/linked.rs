//! The nearest point of a box where features follow each other.

use super::Walk;
use crate::forest::Scene;

/// The number of sweeps by which the nearest point of a box is improved.
const SWEEPS: usize = 6;

/// The number of rounds of such sweeps, after each of which the point is checked.
const ROUNDS: usize = 16;

impl Walk {
    /// Improves the point in the linked features by coordinate descent on the size of the perturbation. `false` if
    /// the ball, less what the other features need, does not reach the box.
    pub(super) fn place_linked(&mut self, scene: &Scene<'_>, centre: &[f64], limit: f64) -> bool {
        let linked: Vec<usize> = (0..centre.len()).filter(|&i| scene.linked[i] && scene.live[i]).collect();
        let deviation = |point: &[f64], i: usize| point[i] - centre[i];
        let residual = |point: &[f64], i: usize| {
            let causes = scene.causes[i].iter().map(|&(j, c)| c * deviation(point, j)).sum::<f64>();
            (deviation(point, i) - causes) * scene.weights[i]
        };
        // Squares with weights that approach the norm: those of the last round, times or divided by the sizes.
        let mut shares = vec![1.0; linked.len()];
        let mut best: Option<(f64, Vec<f64>)> = None;
        for _ in 0..ROUNDS {
            for _ in 0..SWEEPS {
                for &i in linked.iter().rev() {
                    // The terms that contain this deviation: its own, and those of the features that follow it.
                    let (mut square, mut slope) = (0.0, 0.0);
                    for (&f, share) in linked.iter().zip(&shares) {
                        let own = if f == i { 1.0 } else { 0.0 };
                        let caused: f64 =
                            scene.causes[f].iter().filter(|(j, _)| *j == i).map(|(_, c)| c).sum();
                        let factor = (own - caused) * scene.weights[f];
                        if factor != 0.0 {
                            square += share * factor * factor;
                            slope += share * factor * residual(&self.point, f);
                        }
                    }
                    let moved = self.point[i] - slope / square;
                    self.point[i] = moved.clamp(self.lower[i].next_up(), self.upper[i]);
                }
            }
            let sizes: Vec<f64> = linked.iter().map(|&i| residual(&self.point, i)).collect();
            let total: f64 = sizes.iter().map(|size| scene.ball.term(size.abs())).sum();
            if total <= limit {
                return true;
            }
            let normal: Vec<f64> = sizes.iter().zip(&shares).map(|(size, share)| size * share).collect();
            if self.is_apart(scene, centre, &linked, &normal, scene.ball.size(limit)) {
                return false;
            }
            let most = sizes.iter().fold(0.0f64, |most, size| most.max(size.abs()));
            if best.as_ref().is_none_or(|(least, _)| most < *least) {
                best = Some((most, self.point.clone()));
            }
            for (share, size) in shares.iter_mut().zip(&sizes) {
                let relative = size.abs() / most.max(f64::MIN_POSITIVE);
                *share = match scene.ball.power {
                    1.0 => 1.0 / (relative + 1e-4),
                    2.0 => 1.0,
                    _ => *share * (relative + 1e-2),
                };
            }
        }
        if let Some((_, point)) = best {
            self.point = point;
        }
        true
    }

    /// Whether a plane, whose normal is given in perturbations, separates the box from the ball of a radius.
    fn is_apart(
        &self,
        scene: &Scene<'_>,
        centre: &[f64],
        linked: &[usize],
        normal: &[f64],
        radius: f64,
    ) -> bool {
        // The row of the plane in deviations.
        let mut row = vec![0.0; centre.len()];
        for (&i, &v) in linked.iter().zip(normal) {
            row[i] += v * scene.weights[i];
            for &(j, c) in &scene.causes[i] {
                row[j] -= c * v * scene.weights[i];
            }
        }
        let (mut least, mut size) = (0.0, 0.0);
        for (i, &r) in row.iter().enumerate().filter(|(_, r)| **r != 0.0) {
            let end = if r > 0.0 { self.lower[i] } else { self.upper[i] };
            least += r * (end - centre[i]) - r.abs() * scene.slack(i, centre[i]);
            size += (r * (end - centre[i])).abs();
        }
        least - 1e-12 * size > radius * scene.ball.dual(normal.iter().copied()) * (1.0 + 1e-12)
    }
}
