//! Ensembles by hand.

use super::*;
use crate::{Feature, Features};

const LIGHTGBM: &str = "tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\nmax_feature_idx=1\n\
objective=binary sigmoid:2\nfeature_names=a b\nfeature_infos=[0:1] 0:1:2\n\n\
Tree=0\nnum_leaves=3\nnum_cat=1\nsplit_feature=0 1\nthreshold=0.5 0\ndecision_type=KIND 1\n\
left_child=-1 -2\nright_child=1 -3\nleaf_value=-1 2 4\ncat_boundaries=0 1\ncat_threshold=5\nis_linear=0\n\n\
Tree=1\nnum_leaves=1\nleaf_value=0.25\n\nend of trees\n";

fn read(text: &str) -> Ensemble {
    parse(text.as_bytes()).unwrap().unwrap()
}

/// `x <= 0.5` gives -1; otherwise a category 0 or 2 gives 2, another 4; 0.25 is added.
#[test]
fn lightgbm_by_hand() {
    let ensemble = read(&LIGHTGBM.replace("KIND", "2"));
    assert_eq!((ensemble.inputs(), ensemble.trees(), ensemble.leaves()), (2, 2, 4));
    let sum = |a: f64, b: f64| ensemble.sum(&[a, b]);
    assert_eq!(sum(0.5, 0.0), -0.75);
    assert_eq!(sum(0.5f64.next_up(), 0.0), 2.25);
    assert_eq!(sum(1.0, 2.9), 2.25);
    assert_eq!(sum(1.0, -0.9), 2.25);
    for other in [1.0, 3.0, -1.0, 40.0, f64::NAN] {
        assert_eq!(sum(1.0, other), 4.25, "{other}");
    }
    // A missing value is zero.
    assert_eq!(sum(f64::NAN, 0.0), -0.75);
    let probability = ensemble.link().probability(-0.75).unwrap();
    assert!((probability - 1.0 / (1.0 + 1.5f64.exp())).abs() < 1e-15);
}

/// Default directions: zero (4) and NaN (8) as missing values, to the left (2) or to the right.
#[test]
fn missing_values_of_lightgbm() {
    let goes_left = |kind: &str, value: f64| read(&LIGHTGBM.replace("KIND", kind)).sum(&[value, 1.0]) < 0.0;
    assert!(goes_left("6", 0.0) && goes_left("6", f64::NAN) && goes_left("6", 1e-36));
    assert!(!goes_left("4", 0.0) && !goes_left("4", f64::NAN) && !goes_left("4", -1e-36));
    assert!(goes_left("4", 0.1) && goes_left("4", -0.1) && !goes_left("4", 0.6));
    assert!(goes_left("10", 0.0) && goes_left("10", f64::NAN));
    assert!(goes_left("8", 0.0) && !goes_left("8", f64::NAN));
}

fn forest(trees: &[[f64; 2]]) -> Ensemble {
    let tree = |shares: &[f64; 2]| {
        let leaf = |share: f64| DraftNode::Leaf { value: share, against: 1.0 - share };
        let test = DraftTest::AtMost(0.1);
        let split = DraftNode::Split { feature: 0, test, left: 1, right: 2, missing_left: false };
        vec![split, leaf(shares[0]), leaf(shares[1])]
    };
    let draft = Draft {
        sources: vec![Source::Unstated { name: None, labels: None, steps: Vec::new() }],
        single_inputs: true,
        trees: trees.iter().map(tree).collect(),
        arithmetic: Arithmetic { divisor: trees.len() as f64, ..Arithmetic::SUM },
        link: Link::Identity,
        rule: OwnRule { compares: Compared::Probability, strict: true },
        compares_sums: true,
    };
    draft.build().unwrap()
}

