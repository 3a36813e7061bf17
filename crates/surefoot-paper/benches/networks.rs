//! wip
#![allow(clippy::unwrap_used)]
use std::time::Instant;
use surefoot::{Descent, Norm};
use surefoot_paper::Reference;
fn main() {
    let reference = Reference::locate().unwrap();
    let args: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let (filter, eps, settled) = (&args[0], args[1].parse::<f64>().unwrap(), args.get(2).is_none());
    for name in reference.names("mlp").unwrap() {
        if !name.contains(filter) {
            continue;
        }
        let case = reference.case(&name).unwrap();
        let problem = case.problem(&reference).unwrap().with_uncertainty(Norm::L2, eps).unwrap();
        let Some(answers) = case.answers.iter().find(|a| a.epsilon == eps) else { continue };
        let start = Instant::now();
        let settings = Descent { stop_when_settled: settled, ..Descent::default() };
        let attempts = settings.solve(&problem, &case.people).unwrap();
        let seconds = start.elapsed().as_secs_f64();
        let n = attempts.len() as f64;
        let ours = attempts.iter().filter(|a| a.candidate().is_some()).count() as f64;
        let published = answers.cost.iter().flatten().count() as f64;
        let (mut a, mut b, mut both, mut agree) = (0.0, 0.0, 0, 0);
        for (x, y) in attempts.iter().zip(&answers.cost) {
            agree += usize::from(x.candidate().is_some() == y.is_some());
            if let (Some(x), Some(y)) = (x.candidate(), y) {
                a += x.cost;
                b += y;
                both += 1;
            }
        }
        println!(
            "{name} n {n} eps {eps} {seconds:.2} s  found {:.3} published {:.3} agree {:.3} cost ratio {:.4} ({both})",
            ours / n,
            published / n,
            agree as f64 / n,
            a / b
        );
    }
}
