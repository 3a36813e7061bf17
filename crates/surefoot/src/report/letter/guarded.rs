//! What an answer is guarded against: how far each thing may differ from what somebody told, and what else is allowed
//! for.

use super::language::Language;
use super::spoken::{Spoken, capitalised};
use crate::classifier::WeightUncertainty;
use crate::uncertainty::{Shift, Sources};
use crate::{Feature, Kind, Norm, Problem};

/// The most differences that the sentence names.
const EXAMPLES: usize = 2;

/// By how much the value of a feature may differ from the reported one, in own units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Difference {
    /// Not at all.
    Exact,
    /// By up to this much, in both directions.
    Amount(f64),
    /// By up to this much if others differ with it as they usually do.
    Together(f64),
    /// By up to this share of the value, in both directions.
    Share(f64),
    /// The value is anywhere between two.
    Between(f64, f64),
}

/// Features that differ together, in one ball.
struct Ball {
    members: Vec<usize>,
    /// Whether all of them may differ at once by as much as each alone.
    is_box: bool,
    /// Whether they differ as they usually go together.
    is_mixed: bool,
}

/// What an answer is guarded against.
pub(super) struct Guard {
    /// For each feature.
    pub differences: Vec<Difference>,
    balls: Vec<Ball>,
    /// The features of which the value is not known, so that it may be any of an interval.
    unknown: Vec<usize>,
}

impl Guard {
    /// What the answers of a problem are guarded against.
    pub fn of(problem: &Problem) -> Self {
        let count = problem.features().len();
        let unknown = problem.sources().map_or(Vec::new(), |sources| sources.alone.clone());
        let mut guard = Self { differences: vec![Difference::Exact; count], balls: Vec::new(), unknown };
        let all: Vec<usize> = (0..count).collect();
        let Some(sources) = problem.sources().filter(|sources| sources.concern_person()) else {
            guard.add(problem, &[], problem.norm(), problem.epsilon(), &all);
            return guard;
        };
        let is_grouped = |i: &usize| sources.groups.iter().any(|group| group.features.contains(i));
        let free = |i: &usize| sources.shift(*i) == Shift::Ball && !is_grouped(i);
        let in_ball: Vec<usize> = all.iter().copied().filter(free).collect();
        guard.add(problem, &sources.factor, problem.norm(), problem.epsilon(), &in_ball);
        for group in &sources.groups {
            let norm = Norm::unweighted(group.norm);
            guard.add(problem, &sources.factor, &norm, group.epsilon, &group.features);
        }
        for &i in &all {
            let feature = problem.features().feature(i);
            match sources.shift(i) {
                Shift::Ball | Shift::Exact => {}
                Shift::Share(size) | Shift::Within(size) if size == 0.0 => {}
                Shift::Share(share) => guard.differences[i] = Difference::Share(share),
                Shift::Within(within) => {
                    guard.differences[i] = Difference::Amount(round_down(feature.std * within));
                }
                Shift::Between(lower, upper) => {
                    let own = |value: f64| feature.own_units(value);
                    guard.differences[i] = Difference::Between(own(lower), own(upper));
                }
            }
        }
        guard
    }

    /// Adds features whose shifts are bounded together.
    fn add(&mut self, problem: &Problem, factor: &[f64], norm: &Norm, radius: f64, members: &[usize]) {
        if radius == 0.0 || members.is_empty() {
            return;
        }
        let features = problem.features();
        let count = features.len();
        let unit = |i: usize, j: usize| f64::from(u8::from(i == j));
        let is_mixed = !factor.is_empty()
            && members.iter().any(|&i| (0..count).any(|j| factor[i * count + j] != unit(i, j)));
        let weight = |i: usize| problem.norm().weights().map_or(1.0, |weights| weights[i]);
        for &i in members {
            let std = features.feature(i).std;
            self.differences[i] = match is_mixed {
                false => {
                    let mut shift = vec![0.0; count];
                    shift[i] = weight(i);
                    let size = radius * std / norm.set().gauge(&shift);
                    // A special value is exact by a weight that leaves nothing of a shift.
                    if size > 1e-12 * std { Difference::Amount(round_down(size)) } else { Difference::Exact }
                }
                true => {
                    let row: Vec<f64> = members.iter().map(|&j| factor[i * count + j]).collect();
                    Difference::Together(round_down(radius * std * norm.set().support(&row) / weight(i)))
                }
            };
        }
        // All coordinates at the largest that each may have alone.
        let mut corner = vec![0.0; count];
        for &i in members {
            let mut alone = vec![0.0; count];
            alone[i] = 1.0;
            corner[i] = 1.0 / norm.set().gauge(&alone);
        }
        let is_box = norm.set().gauge(&corner) <= 1.0 + 1e-9;
        self.balls.push(Ball { members: members.to_vec(), is_box, is_mixed });
    }

