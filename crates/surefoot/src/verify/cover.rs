//! Whether a union of boxes covers a box.

/// A box: its lower and its upper corner.
pub(super) type Sides = (Vec<f64>, Vec<f64>);

/// Cutting through one box counts as much as this many more boxes on one side.
const THROUGH: usize = 4;
/// The largest number of boxes processed before the check gives up.
const MOST: usize = 400_000;

/// The result of the check.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Covered {
    /// The box is covered; tells which of the boxes were used.
    By(Vec<bool>),
    /// This part is not covered.
    Not(Sides),
    /// The check gave up.
    Unknown,
}

/// Whether the boxes cover a box, apart from parts that do not matter.
///
/// A box is covered if it does not matter, if one of the boxes contains it, or if both parts are covered
/// into which a face of one of the boxes cuts it. A box that overlaps none of the boxes is not covered.
/// The face is chosen that cuts through as few boxes as possible and leaves about as many on either side.
/// If the boxes result from repeated bisection of one box, this recovers one of the bisections. If the
/// boxes have no face left, a face of `others` is used: boxes across whose faces `matters` may change.
/// Any cut is valid, since both parts must be covered.
pub(super) fn covered(
    boxes: &[Sides],
    others: &[Sides],
    whole: Sides,
    matters: impl FnMut(&Sides) -> bool,
) -> Covered {
    let Some((used, left)) = uncovered(boxes, others, whole, matters, |_| true, |_| false) else {
        return Covered::Unknown;
    };
    left.into_iter().next().map_or(Covered::By(used), |left| Covered::Not(left.part))
}

/// A part that is not covered, with the numbers of the boxes that overlap it.
pub(super) struct Left {
    pub part: Sides,
    pub near: Vec<usize>,
}

/// As [`covered`]: which of the boxes were used, and what they leave. `None` if the check gave up.
///
/// Only boxes that count can cover a part. The others tell where to cut. A part is left as it is if `is_left` says so of the
/// boxes that overlap it. If all boxes count, the first part that is not covered ends the check.
pub(super) fn uncovered(
    boxes: &[Sides],
    others: &[Sides],
    whole: Sides,
    mut matters: impl FnMut(&Sides) -> bool,
    counts: impl Fn(usize) -> bool,
    is_left: impl Fn(&[usize]) -> bool,
) -> Option<(Vec<bool>, Vec<Left>)> {
    let mut left = Vec::new();
    let mut used = vec![false; boxes.len()];
    let do_all_count = (0..boxes.len()).all(&counts);
    let mut open = vec![(whole, (0..boxes.len()).collect::<Vec<usize>>())];
    let mut looked = 0;
    while let Some((part, mut near)) = open.pop() {
        looked += 1;
        if looked > MOST {
            return None;
        }
        if !matters(&part) {
            continue;
        }
        if let Some(&k) = near.iter().find(|&&k| counts(k) && contains(&boxes[k], &part)) {
            used[k] = true;
            continue;
        }
        near.retain(|&k| reaches(&boxes[k], &part));
        let among_others = || {
            let near: Vec<usize> = (0..others.len()).filter(|&k| reaches(&others[k], &part)).collect();
            cut(others, &part, &near)
        };
        let cut = if is_left(&near) { None } else { cut(boxes, &part, &near).or_else(among_others) };
        let Some((axis, at)) = cut else {
            left.push(Left { part, near });
            if do_all_count {
                break;
            }
            continue;
        };
        let (mut below, mut above) = (part.clone(), part);
        (below.1[axis], above.0[axis]) = (at, at);
        open.push((below, near.clone()));
        open.push((above, near));
    }
    Some((used, left))
}

fn contains(outer: &Sides, inner: &Sides) -> bool {
    (0..inner.0.len()).all(|i| outer.0[i] <= inner.0[i] && outer.1[i] >= inner.1[i])
}

