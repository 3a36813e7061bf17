//! Norms by hand, and properties that every set has.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use proptest::prelude::*;
use rand::SeedableRng;

use super::*;
use crate::error::SettingError;
use crate::length::euclidean;
use crate::network::Lanes;
use crate::small::Plain;

fn norms(weights: &[f64]) -> impl Iterator<Item = Norm> + '_ {
    let weighted = |norm: Norm| norm.with_weights(weights.to_vec()).unwrap();
    let products = products(weights.len()).into_iter().map(Norm::unweighted);
    let all = named_norms().into_iter().map(|(_, norm)| norm).chain(products);
    all.flat_map(move |norm| [norm.clone(), weighted(norm)])
}

/// Every set, with its own implementations and with the defaults.
fn sets(width: usize) -> Vec<SharedSet> {
    let listed = SETS.iter().flat_map(|&set| [SharedSet::listed(set), Plain(set).into()]);
    let products = products(width).into_iter().flat_map(|product| {
        let same: &'static Product = Box::leak(Box::new(product.clone()));
        [product.into(), Plain(same).into()]
    });
    listed.chain(products).collect()
}

/// Products of `width` coordinates, in the unit cube.
fn products(width: usize) -> Vec<Product> {
    let evens = || (0..width).step_by(2).collect();
    let odd = |i: usize| Factor::new(NormKind::L1, if i == 1 { 0.3 } else { 0.0 }, vec![i]);
    let mixed: Vec<Factor> =
        [Factor::new(NormKind::L2, 0.8, evens())].into_iter().chain((1..width).step_by(2).map(odd)).collect();
    let halves = vec![
        Factor::new(NormKind::L1, 1.0, vec![0, 1]),
        Factor::new(NormKind::L2, 0.5, (2..width).collect()),
    ];
    let intervals = (0..width).map(|i| Factor::new(NormKind::Linf, 0.2 * i as f64, vec![i])).collect();
    [mixed, halves, intervals].map(|factors| Product::new(factors).unwrap()).to_vec()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[test]
fn values_and_duals_by_hand() {
    let v = [3.0, -4.0];
    assert_eq!(Norm::L1.value(&v), 7.0);
    assert_eq!(Norm::L2.value(&v), 5.0);
    assert_eq!(Norm::LINF.value(&v), 4.0);
    assert_eq!(Norm::L1.dual(&v), 4.0);
    assert_eq!(Norm::LINF.dual(&v), 7.0);
    let weighted = Norm::weighted(NormKind::L1, vec![2.0, 1.0]).unwrap();
    assert_eq!(weighted.value(&v), 10.0);
    assert_eq!(weighted.dual(&v), 4.0);
}

#[test]
fn lengths_of_huge_and_tiny_vectors() {
    assert!((Norm::L2.value(&[3e200, 4e200]) / 5e200 - 1.0).abs() < 1e-15);
    assert!((Norm::L2.value(&[3e-200, 4e-200]) / 5e-200 - 1.0).abs() < 1e-15);
    assert_eq!(Norm::L2.value(&[0.0]), 0.0);
    assert!(Norm::LINF.value(&[1.0, f64::NAN, 0.0]).is_nan());
}

#[test]
fn weights_must_be_positive_and_finite() {
    for weight in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-101, 1e101] {
        let error = Norm::weighted(NormKind::L2, vec![1.0, weight]).unwrap_err();
        assert!(matches!(error, Error::Setting(SettingError::NormWeight { position: 1, .. })), "{error}");
    }
}

#[test]
fn names_say_which_set_it_is() {
    let names: Vec<&str> = named_norms().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["l1", "l2", "linf"]);
    assert_eq!(NormKind::Linf.to_string(), "linf");
    assert_eq!(named_norms()[1].1, Norm::L2);
    assert_ne!(Norm::unweighted(Plain(SETS[1])), Norm::L2);
    assert!(!Norm::unweighted(Plain(SETS[1])).set().is_listed());
}