    /// Whether nothing may differ from what somebody told.
    pub fn is_none(&self) -> bool {
        let is_exact = |(i, difference): (usize, &Difference)| {
            *difference == Difference::Exact || self.unknown.contains(&i)
        };
        self.differences.iter().enumerate().all(is_exact)
    }

    /// Whether there is one case only that an answer has to cover.
    pub fn is_one_case(&self) -> bool {
        self.is_none() && self.unknown.is_empty()
    }

    /// Whether what somebody told may differ in a feature, and not for the lack of a value.
    pub fn is_told(&self, i: usize) -> bool {
        !self.unknown.contains(&i)
    }

    /// How several differences come together, in sentences. Empty if one thing alone may differ.
    pub fn together(&self, spoken: &Spoken<'_>) -> Vec<String> {
        let language = spoken.language;
        let stated = self.differences.iter().filter(|difference| **difference != Difference::Exact).count();
        let mut sentences = Vec::new();
        let differs = |i: &usize| self.differences[*i] != Difference::Exact;
        let told = (0..self.differences.len()).filter(|i| differs(i) && self.is_told(*i)).count();
        let members = |ball: &Ball| ball.members.iter().copied().filter(differs).collect::<Vec<usize>>();
        for ball in self.balls.iter().filter(|ball| members(ball).len() > 1 && !ball.is_box) {
            let members = members(ball);
            // All of what the person told, where something else is not known.
            let is_told = members.len() == told && told < stated;
            let which = match members.len() == stated || is_told {
                true => String::new(),
                false => format!(" ({})", spoken.names(members.into_iter()).join(", ")),
            };
            let several = match is_told {
                true => language.of(
                    "several of the things that you told us".to_owned(),
                    "mehrere der Angaben, die Sie gemacht haben,".to_owned(),
                ),
                false => {
                    language.of(format!("several of these{which}"), format!("mehrere dieser Angaben{which}"))
                }
            };
            sentences.push(match ball.is_mixed {
                true => {
                    let several = capitalised(&several);
                    language.of(
                        format!("{several} may differ at once as far as they usually go together."),
                        format!(
                            "{several} dürfen zugleich abweichen, soweit sie es üblicherweise gemeinsam tun."
                        ),
                    )
                }
                false => language.of(
                    format!("Where {several} differ at once, each may differ by accordingly less."),
                    format!("Wo {several} zugleich abweichen, darf jede nur entsprechend weniger abweichen."),
                ),
            });
        }
        let is_all_in_one = self.balls.iter().any(|ball| !ball.is_box && members(ball).len() == stated);
        let is_all_told_in_one = self.balls.iter().any(|ball| !ball.is_box && members(ball).len() == told);
        if stated > told && told > 0 && is_all_told_in_one {
            sentences.push(
                language
                    .of(
                        "What is not known may be anything in its range at the same time.",
                        "Was nicht bekannt ist, kann zugleich alles in seinem Bereich sein.",
                    )
                    .to_owned(),
            );
        } else if stated > 1 && !is_all_in_one {
            sentences.push(match sentences.is_empty() {
                true => language.of(
                    "All of this may differ at the same time.".to_owned(),
                    "All das darf zugleich abweichen.".to_owned(),
                ),
                false => language.of(
                    "Apart from that, all of this may differ at the same time.".to_owned(),
                    "Davon abgesehen darf all das zugleich abweichen.".to_owned(),
                ),
            });
        }
        sentences
    }

