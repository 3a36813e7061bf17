//! The examples run, and what they assert holds.

#[path = "../examples/ana.rs"]
mod ana;
#[path = "../examples/causal_model.rs"]
mod causal_model;
#[path = "../examples/method.rs"]
mod method;
#[path = "../examples/rule_list.rs"]
mod rule_list;
#[path = "../examples/uncertainty_set.rs"]
mod uncertainty_set;

#[test]
fn every_example_runs() {
    let examples = [
        ("ana.rs", ana::main()),
        ("causal_model.rs", causal_model::main()),
        ("method.rs", method::main()),
        ("rule_list.rs", rule_list::main()),
        ("uncertainty_set.rs", uncertainty_set::main()),
    ];
    for (name, result) in &examples {
        assert_eq!(*result, Ok(()), "{name}");
    }
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/examples");
    let files = std::fs::read_dir(folder).expect("the folder of examples");
    assert_eq!(files.count(), examples.len(), "an example is missing here");
}