/// Whether a box and a part overlap in more than a face.
fn reaches(other: &Sides, part: &Sides) -> bool {
    (0..part.0.len()).all(|i| {
        let (l, u) = (part.0[i], part.1[i]);
        if l == u { other.0[i] <= l && other.1[i] >= u } else { other.0[i] < u && other.1[i] > l }
    })
}

fn cut(boxes: &[Sides], part: &Sides, near: &[usize]) -> Option<(usize, f64)> {
    let mut best: Option<(usize, usize, f64)> = None;
    for axis in 0..part.0.len() {
        let sorted = |mut ends: Vec<f64>| {
            ends.sort_by(f64::total_cmp);
            ends
        };
        let first = sorted(near.iter().map(|&k| boxes[k].0[axis]).collect());
        let last = sorted(near.iter().map(|&k| boxes[k].1[axis]).collect());
        let inside = |at: &f64| *at > part.0[axis] && *at < part.1[axis];
        for at in first.iter().chain(&last).copied().filter(inside) {
            let below = first.partition_point(|end| *end < at);
            let above = near.len() - last.partition_point(|end| *end <= at);
            // A box with lower end above upper end is on neither side.
            let through = (below + above).saturating_sub(near.len());
            let price = below.max(above) + THROUGH * through;
            if best.is_none_or(|(least, ..)| price < least) {
                best = Some((price, axis, at));
            }
        }
    }
    best.map(|(_, axis, at)| (axis, at))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square(l: f64, b: f64, r: f64, t: f64) -> Sides {
        (vec![l, b], vec![r, t])
    }

    #[test]
    fn a_wheel_of_five_covers_and_four_do_not() {
        // No single cut separates these boxes.
        let mut wheel = vec![
            square(0.0, 0.0, 2.0, 1.0),
            square(2.0, 0.0, 3.0, 2.0),
            square(1.0, 2.0, 3.0, 3.0),
            square(0.0, 1.0, 1.0, 3.0),
            square(1.0, 1.0, 2.0, 2.0),
        ];
        let whole = || square(0.0, 0.0, 3.0, 3.0);
        assert_eq!(covered(&wheel, &[], whole(), |_| true), Covered::By(vec![true; 5]));
        wheel.pop();
        assert!(matches!(covered(&wheel, &[], whole(), |_| true), Covered::Not(_)));
        assert!(matches!(
            covered(&wheel, &[], whole(), |part| part.0 != [1.0, 1.0] || part.1 != [2.0, 2.0]),
            Covered::By(_)
        ));
    }

    #[test]
    fn endless_boxes_and_boxes_without_width() {
        let everything = square(0.0, 0.0, f64::INFINITY, 0.0);
        let parts = [square(0.0, 0.0, 2.0, 0.0), square(2.0, -1.0, f64::INFINITY, 1.0)];
        assert_eq!(covered(&parts, &[], everything.clone(), |_| true), Covered::By(vec![true, true]));
        assert!(matches!(covered(&parts[..1], &[], everything, |_| true), Covered::Not(_)));
    }
    #[test]
    fn faces_of_others_cut_what_boxes_leave() {
        // Right of the box, neither half matters on its own, but the whole does.
        let boxes = [square(0.0, 0.0, 1.0, 1.0)];
        let whole = || square(0.0, 0.0, f64::INFINITY, 1.0);
        let matters = |part: &Sides| part.0[0] < 1.0 || part.0[1] < 0.5 && part.1[1] > 0.5;
        let halves = [square(0.0, 0.0, f64::INFINITY, 0.5), square(0.0, 0.5, f64::INFINITY, 1.0)];
        assert_eq!(covered(&boxes, &halves, whole(), matters), Covered::By(vec![true]));
        assert!(matches!(covered(&boxes, &[], whole(), matters), Covered::Not(_)));
        // A face alone proves nothing.
        assert!(matches!(covered(&boxes, &halves, whole(), |_| true), Covered::Not(_)));
    }
}