    /// By how much something may differ, in words. `None` for a binary feature, of which a part means nothing.
    pub fn in_words(&self, language: Language, feature: &Feature, i: usize) -> Option<String> {
        if feature.kind == Kind::Binary {
            return None;
        }
        let by = |size: f64| language.difference(feature, size, digits(size));
        let whole = |size: f64| if feature.kind == Kind::Integer { size.floor() } else { size };
        Some(match self.differences[i] {
            Difference::Exact => language.of("not at all", "nicht").into(),
            // Less than a whole number, and less than a level, means nothing either.
            Difference::Amount(size) | Difference::Together(size) if whole(size) == 0.0 => return None,
            Difference::Amount(size) | Difference::Together(size) => {
                let by = by(whole(size));
                language.of(format!("by up to {by}"), format!("um bis zu {by}"))
            }
            Difference::Share(share) => {
                let percent = language.percent(share);
                language.of(format!("by up to {percent}"), format!("um bis zu {percent}"))
            }
            Difference::Between(lower, upper) => {
                let own = |value: f64| language.amount(feature, value, None);
                language.of(
                    format!("anything between {} and {}", own(lower), own(upper)),
                    format!("beliebig, von {} bis {}", own(lower), own(upper)),
                )
            }
        })
    }

    /// The differences, at most two, that would hurt somebody most after an action, each alone: "Income lower by EUR
    /// 150". Whichever are chosen, each is covered.
    pub fn examples(
        &self,
        problem: &Problem,
        spoken: &Spoken<'_>,
        individual: &[f64],
        reached: &[f64],
    ) -> Vec<String> {
        let language = spoken.language;
        let score = problem.score(reached);
        let mut hurting: Vec<(f64, String)> = Vec::new();
        for (i, difference) in self.differences.iter().enumerate().filter(|(i, _)| self.is_told(*i)) {
            let feature = spoken.feature(i);
            let value = feature.own_units(individual[i]);
            let size = match *difference {
                Difference::Amount(size) if feature.kind == Kind::Integer => size.floor(),
                Difference::Amount(size) => size,
                Difference::Share(share) => share * value.abs(),
                Difference::Between(lower, upper) => (value - lower).max(upper - value),
                Difference::Exact | Difference::Together(_) => continue,
            };
            if feature.kind == Kind::Binary || size.is_nan() || size <= 0.0 {
                continue;
            }
            let after = |direction: f64| {
                let mut shifted = reached.to_vec();
                shifted[i] += direction * size / feature.std;
                problem.score(&shifted) - score
            };
            let (down, up) = (after(-1.0), after(1.0));
            let harm = down.min(up);
            if harm.is_nan() || harm >= 0.0 {
                continue;
            }
            let name = spoken.name(i);
            let way =
                if down <= up { language.of("lower", "niedriger") } else { language.of("higher", "höher") };
            let by = |amount: String| {
                language.of(format!("{name} {way} by {amount}"), format!("{name} um {amount} {way}"))
            };
            hurting.push((
                harm,
                match *difference {
                    Difference::Share(share) => by(language.percent(share)),
                    Difference::Between(lower, upper) => {
                        let own = |value: f64| language.amount(feature, value, None);
                        language.of(
                            format!("{name} anywhere between {} and {}", own(lower), own(upper)),
                            format!("{name} irgendwo im Bereich {} bis {}", own(lower), own(upper)),
                        )
                    }
                    _ => by(language.difference(feature, size, digits(size))),
                },
            ));
        }
        hurting.sort_by(|a, b| a.0.total_cmp(&b.0));
        hurting.into_iter().take(EXAMPLES).map(|(_, words)| words).collect()
    }
}

