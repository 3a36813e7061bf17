//! Letters, compared with numbers that were worked out by hand.

use super::*;
use crate::feature::Unit;
use crate::recourse::{Relaxed, Settings};
use crate::uncertainty::{Execution, Shift};
use crate::verify::{Verification, verify};
use crate::{
    ActionKind, Change, Classifier, Equation, Feature, Features, Kind, Norm, Outcome, Problem, Scm, Sources,
};

fn euros(feature: Feature) -> Feature {
    feature.unit(Unit::new("EUR {}").unwrap())
}

/// Income raises savings, age counts and cannot be changed.
fn features() -> Vec<Feature> {
    let years = Unit::with_singular("year", "years").unwrap();
    vec![
        euros(
            Feature::new("income").label("monthly income").scaling(3000.0, 1500.0).change(Change::Increase),
        ),
        euros(Feature::new("savings").scaling(8000.0, 4000.0).change(Change::Increase)),
        Feature::new("age").scaling(40.0, 10.0).kind(Kind::Integer).unit(years),
    ]
}

fn problem(features: Vec<Feature>, epsilon: f64) -> Problem {
    let features = Features::new(features).unwrap();
    let scm = Scm::new(&features, vec![("savings", Equation::formula("2 * income + u"))]).unwrap();
    let classifier = Classifier::linear(vec![0.8, 0.6, 0.3], -0.5, 0.5).unwrap();
    Problem::new(features, classifier)
        .unwrap()
        .with_causal_model(scm)
        .unwrap()
        .with_uncertainty(Norm::L2, epsilon)
        .unwrap()
}

fn person(problem: &Problem, own: &[f64]) -> Vec<f64> {
    problem.features().iter().zip(own).map(|(feature, &value)| feature.standardise(value)).collect()
}

fn write(problem: &Problem, own: &[f64], letters: LetterSettings, settings: Settings) -> Written {
    let relaxed = Relaxed::all(problem);
    let writer = LetterWriter::new(problem, &relaxed, settings, letters).unwrap();
    let written = writer.write("ana", &person(problem, own)).unwrap();
    for (reference, proof) in &written.proofs {
        let verified = verify(problem, proof).unwrap();
        assert!(matches!(verified, Verification::Verified(_)), "{reference}: {verified:?}");
    }
    written
}

fn letter(problem: &Problem, own: &[f64], language: Language) -> Letter {
    let letters = LetterSettings { language, ..LetterSettings::default() };
    write(problem, own, letters, Settings::default()).letter
}

fn text(letter: &Letter) -> String {
    Template::built_in(Format::Text).unwrap().page(letter).unwrap()
}

/// In standard deviations Ana is at -0.4, -0.5 and -1, her score is -1.42, and a raise of t adds 1.25 t. The worst shift
/// takes 0.1 * |(1.25, 0.6, 0.3)| = 0.14186. So t is 1.24949, which is EUR 1,874.2; in three digits 1,880. That is 1.25333,
/// at most 0.4% more. Savings follow by 2 * 1,880. An age of 40 would add 0.3, which is 21% of 1.42.
#[test]
fn a_letter_by_hand() {
    let english = letter(&problem(features(), 0.1), &[2400.0, 6000.0, 30.0], Language::English);
    let reference = english.reference.clone().unwrap();
    let expected = format!(
        "About your application

For: ana
Reference: {reference}

Your application was turned down.

Why

  1. Monthly income: EUR 2,400. You can change this; see below.
  2. Age: 30 years. This cannot be changed. With 40 years instead, and everything else as it is, 21% of what is missing would be made up.

What you can do

This is enough:
  - Monthly income: raise by EUR 1,880, from EUR 2,400 to EUR 4,280.

What we expect to follow by itself

  - Savings: rises from EUR 6,000 to about EUR 9,760.

What this allows for

This still works even if your circumstances differ a little from what you told us, for example: monthly income lower by EUR 150 or savings lower by EUR 400.

What is proven

It is proven that the decision will be favourable once you have done exactly this, as long as decisions are made as they are today and your changes have the effects that we assume.
It is also proven that no other way that is allowed here takes more than 0.4% less effort. Effort is all changes together, each in proportion to how much people usually differ in it.

Details: what you told us

  Monthly income: EUR 2,400; Afterwards: EUR 4,280; May differ: by up to EUR 150
  Savings: EUR 6,000; Afterwards: EUR 9,760; May differ: by up to EUR 400
  Age: 30 years; May differ: by up to 1 year
  Where several of these differ at once, each may differ by accordingly less.
"
    );
    assert_eq!(text(&english), expected);
    assert!((english.reasons[0].share - 1.25 * 1880.0 / 1500.0 / 1.42).abs() < 1e-9);
    assert!((english.reasons[1].share - 0.3 / 1.42).abs() < 1e-9);
    assert_eq!((english.reasons[0].effort, english.reasons[1].effort), (Some(1.0), None));
}

