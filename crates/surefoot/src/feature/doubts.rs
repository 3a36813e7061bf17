//! What is allowed in the declaration of features and hardly meant.

use crate::Features;
use crate::magnitude::readable;

impl Features {
    /// What is allowed and hardly meant, one sentence each: a step or a largest change that has no effect, and features
    /// that sentences cannot tell apart.
    pub fn doubts(&self) -> Vec<String> {
        let mut doubts = Vec::new();
        for feature in self.iter() {
            let name = &feature.name;
            let limits = [
                ("step", feature.step.is_some()),
                ("most_change", feature.most_change.is_finite()),
                ("most_change_share", feature.most_change_share.is_finite()),
            ];
            if !feature.is_actionable() {
                for (what, _) in limits.iter().filter(|(_, is_given)| *is_given) {
                    doubts.push(format!(
                        "feature `{name}`: it is fixed, so that its `{what}` has no effect; let it change, or leave that out"
                    ));
                }
            } else if let Some(step) = feature.step.filter(|step| *step > feature.most_change) {
                doubts.push(format!(
                    "feature `{name}`: its step of {} is larger than its largest change of {}, so that nothing can change it",
                    readable(step),
                    readable(feature.most_change)
                ));
            }
        }
        let mut labels: Vec<(&str, &str)> = Vec::new();
        for column in self.columns() {
            let feature = self.feature(column.positions().start);
            let label = feature.words.label.as_deref().unwrap_or(column.name());
            match labels.iter().find(|(known, _)| *known == label) {
                Some((_, first)) => doubts.push(format!(
                    "features `{first}` and `{}`: both are called \"{label}\" in sentences; give them different labels",
                    column.name()
                )),
                None => labels.push((label, column.name())),
            }
        }
        doubts
    }
}

#[cfg(test)]
mod tests {
    use crate::{Change, Feature, Features};

    #[test]
    fn settings_without_effect_and_equal_labels_are_named() {
        let features = Features::new(vec![
            Feature::new("a").change(Change::Any).step(100.0).most_change(50.0).label("amount"),
            Feature::new("b").step(5.0).most_change_share(0.2).label("amount"),
            Feature::new("c").change(Change::Any).step(5.0).most_change(50.0),
        ])
        .unwrap();
        let doubts = features.doubts();
        assert_eq!(doubts.len(), 4, "{doubts:?}");
        assert!(doubts[0].contains("step of 100 is larger than its largest change of 50"), "{doubts:?}");
        assert!(doubts[1].contains("`b`: it is fixed, so that its `step`"), "{doubts:?}");
        assert!(doubts[2].contains("`most_change_share`"), "{doubts:?}");
        assert!(doubts[3].contains("`a` and `b`: both are called \"amount\""), "{doubts:?}");
    }
}
