//! Draws people from a causal model.

use ndarray::Array2;
use rand::RngExt;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Bernoulli, Distribution, Gamma, Normal, Uniform};

use super::Scm;
use crate::error::{CausalModelError, PeopleError};
use crate::{Error, Result};

/// The distribution of an equation's noise, in the units of that equation (people's own
/// for formulas and roots, standardised for linear and network equations).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Noise {
    /// Normal with this mean and standard deviation.
    Normal {
        /// Its mean.
        mean: f64,
        /// Its standard deviation, not negative.
        std: f64,
    },
    /// 1 with this probability, otherwise 0.
    Bernoulli {
        /// Between 0 and 1.
        probability: f64,
    },
    /// Gamma, with mean `shape * scale`.
    Gamma {
        /// Positive.
        shape: f64,
        /// Positive.
        scale: f64,
    },
    /// Uniform on `[low, high)`.
    Uniform {
        /// The lower end.
        low: f64,
        /// The upper end, above the lower.
        high: f64,
    },
}

enum Sampler {
    Normal(Normal<f64>),
    Bernoulli(Bernoulli),
    Gamma(Gamma<f64>),
    Uniform(Uniform<f64>),
}

impl Noise {
    fn sampler(self, feature: &str) -> Result<Sampler> {
        let refused = || {
            Error::CausalModel(CausalModelError::NoiseParameters {
                feature: feature.into(),
                noise: format!("{self:?}"),
            })
        };
        match self {
            Noise::Normal { mean, std } if mean.is_finite() && std.is_finite() && std >= 0.0 => {
                Normal::new(mean, std).map(Sampler::Normal).map_err(|_| refused())
            }
            Noise::Bernoulli { probability } => {
                Bernoulli::new(probability).map(Sampler::Bernoulli).map_err(|_| refused())
            }
            Noise::Gamma { shape, scale } if shape.is_finite() && scale.is_finite() => {
                Gamma::new(shape, scale).map(Sampler::Gamma).map_err(|_| refused())
            }
            Noise::Uniform { low, high } => {
                Uniform::new(low, high).map(Sampler::Uniform).map_err(|_| refused())
            }
            _ => Err(refused()),
        }
    }
}

impl Sampler {
    fn draw(&self, random: &mut ChaCha8Rng) -> f64 {
        match self {
            Sampler::Normal(normal) => normal.sample(random),
            Sampler::Bernoulli(bernoulli) => f64::from(u8::from(bernoulli.sample(random))),
            Sampler::Gamma(gamma) => gamma.sample(random),
            Sampler::Uniform(uniform) => random.sample(uniform),
        }
    }
}

impl Scm {
    /// Draws people as rows in standardised units. Requires exactly one noise distribution for every
    /// feature. The same seed gives the same people.
    pub fn sample(&self, noise: &[(&str, Noise)], people: usize, seed: u64) -> Result<Array2<f64>> {
        let mut samplers: Vec<Option<Sampler>> = self.features().iter().map(|_| None).collect();
        for (name, noise) in noise {
            let place = &mut samplers[self.features().index(name)?];
            if place.replace(noise.sampler(name)?).is_some() {
                return Err(Error::CausalModel(CausalModelError::DuplicateNoise { feature: (*name).into() }));
            }
        }
        let complete = samplers.into_iter().zip(self.features().iter());
        let samplers: Vec<Sampler> = complete
            .map(|(sampler, feature)| {
                sampler.ok_or_else(|| {
                    Error::CausalModel(CausalModelError::MissingNoise { feature: feature.name.clone() })
                })
            })
            .collect::<Result<_>>()?;

        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let too_many = |_| Error::People(PeopleError::TooManyPeople { people });
        let mut values: Vec<f64> = Vec::new();
        values.try_reserve_exact(people.saturating_mul(samplers.len())).map_err(too_many)?;
        let mut noise = vec![0.0; samplers.len()];
        for _ in 0..people {
            for (noise, sampler) in noise.iter_mut().zip(&samplers) {
                *noise = sampler.draw(&mut random);
            }
            values.extend(self.predict(&noise)?);
        }
        let shape = (people, samplers.len());
        Ok(Array2::from_shape_vec(shape, values).unwrap_or_else(|_| unreachable!("rows are whole")))
    }
}