#[test]
fn the_same_letter_in_german() {
    let german = letter(&problem(features(), 0.1), &[2400.0, 6000.0, 30.0], Language::German);
    let reference = german.reference.clone().unwrap();
    let expected = format!(
        "Zu Ihrem Antrag

Für: ana
Aktenzeichen: {reference}

Ihr Antrag wurde abgelehnt.

Warum

  1. Monthly income: EUR 2.400. Das können Sie ändern, siehe unten.
  2. Age: 30 years. Das lässt sich nicht ändern. Wäre die Angabe 40 years und alles andere gleich, so wären 21\u{a0}% dessen, was fehlt, ausgeglichen.

Was Sie tun können

Das genügt:
  - Monthly income: um EUR 1.880 erhöhen (bisher EUR 2.400, danach EUR 4.280).

Was daraus voraussichtlich von selbst folgt

  - Savings: steigt auf etwa EUR 9.760 (bisher EUR 6.000).

Was dabei berücksichtigt ist

Das gelingt auch dann, wenn Ihre Verhältnisse ein wenig von Ihren Angaben abweichen, zum Beispiel: monthly income um EUR 150 niedriger oder savings um EUR 400 niedriger.

Was bewiesen ist

Es ist bewiesen, dass günstig entschieden wird, sobald Sie genau das getan haben, solange so entschieden wird wie heute und Ihre Änderungen so wirken, wie wir annehmen.
Bewiesen ist auch, dass kein anderer hier zulässiger Weg mehr als 0,4\u{a0}% weniger Aufwand erfordert. Aufwand sind alle Änderungen zusammen, jede im Verhältnis dazu, wie sehr sich Menschen darin üblicherweise unterscheiden.

Einzelheiten: Ihre Angaben

  Monthly income: EUR 2.400; Danach: EUR 4.280; Darf abweichen: um bis zu EUR 150
  Savings: EUR 6.000; Danach: EUR 9.760; Darf abweichen: um bis zu EUR 400
  Age: 30 years; Darf abweichen: um bis zu 1 year
  Wo mehrere dieser Angaben zugleich abweichen, darf jede nur entsprechend weniger abweichen.
"
    );
    assert_eq!(text(&german), expected);
}

