//! The worst perturbation of an action: the least sum of a forest over a ball.
//!
//! Depth first over boxes of inputs that are cut at thresholds. A box is left out if the ball does not reach
//! it, or if the sum over trees of the least leaf in reach is high enough. A tree with a single leaf in reach
//! is added to the constant.

mod linked;

use super::scene::Scene;

/// The result of a search for the least sum.
#[derive(Clone, Debug)]
pub(crate) struct Worst {
    /// The lowest sum that was found, with its inputs and the perturbation that leads there.
    pub found: f64,
    pub point: Vec<f64>,
    pub perturbation: Vec<f64>,
    /// A lower bound of the sum over the whole ball.
    pub lower: f64,
}

/// What to search for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Question {
    /// The search ends where the sum is proven to be at least this.
    pub wanted: f64,
    /// Whether the least sum is wanted below that, rather than any.
    pub is_least: bool,
    /// The largest number of visited nodes.
    pub most: usize,
}

/// The least side, relative to the radius, of a box that is halved although no threshold divides it.
const LEAST_SIDE: f64 = 1e-5;

/// The work of placing a point in a box of linked features, in visited nodes.
const NODES_PER_LINKED_BOX: usize = 2_000;

/// The workspace of searches.
#[derive(Debug, Default)]
pub(crate) struct Adversary {
    /// Boxes to search, `lower` then `upper` of each.
    sides: Vec<f64>,
    open: Vec<Open>,
    /// The trees with several leaves in reach, for each box.
    trees: Vec<u32>,
    walk: Walk,
    visited: usize,
}

#[derive(Clone, Copy, Debug)]
struct Open {
    constant: f64,
    trees: usize,
    count: usize,
}

/// The state of a walk through one tree.
#[derive(Debug, Default)]
struct Walk {
    lower: Vec<f64>,
    upper: Vec<f64>,
    /// The nearest point of the box.
    point: Vec<f64>,
    /// The term of each feature on its own; zero for linked features.
    terms: Vec<f64>,
    least: f64,
    greatest: f64,
    leaves: usize,
    /// Where the path to the least leaf leaves the point.
    turn: Option<(usize, f64)>,
}

impl Adversary {
    /// The number of nodes visited so far.
    pub fn visited(&self) -> usize {
        self.visited
    }

    /// Searches the ball around a centre.
    pub fn least(&mut self, scene: &Scene<'_>, centre: &[f64], question: Question) -> Worst {
        let n = centre.len();
        let end = self.visited.saturating_add(question.most);
        let mut worst = Worst {
            found: f64::INFINITY,
            point: centre.to_vec(),
            perturbation: vec![0.0; n],
            lower: f64::INFINITY,
        };
        self.start(scene, centre);
        while let Some(open) = self.open.pop() {
            let at = self.sides.len() - 2 * n;
            self.walk.lower.copy_from_slice(&self.sides[at..at + n]);
            self.walk.upper.copy_from_slice(&self.sides[at + n..]);
            self.sides.truncate(at);
            let own: Vec<u32> = self.trees[open.trees..open.trees + open.count].to_vec();
            self.trees.truncate(open.trees);
            if self.visited > end {
                worst.lower = f64::NEG_INFINITY;
                break;
            }
            self.examine(scene, centre, open.constant, &own, question, &mut worst);
            if worst.found < question.wanted && !question.is_least {
                worst.lower = worst.lower.min(worst.found);
                break;
            }
        }
        self.sides.clear();
        self.open.clear();
        self.trees.clear();
        worst.lower = worst.lower.min(worst.found);
        worst
    }

    fn start(&mut self, scene: &Scene<'_>, centre: &[f64]) {
        let n = centre.len();
        let reach = |i: usize| match scene.live[i] {
            true => scene.ball.radius * scene.spreads[i] * (1.0 + 1e-12) + scene.slack(i, centre[i]),
            false => scene.slack(i, centre[i]),
        };
        // Lower ends are exclusive.
        self.sides.extend((0..n).map(|i| (centre[i] - reach(i)).next_down()));
        self.sides.extend((0..n).map(|i| centre[i] + reach(i)));
        self.trees.extend(0..scene.forest.roots.len() as u32);
        self.open.push(Open { constant: scene.forest.start, trees: 0, count: scene.forest.roots.len() });
        let walk = &mut self.walk;
        for list in [&mut walk.lower, &mut walk.upper, &mut walk.point, &mut walk.terms] {
            list.resize(n, 0.0);
        }
    }