#[test]
fn a_box_beside_a_set_is_found_to_be_apart() {
    for set in sets(3) {
        // Beyond the corner of the cube, which contains the other two sets.
        let (mut lower, mut upper) = (vec![0.9, 0.9, 1.01], vec![2.0, 3.0, 4.0]);
        assert!(!set.tighten_box(1.0, &mut lower, &mut upper), "{set:?}");
        // Beyond the diagonal of the ball and of the octahedron, but within their bounding box.
        let (mut lower, mut upper) = (vec![0.6, -0.9, -0.9], vec![0.9, -0.6, -0.6]);
        assert_eq!(set.tighten_box(1.0, &mut lower, &mut upper), set.gauge(&[0.6, -0.6, -0.6]) <= 1.0);
    }
}

#[test]
fn a_product_by_hand() {
    let exact = Factor::new(NormKind::L2, 0.0, vec![1]);
    let product = Product::new(vec![Factor::new(NormKind::L2, 2.0, vec![0, 3]), exact]).unwrap_err();
    let wrong = SettingError::Factor { position: 0, coordinate: Some(3) };
    assert!(matches!(&product, Error::Setting(error) if *error == wrong), "{product}");

    let factors = vec![
        Factor::new(NormKind::L2, 2.0, vec![0, 3]),
        Factor::new(NormKind::L1, 0.0, vec![1]),
        Factor::new(NormKind::Linf, 0.5, vec![2]),
    ];
    let product = Product::new(factors).unwrap();
    assert_eq!(product.gauge(&[3.0, 0.0, 1.0, 4.0]), 2.5);
    assert_eq!(product.gauge(&[0.0, 1e-300, 0.0, 0.0]), f64::INFINITY);
    assert!(product.gauge(&[0.0, f64::NAN, 0.0, 0.0]).is_nan());
    assert_eq!(product.support(&[3.0, 9.0, -8.0, 4.0]), 14.0);
    assert_eq!(product.maximiser(&[3.0, 9.0, -8.0, 4.0]), [1.2, 0.0, -0.5, 1.6]);
    assert_eq!(product.half_widths(4), [2.0, 0.0, 0.5, 2.0]);
    let mut y = [6.0, 1.0, -3.0, 8.0];
    project_inside(&product, &mut y, 0.5);
    for (found, expected) in y.iter().zip([0.6, 0.0, -0.25, 0.8]) {
        assert!((found - expected).abs() < 1e-15, "{y:?}");
    }
    assert_eq!(product.parameters(), [2.0, 2.0, 2.0, 0.0, 3.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.5, 1.0, 2.0]);
    let other = Product::new(vec![
        Factor::new(NormKind::L2, 2.0, vec![0, 3]),
        Factor::new(NormKind::L1, 0.0, vec![1]),
        Factor::new(NormKind::Linf, 0.6, vec![2]),
    ]);
    assert_ne!(SharedSet::from(product), SharedSet::from(other.unwrap()));
}

#[test]
fn the_groups_of_a_product_have_every_coordinate_once() {
    let factor = |coordinates: &[usize]| Factor::new(NormKind::L2, 1.0, coordinates.to_vec());
    for (factors, position, coordinate) in [
        (vec![factor(&[0, 1]), factor(&[1])], 1, Some(1)),
        (vec![factor(&[0, 0])], 0, Some(0)),
        (vec![factor(&[0]), factor(&[2])], 1, Some(2)),
        (vec![factor(&[0]), factor(&[])], 1, None),
    ] {
        let error = Product::new(factors).unwrap_err();
        let expected = SettingError::Factor { position, coordinate };
        assert!(matches!(&error, Error::Setting(found) if *found == expected), "{error}");
    }
    for radius in [-1.0, f64::NAN, f64::INFINITY, 1e-200] {
        let error = Product::new(vec![Factor::new(NormKind::L2, radius, vec![0])]).unwrap_err();
        assert!(matches!(error, Error::Setting(SettingError::Epsilon { .. })), "{error}");
    }
}