/// Words, codes and units of an organisation, and a typical value other than the mean.
#[test]
fn own_words_and_codes() {
    let problem = problem(features(), 0.1);
    let wording = "
        [[reason]]
        feature = \"income\"
        code = \"R1\"
        de = { text = \"Ihr Einkommen ist niedrig\", label = \"Monatseinkommen\", unit = \"{} Euro\" }
        [[reason]]
        feature = \"age\"
        typical = 50
        de = { label = \"Alter\", unit = [\"Jahr\", \"Jahre\"] }
    ";
    let wording = Wording::parse(wording, problem.features()).unwrap();
    let letters = LetterSettings { language: Language::German, others: 0, wording };
    let letter = write(&problem, &[2400.0, 6000.0, 30.0], letters, Settings::default()).letter;
    assert_eq!(
        letter.steps[0].text,
        "Monatseinkommen: um 1.880 Euro erhöhen (bisher 2.400 Euro, danach 4.280 Euro)."
    );
    assert_eq!(letter.reasons[0].code.as_deref(), Some("R1"));
    assert_eq!(
        letter.reasons[0].text,
        "Ihr Einkommen ist niedrig. (Monatseinkommen: 2.400 Euro) Das können Sie ändern, siehe unten."
    );
    // Two standard deviations add 0.6 of 1.42.
    assert!(
        letter.reasons[1]
            .text
            .starts_with("Alter: 30 Jahre. Das lässt sich nicht ändern. Wäre die Angabe 50 Jahre")
    );
    assert!(letter.reasons[1].text.contains("42\u{a0}%"), "{}", letter.reasons[1].text);
}

/// What is said of each status.
#[test]
fn every_status_has_its_sentences() {
    let mut limited = features();
    limited[0] = limited[0].clone().limits(0.0, 3000.0);
    limited[1] = limited[1].clone().limits(f64::NEG_INFINITY, 9000.0);
    let impossible = letter(&problem(limited, 0.1), &[2400.0, 6000.0, 30.0], Language::English);
    assert_eq!(impossible.status, "impossible");
    assert!(impossible.steps.is_empty() && impossible.reference.is_some());
    assert!(impossible.proven[0].starts_with("It is proven that no change that is possible for you"));
    assert!(impossible.guarded.starts_with("We looked for a way that still works"), "{}", impossible.guarded);
    let obstacles = impossible.obstacles.join(" ");
    assert!(obstacles.contains("if age could be changed"), "{obstacles}");
    // Both may be changed, and nothing that is possible is enough.
    let changeable = impossible.reasons.iter().filter(|reason| reason.remedy == "changeable");
    assert!(changeable.clone().all(|reason| reason.text.contains("no change that is possible is enough")));
    assert_eq!((changeable.count(), impossible.reasons.len()), (2, 3));

    let favourable = letter(&problem(features(), 0.1), &[9000.0, 20000.0, 40.0], Language::English);
    assert_eq!(favourable.decision, "The decision on your application is favourable.");
    assert!(
        favourable.reasons.is_empty() && favourable.guarded.is_empty() && favourable.allowances.is_empty()
    );
    assert!(favourable.proven[0].ends_with("if they were different was not asked."));
    let certain = letter(&problem(features(), 0.0), &[9000.0, 20000.0, 40.0], Language::English);
    assert_eq!(certain.proven, ["This is so for your circumstances as you told us."]);

    let settings = Settings { method: "local".parse().unwrap(), ..Settings::default() };
    let unproved =
        write(&problem(features(), 0.1), &[2400.0, 6000.0, 30.0], LetterSettings::default(), settings);
    assert!(matches!(unproved.outcome, Outcome::Unproved(_)) && unproved.proofs.is_empty());
    assert_eq!(unproved.letter.reference, None);
    assert!(unproved.letter.guarded.is_empty() && unproved.letter.allowances.is_empty());
    assert!(unproved.letter.proven[0].ends_with("That it works is not proven."));
    assert!(!text(&unproved.letter).contains("Reference"));
    assert_eq!(unproved.letter.words.steps_intro, "This may be enough:");
}

/// Without uncertainty nothing may differ; in a box everything may at once.
#[test]
fn what_is_guarded_against_is_said_for_every_set() {
    let none = letter(&problem(features(), 0.0), &[2400.0, 6000.0, 30.0], Language::English);
    assert!(none.guarded.starts_with("This works if nothing else about your circumstances changes"));
    assert!(none.details.iter().all(|detail| detail.allowed.is_none()) && none.allowances.is_empty());
    let of = |problem: Problem| letter(&problem, &[2400.0, 6000.0, 30.0], Language::English);
    let boxed = of(problem(features(), 0.1).with_uncertainty(Norm::LINF, 0.1).unwrap());
    assert_eq!(boxed.allowances, ["All of this may differ at the same time."]);
    let far = of(problem(features(), 0.1).with_uncertainty(Norm::L2, 1.5).unwrap());
    assert!(far.guarded.contains("differ as far as the details say from"), "{}", far.guarded);
    // Age is exact, savings are known to 5%, and changes of the income are missed by 10%.
    let sources = Sources {
        shifts: vec![Shift::Ball, Shift::Share(0.05), Shift::Exact],
        execution: vec![Execution { feature: 0, share: 0.1, within: 0.0 }],
        ..Sources::default()
    };
    let stated = of(problem(features(), 0.1).with_sources(sources).unwrap());
    let allowed: Vec<&str> = stated.details.iter().filter_map(|detail| detail.allowed.as_deref()).collect();
    assert_eq!(allowed, ["by up to EUR 150", "by up to 5%", "not at all"]);
    assert_eq!(
        stated.allowances,
        [
            "All of this may differ at the same time.",
            "It also works if you miss the change of monthly income by up to 10%."
        ]
    );
    assert!(stated.guarded.contains("savings lower by 5%"), "{}", stated.guarded);
    assert!(stated.guarded.ends_with(", and if you miss the change of monthly income by up to 10%."));
}

/// Levels are reached, and what is held is said to be.
#[test]
fn absolute_actions_reach_levels() {
    let problem = problem(features(), 0.1).with_action_kind(ActionKind::Absolute);
    let letter = letter(&problem, &[2400.0, 6000.0, 30.0], Language::English);
    for step in &letter.steps {
        let is_level = step.text.contains(" to EUR ") && step.text.contains("(now EUR ");
        assert!(is_level || step.text.contains(": keep at EUR "), "{}", step.text);
    }
    assert!(!letter.steps.is_empty());
}

/// Levels and categories are named, and what stands for others is quoted.
#[test]
fn categories_are_moved_between() {
    let mut all = vec![
        Feature::new("account")
            .label("checking account")
            .scaling(1.0, 1.0)
            .change(Change::Increase)
            .ordered(["A1", "A2", "A3"])
            .describe([("A1", "overdrawn"), ("A2", "up to EUR 200"), ("A3", "more")]),
    ];
    all.extend(
        Feature::new("job").change(Change::Any).describe([("c", "clerk"), ("n", "nurse")]).one_of(["c", "n"]),
    );
    let features = Features::new(all).unwrap();
    let classifier = Classifier::linear(vec![1.0, -1.0, 1.0], -1.5, 0.5).unwrap();
    let problem = Problem::new(features, classifier).unwrap();
    // At -1 and -1: the account adds one for each level, the other job two.
    let letters = LetterSettings { language: Language::English, others: 1, ..LetterSettings::default() };
    let written = write(&problem, &[0.0, 1.0, 0.0], letters, Settings::default());
    let sentences: Vec<&str> = written.letter.steps.iter().map(|step| step.text.as_str()).collect();
    assert_eq!(
        sentences,
        [
            "Checking account: change from \u{201c}overdrawn\u{201d} to \u{201c}more\u{201d}.",
            "Job: change from \u{201c}clerk\u{201d} to \u{201c}nurse\u{201d}."
        ]
    );
    assert_eq!(written.letter.words.steps_intro, "All of this together is enough:");
}

/// Whatever stands in data, nothing of it acts on a terminal or is taken for HTML.
#[test]
fn everything_from_data_is_escaped() {
    let mut named = features();
    named[0] = named[0].clone().label("<b>pay</b> & \u{1b}[31m");
    let problem = problem(named, 0.1);
    let relaxed = Relaxed::all(&problem);
    let writer =
        LetterWriter::new(&problem, &relaxed, Settings::default(), LetterSettings::default()).unwrap();
    let person = person(&problem, &[2400.0, 6000.0, 30.0]);
    let letter = writer.write("<script>\u{202e}\n", &person).unwrap().letter;
    for format in [Format::Text, Format::Html, Format::Document] {
        let page = Template::built_in(format).unwrap().page(&letter).unwrap();
        assert!(!page.contains('\u{1b}') && !page.contains('\u{202e}'), "{page}");
        if format != Format::Text {
            assert!(!page.contains("<script>") && !page.contains("<b>pay"), "{page}");
            assert!(page.contains("&lt;script&gt;"), "{page}");
        }
    }
    assert!(!letter.to_json().contains('\u{1b}'));
}

#[test]
fn mistakes_of_templates_have_their_line() {
    let refused = |text: &str| Template::parse(Format::Text, "own.txt", text).unwrap_err().to_string();
    for (text, line, words) in [
        ("a\nb\n{% if %}", 3, "syntax error"),
        ("a\n{{ letter.reason }}", 2, "undefined"),
        ("{% for step in letter.steps %}\n\n{{ step.what.more }}\n{% endfor %}", 3, "undefined"),
        ("\n{{ words.greeting }}", 2, "undefined"),
        ("\n\n\n{{ letter.id | shout }}", 4, "shout"),
        // Only letters of people who can do nothing have this part.
        ("\n{% if letter.status == \"impossible\" %}{{ nothing }}{% endif %}", 2, "undefined"),
    ] {
        let said = refused(text);
        assert!(said.starts_with(&format!("own.txt, line {line}: ")) && said.contains(words), "{said}");
    }
    let own = Template::parse(Format::Text, "own", "{{ letter.id }}: {{ letter.decision }}").unwrap();
    let letter = letter(&problem(features(), 0.1), &[2400.0, 6000.0, 30.0], Language::English);
    assert_eq!(own.page(&letter).unwrap(), "ana: Your application was turned down.");
}

#[test]
fn mistakes_of_reasons_have_their_line() {
    let mut all = features();
    all.extend(Feature::new("job").change(Change::Any).one_of(["clerk", "cook"]));
    let features = Features::new(all).unwrap();
    for (text, line, words) in [
        ("[[reason]]\nfeature = \"incme\"", 2, "did you mean `income`?"),
        ("[[reason]]\nfeature = \"age\"\n\n[[reason]]\nfeature = \"age\"", 5, "keep one"),
        ("[[reason]]\ncode = \"A\"", 1, "`feature` is missing"),
        ("[[reason]]\nfeature = \"age\"\nfr = {}", 3, "unknown field `fr`"),
        ("[[reason]]\nfeature = \"age\"\nen = { txt = \"x\" }", 3, "unknown field `txt`"),
        ("[[reason]]\nfeature = \"age\"\nde = { unit = \"{} a {}\" }", 3, "`{} a {}`"),
        ("[[reason]]\nfeature = \"job\"\ntypical = 1", 3, "categories"),
        ("[[reason]]\nfeature = \"job\"\nde = { describe = { king = \"x\" } }", 3, "king"),
        ("[[reason]]\nfeature = 3", 2, "must be a text"),
        ("reason = 3", 1, "[[reason]]"),
        ("a = = 1", 1, ""),
    ] {
        let mistakes = Wording::parse(text, &features).unwrap_err();
        let said = mistakes[0].to_string();
        assert!(said.contains(words) && mistakes[0].line == Some(line), "{text}: {said}");
    }
    assert!(Wording::parse("", &features).is_err());
}

#[test]
fn numbers_are_written_by_language() {
    let [english, german] = Language::ALL;
    assert_eq!(
        (english.localised("1234567.5", true), german.localised("1234567.5", true)),
        ("1,234,567.5".into(), "1.234.567,5".into())
    );
    assert_eq!(english.localised("-1234", false), "\u{2212}1234");
    assert_eq!((english.percent(0.07), german.percent(0.125)), ("7%".into(), "12,5\u{a0}%".into()));
    let income = euros(Feature::new("income").scaling(3000.0, 1500.0));
    assert_eq!(german.amount(&income, 1200.5, None), "EUR 1.200,5");
    assert_eq!(english.amount(&income, 1234.0 + 1e-12, None), "EUR 1,234");
    // A year is no amount.
    assert_eq!(english.amount(&Feature::new("year").kind(Kind::Integer), 2024.0, None), "2024");
    let rate = Feature::new("rate").unit(Unit::new("{}%").unwrap());
    assert_eq!(english.difference(&rate, 1.0, 0), "1 percentage point");
    assert_eq!(german.difference(&rate, 2.5, 1), "2,5 Prozentpunkte");
    assert_eq!("de".parse::<Language>().unwrap(), German);
    assert!("fr".parse::<Language>().unwrap_err().to_string().contains("`de` (German)"));
    use Language::German;
}
