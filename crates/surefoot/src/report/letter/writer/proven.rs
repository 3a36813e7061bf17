//! What a letter says is proven, and what is not.

use super::Author;
use crate::report::letter::guarded::weights;
use crate::{Outcome, Recourse};

impl Author<'_> {
    /// What is proven, and what is not, in sentences.
    pub(super) fn proven(&self, outcome: &Outcome, has_explanation: bool) -> Vec<String> {
        let language = self.spoken.language;
        let has_causes = self.problem.scm().is_some();
        match outcome {
            Outcome::AlreadyFavourable => {
                let mut sentence = language.of(
                    "This is so for your circumstances as you told us",
                    "Das gilt für Ihre Verhältnisse, wie Sie sie angegeben haben",
                ).to_owned();
                if let Some(words) = weights(self.problem, language) {
                    sentence += &language.of(format!(", even if {words}"), format!(", auch wenn {words}"));
                }
                let rest = match self.problem.uncertainty().is_none() {
                    true => ".",
                    false => language.of(
                        ". Whether it would still be so if they were different was not asked.",
                        ". Ob es auch gälte, wenn sie andere wären, wurde nicht gefragt.",
                    ),
                };
                vec![sentence + rest]
            }
            Outcome::Found(found) => vec![
                match has_causes {
                    true => language.of(
                        "It is proven that the decision will be favourable once you have done exactly this, as long as decisions are made as they are today and your changes have the effects that we assume.",
                        "Es ist bewiesen, dass günstig entschieden wird, sobald Sie genau das getan haben, solange so entschieden wird wie heute und Ihre Änderungen so wirken, wie wir annehmen.",
                    ),
                    false => language.of(
                        "It is proven that the decision will be favourable once you have done exactly this, as long as decisions are made as they are today.",
                        "Es ist bewiesen, dass günstig entschieden wird, sobald Sie genau das getan haben, solange so entschieden wird wie heute.",
                    ),
                }
                .to_owned(),
                self.cheaper(found),
            ],
            Outcome::Unproved(_) => vec![
                language
                    .of(
                        "This withstood every difference from what you told us that was tried. That it works is not proven.",
                        "Das hielt jeder Abweichung von Ihren Angaben stand, die versucht wurde. Dass es gelingt, ist nicht bewiesen.",
                    )
                    .to_owned(),
            ],
            Outcome::Impossible(_) => {
                let mut sentences = vec![
                    match self.guard.is_one_case() {
                        true => language.of(
                            "It is proven that no change that is possible for you leads to a favourable decision, as long as decisions are made as they are today.",
                            "Es ist bewiesen, dass keine Änderung, die Ihnen möglich ist, zu einer günstigen Entscheidung führt, solange so entschieden wird wie heute.",
                        ),
                        false => language.of(
                            "It is proven that no change that is possible for you leads to a decision that would be favourable in all of these cases, as long as decisions are made as they are today.",
                            "Es ist bewiesen, dass keine Änderung, die Ihnen möglich ist, in allen diesen Fällen zu einer günstigen Entscheidung führt, solange so entschieden wird wie heute.",
                        ),
                    }
                    .to_owned(),
                ];
                if has_explanation {
                    sentences.push(
                        language
                            .of(
                                "The saved proof is about this statement. What stands in the way was proven in addition, for changed rules.",
                                "Der gespeicherte Beweis gilt dieser Aussage. Was im Weg steht, wurde zusätzlich bewiesen, für geänderte Regeln.",
                            )
                            .to_owned(),
                    );
                }
                sentences
            }
            Outcome::Undecided(_) => vec![
                language
                    .of(
                        "It could not be decided whether there is something that you can do: no way was found that is proven to work, and it is not proven that there is none.",
                        "Es konnte nicht entschieden werden, ob Sie etwas tun können: Es wurde kein Weg gefunden, der bewiesen gelingt, und es ist nicht bewiesen, dass es keinen gibt.",
                    )
                    .to_owned(),
            ],
        }
    }

    /// What is known of other ways that take less effort, and what effort is.
    fn cheaper(&self, found: &Recourse) -> String {
        let language = self.spoken.language;
        if found.cost_bound <= 0.0 {
            let text = language.of(
                "Whether there is a way that takes less effort is not known.",
                "Ob es einen Weg gibt, der weniger Aufwand erfordert, ist nicht bekannt.",
            );
            return text.into();
        }
        let features = self.problem.features();
        let is_weighted = features.iter().any(|feature| feature.is_actionable() && feature.weight != 1.0);
        let effort = match is_weighted {
            false => language.of(
                "Effort is all changes together, each in proportion to how much people usually differ in it.",
                "Aufwand sind alle Änderungen zusammen, jede im Verhältnis dazu, wie sehr sich Menschen darin üblicherweise unterscheiden.",
            ),
            true => language.of(
                "Effort is all changes together, each in proportion to how much people usually differ in it and to how hard it is taken to be.",
                "Aufwand sind alle Änderungen zusammen, jede im Verhältnis dazu, wie sehr sich Menschen darin üblicherweise unterscheiden, und dazu, für wie schwer sie gilt.",
            ),
        };
        // In tenths of a percent, rounded up; less than a thousandth of a percent counts as rounding.
        let tenths = (1000.0 * (1.0 - found.cost_bound / found.cost) - 0.01).ceil();
        let sentence = match tenths > 0.0 {
            true => {
                let percent = language.percent(tenths / 1000.0);
                language.of(
                    format!("It is also proven that no other way that is allowed here takes more than {percent} less effort."),
                    format!("Bewiesen ist auch, dass kein anderer hier zulässiger Weg mehr als {percent} weniger Aufwand erfordert."),
                )
            }
            false => language
                .of(
                    "It is also proven that no other way that is allowed here takes less effort.",
                    "Bewiesen ist auch, dass kein anderer hier zulässiger Weg weniger Aufwand erfordert.",
                )
                .into(),
        };
        format!("{sentence} {effort}")
    }
}