    /// Bounds the sum on one box; puts its parts on the list if that does not suffice.
    fn examine(
        &mut self,
        scene: &Scene<'_>,
        centre: &[f64],
        constant: f64,
        own: &[u32],
        question: Question,
        worst: &mut Worst,
    ) {
        // Linked features take time of their own.
        self.visited += if scene.is_linked() { NODES_PER_LINKED_BOX } else { 0 };
        let Some(spent) = self.walk.place(scene, centre) else { return };
        let first = self.trees.len();
        let (mut fixed, mut bound, mut value) = (constant, constant, constant);
        let mut regret = (0.0, None);
        for &tree in own {
            let root = scene.forest.roots[tree as usize];
            let at_point = scene.forest.value(root, &self.walk.point);
            self.walk.begin();
            self.visited += self.walk.least(scene, centre, root, spent, 0.0, None);
            let Walk { least, greatest, leaves, turn, .. } = self.walk;
            if leaves == 0 {
                self.trees.truncate(first);
                return;
            }
            // The point may be out of reach of the ball if features are linked.
            let at_point = at_point.clamp(least, greatest);
            bound += least;
            value += at_point;
            if least == greatest {
                fixed += least;
                continue;
            }
            self.trees.push(tree);
            if at_point - least > regret.0 && turn.is_some() {
                regret = (at_point - least, turn);
            }
        }
        let needed = if worst.found < question.wanted { worst.found } else { question.wanted };
        let rounding = scene.forest.rounding;
        let (is_single, mut bound) = (self.trees.len() == first, bound - rounding);
        if regret.1.is_none() && (is_single || scene.forest.is_monotone) {
            // Every tree has its least leaf at the point, so the score there is the least of the box.
            let sum = bound + rounding;
            if sum.abs() <= 2.0 * rounding && scene.forest.classifier.is_some() {
                bound = scene.forest.score(&self.walk.point, sum);
            }
        }
        if bound >= needed {
            worst.lower = worst.lower.min(bound);
            self.trees.truncate(first);
            return;
        }
        let value = scene.forest.score(&self.walk.point, value);
        let is_reached = self.offer(scene, centre, value, worst);
        let Some((feature, at)) = regret.1.or_else(|| self.walk.widest(scene)) else {
            // Nothing divides the box. Either its point was reached, or whether it can be is left open.
            if !is_reached {
                worst.lower = worst.lower.min(bound);
            }
            self.trees.truncate(first);
            return;
        };
        if regret.1.is_none() && is_reached {
            // Every tree has its least leaf at the point, so the bound is the sum there.
            self.trees.truncate(first);
            return;
        }
        self.divide(feature, at, Open { constant: fixed, trees: first, count: self.trees.len() - first });
    }

    /// Keeps the point of the box if a perturbation of the ball leads there and its sum is lower.
    fn offer(&self, scene: &Scene<'_>, centre: &[f64], value: f64, worst: &mut Worst) -> bool {
        let Some((perturbation, size)) = scene.perturbation(centre, &self.walk.point) else { return false };
        let is_reached = size <= scene.ball.limit();
        if is_reached && value < worst.found {
            worst.found = value;
            worst.point.copy_from_slice(&self.walk.point);
            worst.perturbation = perturbation;
        }
        is_reached
    }

    /// Puts both parts of the box on the list; the one without the point is examined first.
    fn divide(&mut self, feature: usize, at: f64, open: Open) {
        let n = self.walk.lower.len();
        let own: Vec<u32> = self.trees[open.trees..].to_vec();
        let is_left = self.walk.point[feature] <= at;
        for side in [is_left, !is_left] {
            let begin = self.sides.len();
            self.sides.extend_from_slice(&self.walk.lower);
            self.sides.extend_from_slice(&self.walk.upper);
            self.sides[begin + feature + if side { n } else { 0 }] = at;
            let trees = if side == is_left { open.trees } else { self.trees.len() };
            if side != is_left {
                self.trees.extend_from_slice(&own);
            }
            self.open.push(Open { trees, ..open });
        }
    }
}

