//! Formulas and the noise that they give back.

use super::*;

fn compile(formula: &str, inverse: Option<&str>) -> Result<Formula> {
    let features =
        Features::new(vec![Feature::new("x").scaling(1.0, 2.0), Feature::new("y").scaling(-3.0, 0.5)])?;
    Formula::new(&features, 1, formula, inverse).map(|(_, formula)| formula)
}

#[test]
fn additive_noise_is_recognised_and_needs_no_search() {
    for formula in ["x ^ 2 + u", "u", "3 - (u - x) / 2"] {
        let formula = compile(formula, None).unwrap();
        assert!(formula.is_additive());
        let noise = formula.noise(&[0.7], -1.3).unwrap();
        assert!((formula.value(&[0.7], noise) + 1.3).abs() < 1e-14);
    }
    assert_eq!(compile("4 * x - u", None).unwrap().coefficients(), Some(vec![16.0]));
    assert_eq!(compile("x ^ 2 + u", None).unwrap().coefficients(), None);
    assert_eq!(compile("x * 0 + exp(u)", None).unwrap().coefficients(), None);
}

#[test]
fn search_and_inverse_find_the_same_noise() {
    let searched = compile("sigmoid(0.5 * x + u) - 3.5", None).unwrap();
    let given = compile("sigmoid(0.5 * x + u) - 3.5", Some("log((y + 3.5) / (-2.5 - y)) - 0.5 * x")).unwrap();
    assert!(!searched.is_additive() && !given.is_additive());
    for value in [-0.999, -0.5, 0.0, 0.3, 0.999] {
        let (a, b) = (searched.noise(&[0.4], value).unwrap(), given.noise(&[0.4], value).unwrap());
        assert!((a - b).abs() < 1e-10, "{a} {b}");
        assert!((searched.value(&[0.4], a) - value).abs() < 1e-14);
    }
    // sigmoid stays between 0 and 1
    for formula in [&searched, &given] {
        assert!(matches!(formula.noise(&[0.4], 1.01), Err(Error::People(PeopleError::Unreachable { .. }))));
    }
}

#[test]
fn search_copes_with_domains_and_directions() {
    for (formula, own) in [
        ("log(u)", -40.0),
        ("log(u - 5)", 2.0),
        ("-exp(u) + x", -1e6),
        ("sqrt(u + 1000)", 7.5),
        ("u ^ 3", -1e-12),
        ("1 / exp(u)", 1e-9),
        ("exp(u)", 1e30),
        ("log(u)", -200.0),
        ("1e300 * u ^ 3", 1.0),
        ("log(u - 0.1) - log(0.9 - u)", 0.3),
    ] {
        let formula = compile(formula, None).unwrap();
        let value = formula.feature.standardise(own);
        let noise = formula.noise(&[0.0], value).unwrap();
        assert!((formula.value(&[0.0], noise) - value).abs() <= 1e-12 * value.abs().max(1.0), "{own}");
    }
    assert!(matches!(
        compile("exp(u)", None).unwrap().noise(&[], 5.9),
        Err(Error::People(PeopleError::Unreachable { .. }))
    ));
    assert!(matches!(
        compile("sqrt(u)", None).unwrap().noise(&[], 5.9),
        Err(Error::People(PeopleError::Unreachable { .. }))
    ));
}

#[test]
fn the_noise_of_a_value_at_a_clip_is_the_one_that_reaches_it() {
    // x is 2 in its own units.
    for (formula, noise_at, beyond) in [
        ("max(0, 3 * x + u)", vec![(0.0, -6.0), (1.5, -4.5)], vec![-1e-6]),
        ("min(10, 3 * x - 2 * u)", vec![(10.0, -2.0), (-4.0, 5.0)], vec![10.1]),
        ("max(0, min(10, x + u ^ 3))", vec![(0.0, -2f64.cbrt()), (10.0, 2.0), (3.0, 1.0)], vec![-1.0, 11.0]),
        // A limit may follow from the parents.
        ("min(x + 1, exp(u))", vec![(3.0, 3f64.ln()), (1.0, 0.0)], vec![3.1]),
    ] {
        let compiled = compile(formula, None).unwrap();
        assert!(!compiled.is_additive() && compiled.is_clipped() && compiled.coefficients().is_none());
        let of = |own: f64| compiled.noise(&[0.5], compiled.feature.standardise(own));
        for (own, expected) in noise_at {
            let noise = of(own).unwrap();
            assert!((noise - expected).abs() < 1e-9, "{formula} {own}: {noise} {expected}");
            assert!((compiled.own_value(&[0.5], noise) - own).abs() < 1e-12, "{formula} {own}");
            // The noise has a finite slope at the clip, which is that of the unclipped side.
            let slopes = compiled.noise_slopes(&[0.5], noise);
            assert!(slopes.iter().all(|slope| slope.is_finite()), "{formula} {own}: {slopes:?}");
        }
        for own in beyond {
            assert!(matches!(of(own), Err(Error::People(PeopleError::BeyondClip { .. }))), "{formula} {own}");
        }
    }
    let both = compile("max(0, min(10, x + u))", None).unwrap();
    let own = |value: f64| both.feature.own_units(both.clip(&[0.5], both.feature.standardise(value)));
    assert!((own(-3.0), own(14.0)) == (0.0, 10.0) && (own(4.25) - 4.25).abs() < 1e-12);
}

#[test]
fn what_cannot_be_inverted_is_refused_with_the_reason() {
    for formula in [
        "x",
        "x + 0 * u",
        "x + u - u",
        "0.1 * u + 0.2 * u - 0.3 * u",
        "u ^ 2",
        "x * u",
        "x + max(0, u)",
        "max(u, exp(u) + u ^ 2)",
        "max(0, x)",
        "abs(u)",
    ] {
        let error = compile(formula, None).unwrap_err();
        assert!(
            matches!(error, Error::CausalModel(CausalModelError::NotInvertible { .. })),
            "{formula}: {error}"
        );
    }
}

#[test]
fn a_wrong_inverse_is_found_out() {
    let formula = compile("exp(u)", Some("y")).unwrap();
    assert!(matches!(
        formula.noise(&[], 10.0),
        Err(Error::CausalModel(CausalModelError::WrongInverse { .. }))
    ));
    let additive = compile("x + u", Some("y + x")).unwrap();
    assert!(additive.is_additive());
    assert!(matches!(
        additive.noise(&[1.0], 10.0),
        Err(Error::CausalModel(CausalModelError::WrongInverse { .. }))
    ));
    assert!(compile("x + u", Some("garbage((")).is_err());
    // The noise is so small relative to a constant that adding it changes nothing.
    let swallowed = compile("1e20 + u", None).unwrap();
    assert!(matches!(swallowed.noise(&[], 10.0), Err(Error::People(PeopleError::Unreachable { .. }))));
    let names = |inverse| compile("exp(u)", Some(inverse)).unwrap_err().to_string();
    assert!(names("log(y) + u").contains("column 10"));
    assert!(names("log(x)").contains("`x`"));
    assert!(names("log(").contains("column 5"));
}