proptest! {
    /// A product of one ball, or of balls side by side, has the bounds of these balls.
    #[test]
    fn bounds_of_a_product_are_the_sums_of_its_groups(
        row in prop::collection::vec(-5.0..5.0f64, 6),
        ends in prop::collection::vec((-1.0..1.0f64, -1.0..1.0f64), 6),
        order in Just((0..6).collect::<Vec<usize>>()).prop_shuffle(),
        radius in 0.1..2.0f64,
    ) {
        let kinds = [(NormKind::L2, 0.7, &order[..3]), (NormKind::L1, 0.9, &order[3..5]), (NormKind::L2, 0.4, &order[5..])];
        let factors = kinds.map(|(kind, radius, group)| Factor::new(kind, radius, group.to_vec()));
        let product = Product::new(factors.to_vec()).unwrap();
        let columns: Vec<Lanes> = row.iter().map(|&r| Lanes::splat(r)).collect();
        let (mut lower, mut upper): (Vec<f64>, Vec<f64>) =
            ends.iter().map(|(a, b)| (radius * a.min(*b), radius * a.max(*b))).unzip();
        let (before, after) = (lower.clone(), upper.clone());
        let meets = product.tighten_box(radius, &mut lower, &mut upper);
        let (mut whole, mut part) = ((0.0, 0.0), (0.0, 0.0));
        let mut all_meet = true;
        for (kind, own, group) in kinds {
            let of = |values: &[f64]| -> Vec<f64> { group.iter().map(|&i| values[i]).collect() };
            let (mut first, mut last) = (of(&before), of(&after));
            let set = SharedSet::from(kind);
            all_meet &= set.tighten_box(radius * own, &mut first, &mut last);
            if !all_meet {
                break;
            }
            if meets {
                for (found, expected) in of(&lower).iter().chain(&of(&upper)).zip(first.iter().chain(&last)) {
                    prop_assert!((found - expected).abs() < 1e-12);
                }
            }
            let own_columns: Vec<Lanes> = group.iter().map(|&i| columns[i]).collect();
            let (mut low, mut high) = ([Lanes::ZERO], [Lanes::ZERO]);
            set.ranges(radius * own, &own_columns, &mut low, &mut high);
            whole = (whole.0 + low[0].0[3], whole.1 + high[0].0[3]);
            let corner = |sign: f64| -> f64 {
                (0..group.len()).map(|k| sign * (sign * own_columns[k].0[0] * first[k]).max(sign * own_columns[k].0[0] * last[k])).sum()
            };
            (low, high) = ([Lanes::splat(corner(-1.0))], [Lanes::splat(corner(1.0))]);
            let own = Part { radius: radius * own, lower: &first, upper: &last };
            set.tighten_ranges(own, &own_columns, &mut low, &mut high);
            part = (part.0 + low[0].0[3], part.1 + high[0].0[3]);
        }
        prop_assert_eq!(meets, all_meet);
        if meets {
            let (mut low, mut high) = ([Lanes::ZERO], [Lanes::ZERO]);
            product.ranges(radius, &columns, &mut low, &mut high);
            prop_assert!((low[0].0[3] - whole.0).abs() < 1e-10 && (high[0].0[3] - whole.1).abs() < 1e-10);
            (low, high) = ([Lanes::splat(-1e9)], [Lanes::splat(1e9)]);
            product.tighten_ranges(Part { radius, lower: &lower, upper: &upper }, &columns, &mut low, &mut high);
            prop_assert!((low[0].0[3] - part.0).abs() < 1e-9 && (high[0].0[3] - part.1).abs() < 1e-9);
        }
    }

    #[test]
    fn random_points_reach_several_borders(seed in 0..1000u64) {
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
        for norm in norms(&[1.0, 2.0, 0.5, 3.0]) {
            let point = norm.sample(&mut random, 4, true);
            prop_assert!((norm.value(&point) - 1.0).abs() < 1e-12, "{norm:?} {point:?}");
            prop_assert!(norm.value(&norm.sample(&mut random, 4, false)) <= 1.0 + 1e-12);
        }
    }

    #[test]
    fn bounds_over_a_part_hold_for_its_points(
        row in prop::collection::vec(-5.0..5.0f64, 4),
        corners in prop::collection::vec((-1.0..1.0f64, -1.0..1.0f64), 4),
        points in prop::collection::vec(prop::collection::vec(-1.0..1.0f64, 4), 20),
        radius in 0.1..2.0f64,
    ) {
        let least = |corner: &(f64, f64)| radius * corner.0.min(corner.1);
        let most = |corner: &(f64, f64)| radius * corner.0.max(corner.1);
        let before: (Vec<f64>, Vec<f64>) = (corners.iter().map(least).collect(), corners.iter().map(most).collect());
        let columns: Vec<Lanes> = row.iter().map(|&r| Lanes::splat(r)).collect();
        for set in sets(4) {
            let (mut low, mut high) = before.clone();
            let meets = set.tighten_box(radius, &mut low, &mut high);
            let part = Part { radius, lower: &low, upper: &high };
            let (mut lower, mut upper) = ([Lanes::splat(-1e9)], [Lanes::splat(1e9)]);
            set.tighten_ranges(part, &columns, &mut lower, &mut upper);
            let (mut all_lower, mut all_upper) = ([Lanes::ZERO], [Lanes::ZERO]);
            set.ranges(radius, &columns, &mut all_lower, &mut all_upper);
            let dual = set.multiplier(part, &row).map_or(f64::NEG_INFINITY, |(_, bound)| bound);
            for point in &points {
                let mut y = point.iter().map(|y| 2.0 * radius * y).collect::<Vec<f64>>();
                project_inside(&*set, &mut y, radius);
                let value = dot(&row, &y);
                prop_assert!(value >= all_lower[0].0[7] - 1e-12 && value <= all_upper[0].0[7] + 1e-12);
                prop_assert!(euclidean(y.iter().copied()) <= radius * set.circumradius(4) + 1e-12);
                if (0..4).any(|i| y[i] < before.0[i] || y[i] > before.1[i]) {
                    continue;
                }
                prop_assert!(meets && (0..4).all(|i| y[i] >= low[i] && y[i] <= high[i]), "{set:?} {y:?}");
                prop_assert!(value >= lower[0].0[0] - 1e-12 && value <= upper[0].0[0] + 1e-12, "{set:?}");
                prop_assert!(value >= dual - 1e-12, "{set:?}");
            }
            if meets {
                let mut y = points[0].clone();
                set.project_into(part, &mut y);
                let lowest = set.lowest(part, &row);
                for y in [y, lowest] {
                    prop_assert!((0..4).all(|i| y[i] >= low[i] && y[i] <= high[i]), "{set:?} {y:?}");
                }
            }
        }
    }

    #[test]
    fn defaults_find_where_a_row_is_greatest(row in prop::collection::vec(-5.0..5.0f64, 4)) {
        for set in sets(4) {
            let best = set.maximiser(&row);
            prop_assert!(set.gauge(&best) <= 1.0 + 1e-12);
            prop_assert!(dot(&row, &best) >= set.support(&row) * (1.0 - 1e-6), "{set:?}");
        }
    }

    #[test]
    fn the_maximiser_attains_the_dual(
        g in prop::collection::vec(-5.0..5.0f64, 4),
        w in prop::collection::vec(0.1..10.0f64, 4),
        others in prop::collection::vec(-3.0..3.0f64, 4),
        radius in 0.0..3.0f64,
    ) {
        for norm in norms(&w) {
            let best = norm.maximiser(&g, radius);
            prop_assert!(norm.value(&best) <= radius * (1.0 + 1e-12));
            prop_assert!((dot(&g, &best) - radius * norm.dual(&g)).abs() < 1e-10);
            let mut other = others.clone();
            norm.project(&mut other, radius);
            prop_assert!(dot(&g, &other) <= dot(&g, &best) + 1e-10);
        }
    }

    #[test]
    fn the_projection_is_the_nearest_point(
        v in prop::collection::vec(-5.0..5.0f64, 4),
        w in prop::collection::vec(0.1..10.0f64, 4),
        others in prop::collection::vec(-5.0..5.0f64, 4),
        radius in 0.0..3.0f64,
    ) {
        for norm in norms(&w) {
            let mut p = v.clone();
            norm.project(&mut p, radius);
            prop_assert!(norm.value(&p) <= radius);
            // Variational inequality: (v - p).(q - p) <= 0 for every q of the ball.
            let mut q = others.clone();
            norm.project(&mut q, radius);
            let away: Vec<f64> = v.iter().zip(&p).map(|(v, p)| v - p).collect();
            let along: Vec<f64> = q.iter().zip(&p).map(|(q, p)| q - p).collect();
            prop_assert!(dot(&away, &along) <= 1e-9, "{norm:?} {p:?}");
            let farthest = norm.maximiser(&away, radius);
            let along: Vec<f64> = farthest.iter().zip(&p).map(|(q, p)| q - p).collect();
            prop_assert!(dot(&away, &along) <= 1e-9, "{norm:?} {p:?}");
        }
    }
}
