//! Programs by hand and against dense sampling.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;

fn row(coefficients: &[f64], need: f64) -> Row {
    Row { coefficients: coefficients.to_vec(), need, doubt: vec![0.0; coefficients.len()] }
}

fn meets(rows: &[Row], point: &[f64], room: f64) -> bool {
    rows.iter().all(|row| dot(&row.coefficients, point) >= row.need - room)
}

#[test]
fn two_rows_by_hand() {
    // t0 + t1 >= 3 and t0 - t1 <= 1: cheapest with weights 1 and 2 at (2, 1).
    let rows = [row(&[1.0, 1.0], 3.0), row(&[-1.0, 1.0], -1.0)];
    let program = Program {
        rows: &rows,
        weights: &[1.0, 2.0],
        cost: Cost::L1,
        lower: &[-5.0, -5.0],
        upper: &[f64::INFINITY, 5.0],
    };
    let Solution::Optimal { point, multipliers } = program.solve() else { panic!() };
    assert!((point[0] - 2.0).abs() < 1e-12 && (point[1] - 1.0).abs() < 1e-12, "{point:?}");
    assert!((program.cost_bound(&multipliers) - 4.0).abs() < 1e-9);
    // With weights of one and l2 cost at (1.5, 1.5).
    let program = Program { weights: &[1.0, 1.0], cost: Cost::L2, ..program };
    let Solution::Optimal { point, multipliers } = program.solve() else { panic!() };
    assert!((point[0] - 1.5).abs() < 1e-9 && (point[1] - 1.5).abs() < 1e-9, "{point:?}");
    assert!((program.cost_bound(&multipliers) - 4.5f64.sqrt()).abs() < 1e-9);
}

#[test]
fn contradicting_rows_exclude_each_other() {
    let rows = [row(&[1.0, 1.0], 3.0), row(&[-1.0, -1.0], -2.0)];
    let sides = (&[-10.0, -10.0], &[10.0, 10.0]);
    let program =
        Program { rows: &rows, weights: &[1.0, 1.0], cost: Cost::L1, lower: sides.0, upper: sides.1 };
    let Solution::Infeasible { multipliers } = program.solve() else { panic!() };
    assert_eq!(program.cost_bound(&multipliers), f64::INFINITY);
}

/// Random programs against dense sampling: no sample is cheaper than the bound, and the solution
/// meets the rows and costs hardly more than the bound.
#[test]
fn random_programs() {
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let (mut solved, mut infeasible) = (0, 0);
    for _ in 0..600 {
        let width = random.random_range(1..5);
        let count = random.random_range(1..6);
        let mut number = |low: f64, high: f64| random.random_range(low..high);
        let rows: Vec<Row> = (0..count)
            .map(|_| row(&(0..width).map(|_| number(-2.0, 2.0)).collect::<Vec<_>>(), number(-1.0, 2.0)))
            .collect();
        let weights: Vec<f64> = (0..width).map(|_| number(0.2, 3.0)).collect();
        let lower: Vec<f64> = (0..width).map(|_| number(-2.0, 0.4)).collect();
        let upper: Vec<f64> = lower.iter().map(|l| l + number(0.0, 3.0)).collect();
        for cost in [Cost::L1, Cost::L2] {
            let program = Program { rows: &rows, weights: &weights, cost, lower: &lower, upper: &upper };
            let price = |t: &[f64]| match cost {
                Cost::L1 => t.iter().zip(&weights).map(|(t, w)| w * t.abs()).sum::<f64>(),
                Cost::L2 => t.iter().zip(&weights).map(|(t, w)| (w * t).powi(2)).sum::<f64>().sqrt(),
            };
            let bound = match program.solve() {
                Solution::Optimal { point, multipliers } => {
                    solved += 1;
                    let bound = program.cost_bound(&multipliers);
                    assert!(meets(&rows, &point, 1e-6), "{program:?} {point:?}");
                    assert!(price(&point) <= bound + 1e-5, "{program:?}: {} {bound}", price(&point));
                    bound
                }
                Solution::Infeasible { multipliers } => {
                    infeasible += 1;
                    let bound = program.cost_bound(&multipliers);
                    assert_eq!(bound, f64::INFINITY, "{program:?}");
                    bound
                }
                Solution::Unknown => panic!("{program:?}"),
            };
            for _ in 0..300 {
                let point: Vec<f64> = (0..width).map(|k| random.random_range(lower[k]..=upper[k])).collect();
                assert!(!meets(&rows, &point, 0.0) || price(&point) >= bound, "{program:?} {point:?}");
            }
        }
    }
    assert!(solved > 300 && infeasible > 300, "{solved} {infeasible}");
}