/// What is allowed for beside differences of the person, each as the end of "it works". Errors of execution are those
/// of the features acted upon.
pub(super) fn conditions(problem: &Problem, spoken: &Spoken<'_>, acted: &[usize]) -> Vec<String> {
    let language = spoken.language;
    let mut conditions = Vec::new();
    if let Some(sources) = problem.sources() {
        execution(sources, spoken, acted, &mut conditions);
        for band in &sources.bands {
            let (name, feature) = (spoken.name(band.feature), spoken.feature(band.feature));
            let size = round_down(band.width * feature.std);
            let size = language.difference(feature, size, digits(size));
            conditions.push(language.of(
                format!("if what is assumed about {name} is wrong by up to {size}"),
                format!("wenn die Annahme über {name} um bis zu {size} falsch ist"),
            ));
        }
        for error in sources.coefficients.iter().filter(|error| error.within > 0.0) {
            let (effect, cause) = (spoken.feature(error.feature), spoken.feature(error.parent));
            let (name, by) = (spoken.name(error.feature), spoken.name(error.parent));
            let slope = error.within * effect.std / cause.std;
            let slope = language.difference(effect, round_down(slope), digits(slope));
            let one = language.difference(cause, 1.0, 0);
            conditions.push(language.of(
                format!("if a change of {by} by {one} changes {name} by up to {slope} more or less than assumed"),
                format!("wenn eine Änderung von {by} um {one} {name} um bis zu {slope} mehr oder weniger ändert als angenommen"),
            ));
        }
    }
    conditions.extend(
        weights(problem, language).map(|words| language.of(format!("if {words}"), format!("wenn {words}"))),
    );
    if let Some(committee) = problem.committee() {
        let (members, agree) = (committee.members().len(), committee.at_least());
        conditions.push(match agree == members {
            true => language.of(
                format!("whichever of the {members} models decides"),
                format!("welches der {members} Modelle auch entscheidet"),
            ),
            false => language.of(
                format!("where {agree} of the {members} models have to agree"),
                format!("wo {agree} der {members} Modelle zustimmen müssen"),
            ),
        });
    }
    let causal_models = problem.alternative_causal_models().len();
    if causal_models > 0 {
        let count = causal_models + 1;
        conditions.push(language.of(
            format!("whichever of the {count} assumptions about causes and effects is right"),
            format!("welche der {count} Annahmen über Ursachen und Wirkungen auch stimmt"),
        ));
    }
    conditions
}

/// What is uncertain of the weights of whatever decides, as a clause.
pub(super) fn weights(problem: &Problem, language: Language) -> Option<String> {
    let english = problem.uncertain_weights_in_words()?;
    let german = match problem.classifier().weight_uncertainty() {
        Some(WeightUncertainty::Within(radius)) => {
            format!(
                "jedes Gewicht des Modells um bis zu {} abweicht",
                language.localised(&radius.to_string(), true)
            )
        }
        Some(WeightUncertainty::Share(share)) => {
            format!("jedes Gewicht des Modells um bis zu {} abweicht", language.percent(share))
        }
        None => "die Gewichte des Modells innerhalb ihrer statistischen Unsicherheit abweichen".into(),
    };
    Some(language.of(english, german))
}

/// The conditions on how actions are carried out.
fn execution(sources: &Sources, spoken: &Spoken<'_>, acted: &[usize], conditions: &mut Vec<String>) {
    let language = spoken.language;
    for error in sources.execution.iter().filter(|error| acted.contains(&error.feature)) {
        let (name, feature) = (spoken.name(error.feature), spoken.feature(error.feature));
        let size = round_down(error.within * feature.std);
        let within = language.difference(feature, size, digits(size));
        let percent = language.percent(error.share);
        let amount = match (error.share > 0.0, error.within > 0.0) {
            (true, true) => {
                language.of(format!("{percent} and {within} more"), format!("{percent} und weitere {within}"))
            }
            (true, false) => percent,
            (false, true) => within,
            (false, false) => continue,
        };
        conditions.push(language.of(
            format!("if you miss the change of {name} by up to {amount}"),
            format!("wenn Sie die Änderung von {name} um bis zu {amount} verfehlen"),
        ));
    }
}

/// The decimals of a size of two significant digits.
pub(super) fn digits(size: f64) -> usize {
    let magnitude = if size == 0.0 { 0.0 } else { size.abs().log10().floor() };
    (1.0 - magnitude).clamp(0.0, 15.0) as usize
}

/// Rounds to two significant digits, towards zero: what is said to be covered is covered.
fn round_down(value: f64) -> f64 {
    if value.is_nan() || value <= 0.0 {
        return 0.0;
    }
    // Slightly enlarged, so that 0.1 * 1500 is 150 and not 149.
    let value = value * (1.0 + 1e-12);
    let unit = 10f64.powf(value.log10().floor() - 1.0);
    (value / unit).floor() * unit
}
