//! The rows of a trial: those of the deployed version, of the people who are asked about, and of later versions.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use surefoot::train::bootstrap;

use super::Change;
use crate::data::Period;
use crate::training::split;

/// The rows of a trial. No row has two roles.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Division {
    /// The rows of the deployed version and of the committee.
    pub deployed: Vec<usize>,
    /// The rows of people who may be asked about, in the order of the paper's test split.
    pub asked: Vec<usize>,
    /// The rows of later versions, twice as many as the deployed rows.
    pub others: Vec<usize>,
}

impl Division {
    /// A third of the rows that the paper trains on is for the deployed version, the others for later ones. The
    /// people are those of the paper's test split.
    pub fn by_people(rows: usize, seed: u32) -> Self {
        let (mut deployed, asked) = split(rows, seed);
        let mut others = deployed.split_off(deployed.len() / 3);
        others.truncate(2 * deployed.len());
        Self { deployed, asked, others }
    }

    /// Later versions are for the next period. The deployed version and the people are of the first.
    pub fn by_period(periods: &[Period], seed: u32) -> Self {
        let (train, test) = split(periods.len(), seed);
        let of = |rows: &[usize], period: Period| -> Vec<usize> {
            rows.iter().copied().filter(|&row| periods[row] == period).collect()
        };
        let (mut deployed, asked) = (of(&train, Period::First), of(&test, Period::First));
        let mut others = [of(&train, Period::Next), of(&test, Period::Next)].concat();
        deployed.truncate(others.len() / 2);
        others.truncate(2 * deployed.len());
        Self { deployed, asked, others }
    }

    /// The rows of the member of the committee with this number.
    pub fn member(&self, labels: &[bool], seed: u32, number: usize) -> Vec<usize> {
        self.bootstrap(labels, seed, 2 * number as u64)
    }

    /// The rows of the later version with this number: as many as the deployed rows.
    pub fn later(&self, labels: &[bool], seed: u32, change: Change, number: usize) -> Vec<usize> {
        match change {
            Change::Bootstrap => self.bootstrap(labels, seed, 2 * number as u64 + 1),
            Change::People | Change::Period => {
                let mut random = ChaCha8Rng::seed_from_u64(u64::from(seed));
                random.set_stream(number as u64);
                let mut drawn = self.others.clone();
                drawn.shuffle(&mut random);
                drawn.truncate(self.deployed.len());
                drawn
            }
        }
    }

    /// A bootstrap of the deployed rows. Bootstraps with different numbers are independent.
    fn bootstrap(&self, labels: &[bool], seed: u32, number: u64) -> Vec<usize> {
        let deployed: Vec<bool> = self.deployed.iter().map(|&row| labels[row]).collect();
        let drawn = bootstrap(&deployed, u64::from(seed), number);
        drawn.into_iter().map(|place| self.deployed[place]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(parts: &[&[usize]]) -> Vec<usize> {
        let mut all = parts.concat();
        all.sort_unstable();
        all
    }

    #[test]
    fn rows_have_one_role() {
        let division = Division::by_people(100, 3);
        // Of 100 rows the paper trains on 80 and tests on 20.
        assert_eq!((division.deployed.len(), division.others.len(), division.asked.len()), (26, 52, 20));
        assert_eq!(division.asked, split(100, 3).1);
        let mut all = sorted(&[&division.deployed, &division.others, &division.asked]);
        all.dedup();
        assert_eq!(all.len(), 98);
    }

    #[test]
    fn the_deployed_version_and_the_people_are_of_the_first_period() {
        let period = |row: usize| match row % 10 {
            0..6 => Period::First,
            6..9 => Period::Next,
            _ => Period::Other,
        };
        let periods: Vec<Period> = (0..200).map(period).collect();
        let division = Division::by_period(&periods, 1);
        let all = |rows: &[usize], period: Period| rows.iter().all(|&row| periods[row] == period);
        assert!(all(&division.deployed, Period::First) && all(&division.asked, Period::First));
        assert!(all(&division.others, Period::Next));
        assert_eq!((division.deployed.len(), division.others.len()), (30, 60));
        assert!(division.asked.iter().all(|row| !division.deployed.contains(row)));
    }

    #[test]
    fn later_versions_are_of_the_rows_that_their_change_says() {
        let labels: Vec<bool> = (0..300).map(|row| row % 3 == 0).collect();
        let division = Division::by_people(300, 0);
        let later = |change, number| division.later(&labels, 0, change, number);
        for change in [Change::People, Change::Period] {
            let rows = later(change, 0);
            assert_eq!(rows.len(), division.deployed.len());
            assert!(rows.iter().all(|row| division.others.contains(row)));
            assert_eq!(sorted(&[&rows]).windows(2).filter(|pair| pair[0] == pair[1]).count(), 0);
            assert_ne!(rows, later(change, 1));
        }
        // No bootstrap of a later version is one of the committee.
        let members: Vec<Vec<usize>> = (0..10).map(|number| division.member(&labels, 0, number)).collect();
        for number in 0..10 {
            let rows = later(Change::Bootstrap, number);
            assert!(rows.iter().all(|row| division.deployed.contains(row)));
            assert!(!members.contains(&rows));
        }
    }
}