#[test]
fn the_larger_of_two_averages_decides() {
    let decide = |trees: &[[f64; 2]], threshold: f64, x: f64| {
        let (ensemble, least) = forest(trees).least_favourable(threshold).unwrap();
        ensemble.sum(&[x]) - least >= 0.0
    };
    let tied = [[0.25, 1.0], [0.75, 0.5]];
    assert!(!decide(&tied, 0.5, 0.0), "a tie is unfavourable");
    assert!(decide(&tied, 0.5, 1.0));
    assert!(decide(&tied, 0.75, 1.0) && !decide(&tied, 0.75f64.next_up(), 1.0));
    // For the other class a tie is favourable.
    let (opposite, least) = forest(&tied).opposite().least_favourable(0.5).unwrap();
    assert!(opposite.sum(&[0.0]) - least >= 0.0 && opposite.sum(&[1.0]) - least < 0.0);
    // Single precision rounds 0.1 up to more than 0.1.
    assert!(decide(&[[0.0, 1.0]], 0.5, 0.1));
    assert!(!decide(&[[0.0, 1.0]], 0.5, f64::from(0.1f32.next_down())));
}

#[test]
fn ranges_contain_sums_and_rounding_bounds_them() {
    let text = LIGHTGBM.replace("KIND", "4");
    let ensemble = read(&text);
    let points = [-1.0, 0.0, 0.5, 0.6, 1.0, 2.0, 2.5, 3.0];
    for (i, &low) in points.iter().enumerate() {
        for &high in &points[i..] {
            let side = Interval { lower: low, upper: high };
            let inside = || points.iter().filter(|point| side.contains(**point));
            let range = ensemble.range(&[side, side]);
            for (&a, &b) in inside().flat_map(|a| inside().map(move |b| (a, b))) {
                assert!(range.contains(ensemble.sum(&[a, b])), "{a} {b} {range:?}");
            }
        }
    }
    let all = ensemble.range(&[Interval::EVERYTHING; 2]);
    assert!((all.lower + 0.75).abs() < 1e-14 && (all.upper - 4.25).abs() < 1e-14);
    // Three thirds in single precision.
    let mut thirds = forest(&[[1.0 / 3.0, 0.0]; 3]).least_favourable(0.4).unwrap().0;
    thirds.arithmetic.single = true;
    let difference = (thirds.sum(&[0.0]) - 1.0 / 3.0).abs();
    assert!(difference > 0.0 && difference <= thirds.rounding(), "{difference:e} {:e}", thirds.rounding());
}

#[test]
fn categories_become_tests_of_their_features() {
    let columns = |categories: [&str; 3]| {
        let mut features = vec![Feature::new("a").scaling(1.0, 2.0)];
        features.extend(Feature::new("b").one_of(categories));
        Features::new(features).unwrap()
    };
    let features = columns(["x", "y", "z"]);
    let ensemble = read(&LIGHTGBM.replace("KIND", "2")).over(&features, false).unwrap();
    assert_eq!(ensemble.inputs(), 4);
    // Codes 0 and 2 are all but y, so one feature is tested.
    assert!(ensemble.nodes().iter().all(|node| !matches!(node, Node::AnyOf { .. })));
    let sum = |a: f64, category: usize| {
        let mut own = [a, 0.0, 0.0, 0.0];
        own[1 + category] = 1.0;
        let row: Vec<f64> = (0..4).map(|i| features.standardise(i, own[i])).collect();
        ensemble.sum(&row)
    };
    assert_eq!([sum(0.5, 0), sum(1.0, 0), sum(1.0, 1), sum(1.0, 2)], [-0.75, 2.25, 4.25, 2.25]);
    // The model may know categories by other codes.
    let named = LIGHTGBM.replace("KIND", "2") + "\npandas_categorical:[[\"y\", \"x\", \"z\"]]\n";
    let ensemble = read(&named).over(&features, false).unwrap();
    let row = |i: usize| features.standardise(i, [1.0, 1.0, 0.0, 0.0][i]);
    assert_eq!(ensemble.sum(&[row(0), row(1), row(2), row(3)]), 4.25);
    let unknown = read(&named).over(&columns(["x", "y", "other"]), false).unwrap_err().to_string();
    assert!(unknown.contains("does not know `other`"), "{unknown}");
}

#[test]
fn columns_are_found_by_name_or_by_order() {
    let ensemble = read(&LIGHTGBM.replace("KIND", "2"));
    let over = |names: &[&str]| {
        let features = names.iter().map(|&name| Feature::new(name)).collect();
        ensemble.over(&Features::new(features).unwrap(), true)
    };
    assert_eq!(over(&["b", "other", "a"]).unwrap().sum(&[1.0, 7.0, 1.0]), 4.25);
    assert_eq!(over(&["first", "second"]).unwrap().sum(&[1.0, 0.0]), 2.25);
    let error = over(&["first", "second", "third"]).unwrap_err().to_string();
    assert!(error.contains("2 columns, `a` and `b`"), "{error}");
}

