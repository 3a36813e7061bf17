//! Committees: several classifiers of which at least some must agree.

use super::Classifier;
use super::greatest::Greatest;
use crate::error::ModelError;
use crate::{Error, Result};

/// The largest number of variants of a problem. Each is attacked and certified, so that more would make
/// every answer slow.
pub(crate) const MOST_VARIANTS: usize = 128;

/// Several classifiers of any kinds. A person is treated favourably iff at least `k` of the `n` members are
/// favourable.
///
/// At least k of n are favourable iff every subset of `n - k + 1` members has a favourable one. So a
/// committee is a list of *deciders* that must all be favourable, each with the greatest score of one subset.
/// If all members must agree, the deciders are the members.
///
/// ```
/// use surefoot::{Classifier, Committee};
///
/// let above = |limit: f64| Classifier::linear(vec![1.0], -limit, 0.5);
/// let members = vec![("2021".into(), above(1.0)?), ("2022".into(), above(2.0)?), ("2023".into(), above(3.0)?)];
/// assert_eq!(Committee::new(members.clone(), 3)?.score(&[2.5]), -0.5);
/// assert_eq!(Committee::new(members, 2)?.score(&[2.5]), 0.5);
/// # Ok::<(), surefoot::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Committee {
    members: Vec<(String, Classifier)>,
    at_least: usize,
}

impl Committee {
    /// A committee of members with their names, of which at least `at_least` must be favourable.
    ///
    /// # Errors
    /// If there are no members, if they take different numbers of features, if `at_least` is zero or more
    /// than there are members, or if there are more than 128 subsets.
    pub fn new(members: Vec<(String, Classifier)>, at_least: usize) -> Result<Self> {
        let size = members.len();
        if at_least == 0 || at_least > size {
            return Err(Error::Model(ModelError::Agreement { agree: at_least, members: size }));
        }
        let inputs: Vec<usize> = members.iter().map(|(_, member)| member.inputs()).collect();
        if inputs.iter().any(|&other| other != inputs[0]) {
            return Err(Error::Model(ModelError::CommitteeInputs { inputs }));
        }
        // As many subsets as members must agree, out of all.
        let subsets = (0..size - at_least + 1).fold(1.0, |all, k| all * (size - k) as f64 / (k + 1) as f64);
        if subsets.round() > MOST_VARIANTS as f64 {
            let subsets = subsets.round();
            return Err(Error::Model(ModelError::CommitteeTooLarge {
                agree: at_least,
                members: size,
                subsets,
                most: MOST_VARIANTS,
            }));
        }
        Ok(Self { members, at_least })
    }

    /// The members with their names.
    pub fn members(&self) -> &[(String, Classifier)] {
        &self.members
    }

    /// How many members must be favourable at least.
    pub fn at_least(&self) -> usize {
        self.at_least
    }

    /// The members of every subset that has a decider, by their numbers.
    pub(crate) fn subsets(&self) -> Vec<Vec<usize>> {
        let (size, of) = (self.members.len() - self.at_least + 1, self.members.len());
        let mut subsets: Vec<Vec<usize>> = vec![Vec::new()];
        for _ in 0..size {
            let longer = |subset: &Vec<usize>| {
                let first = subset.last().map_or(0, |last| last + 1);
                (first..of).map(|next| [&subset[..], &[next]].concat()).collect::<Vec<_>>()
            };
            subsets = subsets.iter().flat_map(longer).collect();
        }
        subsets
    }

    /// The classifiers that must all be favourable.
    pub(crate) fn deciders(&self) -> Result<Vec<Classifier>> {
        let member = |k: usize| self.members[k].1.clone();
        let decider = |subset: Vec<usize>| match subset[..] {
            [only] => Ok(member(only)),
            _ => Classifier::with_model(Greatest(subset.into_iter().map(member).collect()), 0.5),
        };
        self.subsets().into_iter().map(decider).collect()
    }

    /// The score: the k-th greatest of the members' scores, not negative iff at least k of them are favourable.
    pub fn score(&self, x: &[f64]) -> f64 {
        let mut scores: Vec<f64> = self.members.iter().map(|(_, member)| member.score(x)).collect();
        scores.sort_by(|a, b| b.total_cmp(a));
        scores[self.at_least - 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(count: usize) -> Vec<(String, Classifier)> {
        let member = |k: usize| Classifier::linear(vec![1.0], -(k as f64), 0.5).unwrap();
        (0..count).map(|k| (format!("m{k}"), member(k))).collect()
    }

    /// Every pattern of favourable members of a committee of four, for every number that must agree.
    #[test]
    fn deciders_agree_iff_enough_members_do() {
        for pattern in 0..16usize {
            let member = |k: usize| if pattern >> k & 1 == 1 { 0.5 } else { -0.5 };
            let member = |k: usize| ("m".to_owned(), Classifier::linear(vec![0.0], member(k), 0.5).unwrap());
            for at_least in 1..=4 {
                let committee = Committee::new((0..4).map(member).collect(), at_least).unwrap();
                let agree = pattern.count_ones() as usize >= at_least;
                let deciders = committee.deciders().unwrap();
                assert_eq!(deciders.iter().all(|decider| decider.score(&[0.0]) >= 0.0), agree);
                let least =
                    deciders.iter().map(|decider| decider.score(&[0.0])).fold(f64::INFINITY, f64::min);
                assert_eq!(least, committee.score(&[0.0]));
            }
        }
        assert_eq!(Committee::new(members(3), 2).unwrap().subsets(), [[0, 1], [0, 2], [1, 2]]);
    }

    #[test]
    fn committees_that_make_no_sense_are_refused() {
        for (count, at_least) in [(0, 0), (3, 0), (3, 4)] {
            assert!(matches!(
                Committee::new(members(count), at_least),
                Err(Error::Model(ModelError::Agreement { .. }))
            ));
        }
        assert!(Committee::new(members(9), 2).is_ok());
        assert_eq!(Committee::new(members(9), 5).unwrap().subsets().len(), 126);
        assert!(matches!(
            Committee::new(members(10), 5),
            Err(Error::Model(ModelError::CommitteeTooLarge { subsets: 210.0, most: MOST_VARIANTS, .. }))
        ));
        let other = ("wide".to_owned(), Classifier::linear(vec![1.0; 2], 0.0, 0.5).unwrap());
        let mixed = [members(1), vec![other]].concat();
        assert!(matches!(Committee::new(mixed, 2), Err(Error::Model(ModelError::CommitteeInputs { .. }))));
    }
}
