//! The reasons of a letter in words, and what is not known of the person.

use super::Author;
use crate::feature::Missing;
use crate::report::letter::GivenReason;
use crate::report::reasons::{Reason, Remedy, Thing};
use crate::{Action, Outcome, infeasibility};

impl Author<'_> {
    /// What is not known of the person, and what that means, a sentence or two for each.
    pub(super) fn unknown(&self, outcome: &Outcome) -> Vec<String> {
        let (spoken, language) = (&self.spoken, self.spoken.language);
        let things = spoken.things.iter().filter_map(|thing| Some((thing, spoken.missing(thing)?)));
        let sentence = |(thing, Missing { value, lower, upper }): (&Thing, Missing)| {
            let (feature, heading) = (spoken.feature(thing.first()), spoken.heading(thing));
            let is_level = feature.level(feature.snap_to_integer(value)).is_some();
            let [value, lower, upper] = [value, lower, upper].map(|own| {
                let amount = language.amount(feature, own, None);
                if is_level { spoken.quoted(&amount) } else { amount }
            });
            let taken = language.of(
                format!("{heading}: we do not know this about you. The decision takes it as {value}."),
                format!("{heading}: Das ist uns von Ihnen nicht bekannt. Für die Entscheidung gilt es als {value}."),
            );
            let tell = language.of(
                "If you tell us, the answer may be another.",
                "Wenn Sie es uns mitteilen, kann die Antwort anders ausfallen.",
            );
            let meaning = match outcome {
                Outcome::Found(_) => language.of(
                    format!(" What you can do works whatever it really is between {lower} and {upper}. {tell}"),
                    format!(" Was Sie tun können, gelingt, was immer es tatsächlich ist, von {lower} bis {upper}. {tell}"),
                ),
                Outcome::Impossible(_) => language.of(
                    format!(" We looked for a way that works whatever it really is between {lower} and {upper}. {tell}"),
                    format!(" Gesucht war ein Weg, der gelingt, was immer es tatsächlich ist, von {lower} bis {upper}. {tell}"),
                ),
                Outcome::AlreadyFavourable => language
                    .of(
                        " Whether the decision would be the same if it is something else was not asked.",
                        " Ob ebenso entschieden würde, wenn es etwas anderes ist, wurde nicht gefragt.",
                    )
                    .to_owned(),
                Outcome::Undecided(_) | Outcome::Unproved(_) => format!(" {tell}"),
            };
            taken + &meaning
        };
        things.map(sentence).collect()
    }

    /// A reason in words.
    pub(super) fn given(&self, individual: &[f64], outcome: &Outcome, reason: &Reason) -> GivenReason {
        let spoken = &self.spoken;
        let language = spoken.language;
        let column = spoken.column(&reason.thing).to_owned();
        let value = spoken.reported(&reason.thing, individual);
        let label = spoken.name(reason.thing.first());
        let own = spoken.wording.text(&column, language);
        let about = own.map_or(format!("{}: {value}.", spoken.heading(&reason.thing)), |own| {
            let own = own.trim_end();
            let stop = if own.ends_with(['.', '!', '?']) { "" } else { "." };
            format!("{own}{stop} ({}: {value})", spoken.heading(&reason.thing))
        });
        let is_special = spoken.is_special(&reason.thing, individual);
        let remedy = if is_special { Remedy::Fixed } else { reason.remedy };
        let (name, remedy) = match (remedy, outcome) {
            _ if spoken.missing(&reason.thing).is_some() => (
                "fixed",
                language.of(
                    "We do not know this about you, so that no change of it was considered.",
                    "Das ist uns von Ihnen nicht bekannt, sodass keine Änderung davon in Betracht kam.",
                ),
            ),
            (Remedy::Changed, _) => (
                "changed",
                language.of("You can change this; see below.", "Das können Sie ändern, siehe unten."),
            ),
            (Remedy::Changeable, Outcome::Impossible(_)) => (
                "changeable",
                language.of(
                    "This can be changed, but no change that is possible is enough.",
                    "Das lässt sich ändern, aber keine mögliche Änderung genügt.",
                ),
            ),
            (Remedy::Changeable, _) => {
                ("changeable", language.of("This can be changed.", "Das lässt sich ändern."))
            }
            (Remedy::Follows, _) => (
                "follows",
                language.of(
                    "You cannot change this directly; it follows from other things.",
                    "Das können Sie nicht unmittelbar ändern; es folgt aus anderem.",
                ),
            ),
            (Remedy::Fixed, _) => {
                ("fixed", language.of("This cannot be changed.", "Das lässt sich nicht ändern."))
            }
        };
        let mut text = format!("{about} {remedy}");
        let remedy_is_changeable = name == "changeable";
        if let Some(typical) = &reason.typical {
            let is_beyond = matches!(outcome, Outcome::Impossible(_))
                && remedy_is_changeable
                && !self.is_allowed(individual, reason, typical);
            text = format!("{text} {}", self.compared(individual, reason, typical, is_beyond));
        }
        let code = spoken.wording.code(&column).map(str::to_owned);
        GivenReason {
            feature: column,
            label,
            code,
            text,
            remedy: name,
            share: reason.share,
            effort: reason.effort,
        }
    }

    /// Whether an action alone may lead to the typical value of a thing.
    fn is_allowed(&self, individual: &[f64], reason: &Reason, typical: &[f64]) -> bool {
        let positions = &reason.thing.positions;
        let change = positions.iter().zip(typical).map(|(&i, &value)| value - individual[i]);
        let moved: (Vec<usize>, Vec<f64>) =
            positions.iter().copied().zip(change).filter(|(_, change)| *change != 0.0).unzip();
        let action = Action { features: moved.0, change: moved.1 };
        matches!(infeasibility(self.problem, individual, &action), Ok(None))
    }

    /// What would be with the typical value.
    fn compared(&self, individual: &[f64], reason: &Reason, typical: &[f64], is_beyond: bool) -> String {
        let (spoken, language) = (&self.spoken, self.spoken.language);
        let mut other = individual.to_vec();
        reason.thing.positions.iter().zip(typical).for_each(|(&i, &value)| other[i] = value);
        let value = spoken.quoted_value(&reason.thing, &other);
        let beyond = match is_beyond {
            true => language.of(
                ", which is further than it may change here",
                ", was weiter ist, als es sich hier ändern darf,",
            ),
            false => "",
        };
        // Rounded down, and never all of it unless the decision would be another.
        let percent = (100.0 * reason.share + 1e-9).floor().min(99.0);
        match self.problem.score(&other) >= 0.0 {
            true => language.of(
                format!("With {value} instead{beyond}, and everything else as it is, the decision would have been favourable."),
                format!("Wäre die Angabe {value}{beyond} und alles andere gleich, so wäre günstig entschieden worden."),
            ),
            false => {
                let percent = language.percent(percent / 100.0);
                language.of(
                    format!("With {value} instead{beyond}, and everything else as it is, {percent} of what is missing would be made up."),
                    format!("Wäre die Angabe {value}{beyond} und alles andere gleich, so wären {percent} dessen, was fehlt, ausgeglichen."),
                )
            }
        }
    }
}