#[test]
fn what_is_not_understood_is_refused_by_name() {
    let text = LIGHTGBM.replace("KIND", "2");
    for (from, to, words) in [
        ("binary sigmoid:2", "regression", "objective `regression`"),
        ("num_class=1", "num_class=3", "several classes"),
        ("is_linear=0", "is_linear=1", "linear leaves"),
        ("left_child=-1 -2", "left_child=-1 0", "two parents"),
        ("left_child=-1 -2", "left_child=-1 -9", "no such node"),
        ("split_feature=0 1", "split_feature=0 7", "tests column 7, but there are 2"),
        ("leaf_value=-1 2 4", "leaf_value=-1 2", "3 numbers is expected"),
        ("leaf_value=-1 2 4", "leaf_value=-1 2 inf", "all must be finite"),
        ("num_leaves=3", "num_leaves=x", "a whole number is expected"),
        ("cat_boundaries=0 1", "cat_boundaries=0 9", "a known set is expected"),
    ] {
        assert!(text.contains(from));
        let error = parse(text.replace(from, to).as_bytes()).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    let refused = |text: &str| parse(text.as_bytes()).unwrap_err().to_string();
    assert!(refused("{}").contains("none of the tree ensembles"));
    assert!(refused("{\"a\"").contains("is no whole JSON file"));
    assert!(
        refused("{\"learner\": {\"gradient_booster\": {}}}").contains("`learner_model_param` is missing")
    );
    assert!(matches!(parse(b"anything else"), Ok(None)));
}

/// Codes are whole numbers, which standardised units must not mistake for the numbers just below them.
#[test]
fn codes_keep_their_category_in_standardised_units() {
    let ensemble = read(&LIGHTGBM.replace("KIND", "2").replace("0:1:2", "[0:5]"));
    for (mean, std) in [(2.4531, 1.7), (1e7 / 3.0, 1e3), (-0.1, 3.3), (1.0 / 3.0, 0.7)] {
        let codes = Feature::new("b").scaling(mean, std);
        let features = Features::new(vec![Feature::new("a").scaling(0.7, 13.0 / 3.0), codes]).unwrap();
        let scaled = ensemble.over(&features, false).unwrap();
        for code in 0..6 {
            for a in [0.5, 1.0] {
                let row = [features.standardise(0, a), features.standardise(1, f64::from(code))];
                assert_eq!(scaled.sum(&row), ensemble.sum(&[a, f64::from(code)]), "{a} {code} {mean}");
            }
        }
    }
}

/// A file that was cut off, from which a tree was taken, or with a name that is no feature, is refused.
#[test]
fn what_is_not_whole_is_refused() {
    let text = LIGHTGBM.replace("KIND", "2");
    let refusal = |text: &str| format!("{:?}", parse(text.as_bytes()).unwrap_err());
    assert!(refusal(text.split("end of trees").next().unwrap()).contains("end of trees"));
    let sized = text.replace("feature_names", "tree_sizes=100 50\nfeature_names");
    assert_eq!(read(&sized).trees(), 2);
    assert!(refusal(&sized.replace("100 50", "100 50 50")).contains("tree_sizes"));
    let over =
        |names: [&str; 2]| read(&text).over(&Features::new(names.map(Feature::new).into()).unwrap(), false);
    assert!(over(["b", "a"]).is_ok() && over(["c", "d"]).is_ok());
    assert!(over(["b", "c"]).is_err());
}

/// CatBoost keeps a threshold of its own, which `predict` uses.
#[test]
fn the_own_threshold_of_catboost_is_refused() {
    let text = include_str!("../../tests/trees/catboost.json");
    let mut document: serde_json::Value = serde_json::from_str(text).unwrap();
    for (threshold, is_read) in [("0.5", true), ("0.8", false)] {
        document["model_info"]["binclass_probability_threshold"] = threshold.into();
        assert_eq!(parse(document.to_string().as_bytes()).is_ok(), is_read, "{threshold}");
    }
}