impl Walk {
    /// Finds the point of the box that is nearest to the centre, and the sum of its terms; `None` if the ball
    /// does not reach the box.
    fn place(&mut self, scene: &Scene<'_>, centre: &[f64]) -> Option<f64> {
        let limit = scene.ball.limit();
        let mut sum = 0.0;
        for i in 0..centre.len() {
            let (lower, upper) = (self.lower[i].next_up(), self.upper[i]);
            if lower > upper {
                return None;
            }
            self.point[i] = centre[i].clamp(lower, upper);
            self.terms[i] = 0.0;
            if scene.linked[i] {
                continue;
            }
            let slack = scene.slack(i, centre[i]);
            let distance = ((self.point[i] - centre[i]).abs() - slack).max(0.0);
            if distance > 0.0 {
                if !scene.live[i] {
                    return None;
                }
                self.terms[i] = scene.ball.term(distance * scene.weights[i] * (1.0 - 1e-12));
                sum += self.terms[i];
            }
        }
        if sum > limit || scene.is_linked() && !self.place_linked(scene, centre, limit - sum) {
            return None;
        }
        Some(sum)
    }

    fn begin(&mut self) {
        (self.least, self.greatest) = (f64::INFINITY, f64::NEG_INFINITY);
        (self.leaves, self.turn) = (0, None);
    }

    /// Visits the leaves below a node that the ball may reach within the box. `spent` is the sum of terms of
    /// unlinked features on the path, `linked` the greatest term of linked ones. Returns the number of visited
    /// nodes.
    fn least(
        &mut self,
        scene: &Scene<'_>,
        centre: &[f64],
        node: u32,
        spent: f64,
        linked: f64,
        turn: Option<(usize, f64)>,
    ) -> usize {
        let node = scene.forest.nodes[node as usize];
        let Some(feature) = node.feature() else {
            self.leaves += 1;
            self.greatest = self.greatest.max(node.number);
            if node.number < self.least {
                (self.least, self.turn) = (node.number, turn);
            }
            return 1;
        };
        let at = node.number;
        let old = (self.lower[feature], self.upper[feature], self.terms[feature]);
        let mut visited = 1;
        for is_left in [true, false] {
            if if is_left { old.0 >= at } else { old.1 <= at } {
                continue;
            }
            self.narrow(feature, at, is_left);
            let beyond = (self.lower[feature] - centre[feature]).max(centre[feature] - self.upper[feature]);
            let distance = (beyond - scene.slack(feature, centre[feature])).max(0.0) * (1.0 - 1e-12);
            let (mut spent, mut linked) = (spent, linked);
            if scene.linked[feature] {
                let size = if distance > 0.0 { distance / scene.spreads[feature] } else { 0.0 };
                linked = linked.max(scene.ball.term(size));
            } else {
                let term = scene.ball.term(distance * scene.weights[feature]).max(old.2);
                spent += term - old.2;
                self.terms[feature] = term;
            }
            // Differences of sums may round up by this share.
            if (spent + linked) * (1.0 - 1e-12) <= scene.ball.limit() {
                let is_turn = turn.is_none() && (self.point[feature] <= at) != is_left;
                let turn = if is_turn { Some((feature, at)) } else { turn };
                let child = if is_left { node.left } else { node.right };
                visited += self.least(scene, centre, child, spent, linked, turn);
            }
            (self.lower[feature], self.upper[feature], self.terms[feature]) = old;
        }
        visited
    }

    fn narrow(&mut self, feature: usize, at: f64, is_left: bool) {
        match is_left {
            true => self.upper[feature] = self.upper[feature].min(at),
            false => self.lower[feature] = self.lower[feature].max(at),
        }
    }

    /// The longest side of linked features, and its middle, if it is not too short.
    fn widest(&self, scene: &Scene<'_>) -> Option<(usize, f64)> {
        let length = |i: &usize| (self.upper[*i] - self.lower[*i]) / scene.spreads[*i];
        let sides = (0..self.lower.len()).filter(|&i| scene.linked[i] && scene.live[i]);
        let i = sides.max_by(|a, b| length(a).total_cmp(&length(b)))?;
        let middle = 0.5 * (self.lower[i] + self.upper[i]);
        (length(&i) > LEAST_SIDE * scene.ball.radius).then_some((i, middle))
    }
}
