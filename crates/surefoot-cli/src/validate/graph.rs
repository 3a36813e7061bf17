//! The causal graph, as layers, as text and as SVG.

use std::fmt::Write;

use surefoot::{Change, Features, Scm, escape_line};

/// Features with their causes, causes first.
pub struct Graph {
    names: Vec<String>,
    changes: Vec<Change>,
    parents: Vec<Vec<usize>>,
    children: Vec<Vec<usize>>,
    /// The longest way from a feature without causes.
    depths: Vec<usize>,
}

impl Graph {
    pub fn new(features: &Features, scm: Option<&Scm>) -> Self {
        let count = features.len();
        let parents: Vec<Vec<usize>> =
            (0..count).map(|i| scm.map(|scm| scm.parents(i).to_vec()).unwrap_or_default()).collect();
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); count];
        // Of each, how many causes have no depth yet.
        let mut missing: Vec<usize> = parents.iter().map(Vec::len).collect();
        for (i, causes) in parents.iter().enumerate() {
            causes.iter().for_each(|&cause| children[cause].push(i));
        }
        let mut depths = vec![0; count];
        let mut settled: Vec<usize> = (0..count).filter(|&i| missing[i] == 0).collect();
        while let Some(i) = settled.pop() {
            for &child in &children[i] {
                depths[child] = depths[child].max(depths[i] + 1);
                missing[child] -= 1;
                settled.extend((missing[child] == 0).then_some(child));
            }
        }
        let changes = features.iter().map(|feature| feature.change).collect();
        Self { names: features.names(), changes, parents, children, depths }
    }

    /// Causes before what they cause.
    pub fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.names.len()).collect();
        order.sort_by_key(|&i| (self.depths[i], i));
        order
    }

    /// A line for each feature; above a dot stands a cause of the feature at the arrow.
    ///
    /// ```text
    /// age
    /// │  income
    /// ●──●─▶savings
    /// ```
    pub fn text(&self) -> String {
        let order = self.order();
        let mut rows = vec![0; order.len()];
        order.iter().enumerate().for_each(|(row, &feature)| rows[feature] = row);
        // A cause's line goes on as long as something below follows from it.
        let last: Vec<Option<usize>> =
            order.iter().map(|&cause| self.children[cause].iter().map(|&child| rows[child]).max()).collect();
        let mut text = String::new();
        for (row, &feature) in order.iter().enumerate() {
            let mut is_cause = vec![false; row];
            self.parents[feature].iter().for_each(|&cause| is_cause[rows[cause]] = true);
            let first = is_cause.iter().position(|&is_cause| is_cause);
            let mut line = String::new();
            for column in 0..row {
                let goes_on = last[column].is_some_and(|last| last >= row);
                let is_crossed = first.is_some_and(|first| column >= first);
                line += match (is_cause[column], goes_on, is_crossed) {
                    (true, ..) => "●",
                    (false, true, true) => "┼",
                    (false, true, false) => "│",
                    (false, false, true) => "─",
                    (false, false, false) => " ",
                };
                line += match (is_crossed, column + 1 == row) {
                    (true, true) => "─▶",
                    (true, false) => "──",
                    (false, _) => "  ",
                };
            }
            let _ = writeln!(text, "{line}{}", escape_line(&self.names[feature]));
        }
        text
    }

    /// Whether [`Graph::text`] can be read: its width grows with the number of features.
    pub fn is_readable_as_text(&self) -> bool {
        self.names.len() <= MAX_TEXT_FEATURES
    }

    /// A drawing, from causes on the left to what they cause on the right.
    pub fn svg(&self) -> String {
        Drawing::new(self).svg(self)
    }
}

/// Features of a graph that is drawn as text: 100 make lines of 300 characters.
const MAX_TEXT_FEATURES: usize = 100;

const BOX_HEIGHT: f64 = 44.0;
const PASSAGE_HEIGHT: f64 = 12.0;
const SPACE: f64 = 22.0;
const GAP: f64 = 90.0;
const MARGIN: f64 = 24.0;
/// Widths of a letter, generously.
const LETTER: f64 = 8.6;

/// Something that takes room in a column: a feature, or the passage of an arrow that goes on
/// to a later column.
#[derive(Clone, Debug)]
struct Slot {
    feature: Option<usize>,
    column: usize,
    /// Slots of the previous column from which an arrow comes.
    from: Vec<usize>,
    /// Slots of the next column to which an arrow goes.
    to: Vec<usize>,
    top: f64,
}

impl Slot {
    fn height(&self) -> f64 {
        if self.feature.is_some() { BOX_HEIGHT } else { PASSAGE_HEIGHT }
    }

    fn middle(&self) -> f64 {
        self.top + self.height() / 2.0
    }
}

/// A layered layout: columns by depth, long arrows led through every column on their way, so
/// that no arrow crosses a box.
struct Drawing {
    slots: Vec<Slot>,
    lefts: Vec<f64>,
    widths: Vec<f64>,
    height: f64,
}

impl Drawing {
    fn new(graph: &Graph) -> Self {
        let slot = |feature, column| Slot { feature, column, from: Vec::new(), to: Vec::new(), top: 0.0 };
        let mut slots: Vec<Slot> = (0..graph.names.len()).map(|i| slot(Some(i), graph.depths[i])).collect();
        // The arrows of one cause share their passages.
        for cause in 0..graph.names.len() {
            let mut children = graph.children[cause].clone();
            children.sort_by_key(|&child| (graph.depths[child], child));
            let (mut through, mut column) = (cause, graph.depths[cause]);
            for child in children {
                while column + 1 < graph.depths[child] {
                    column += 1;
                    slots.push(Slot { from: vec![through], ..slot(None, column) });
                    let passage = slots.len() - 1;
                    slots[through].to.push(passage);
                    through = passage;
                }
                slots[child].from.push(through);
                slots[through].to.push(child);
            }
        }
        let count = slots.iter().map(|slot| slot.column).max().unwrap_or(0) + 1;
        let mut columns: Vec<Vec<usize>> = vec![Vec::new(); count];
        slots.iter().enumerate().for_each(|(s, slot)| columns[slot.column].push(s));
        arrange(&mut slots, &mut columns);
        let widths: Vec<f64> = columns
            .iter()
            .map(|column| {
                let names = column.iter().filter_map(|&s| slots[s].feature).map(|i| label_width(graph, i));
                names.fold(60.0, f64::max) + 28.0
            })
            .collect();
        let mut lefts = Vec::with_capacity(count);
        let mut left = MARGIN;
        for width in &widths {
            lefts.push(left);
            left += width + GAP;
        }
        let height = slots.iter().map(|slot| slot.top + slot.height()).fold(0.0, f64::max) + MARGIN;
        Self { slots, lefts, widths, height }
    }

    fn svg(&self, graph: &Graph) -> String {
        let width = self.lefts.iter().zip(&self.widths).map(|(l, w)| l + w).fold(0.0, f64::max) + MARGIN;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {0:.0}\" width=\"{width:.0}\" \
             height=\"{0:.0}\" font-family=\"sans-serif\" font-size=\"14\">\n\
             <title>Causal graph</title>\n\
             <defs><marker id=\"tip\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"8\" markerHeight=\"8\" \
             orient=\"auto\"><path d=\"M0 1 L9 5 L0 9 z\" fill=\"#52606d\"/></marker></defs>\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
            self.height
        );
        for (target, slot) in self.slots.iter().enumerate() {
            // Arrows that meet at a box land one below the other, in the order in which they come.
            let mut sources = slot.from.clone();
            sources.sort_by(|&a, &b| self.slots[a].middle().total_cmp(&self.slots[b].middle()));
            for (place, &source) in sources.iter().enumerate() {
                let landing = slot.top + slot.height() * (place + 1) as f64 / (sources.len() + 1) as f64;
                self.arrow(&mut svg, source, target, landing);
            }
        }
        for slot in &self.slots {
            let Some(feature) = slot.feature else { continue };
            let (left, width) = (self.lefts[slot.column], self.widths[slot.column]);
            let (word, fill, line) = match graph.changes[feature] {
                Change::Fixed => ("fixed", "#f1f4f7", "#9aa5b1"),
                Change::Any => ("may change", "#e3f4e8", "#2f855a"),
                Change::Increase => ("may increase", "#e3f4e8", "#2f855a"),
                Change::Decrease => ("may decrease", "#e3f4e8", "#2f855a"),
            };
            let middle = left + width / 2.0;
            let _ = writeln!(
                svg,
                "<rect x=\"{left:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"{BOX_HEIGHT}\" rx=\"7\" \
                 fill=\"{fill}\" stroke=\"{line}\"/>\n\
                 <text x=\"{middle:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#1f2933\">{}</text>\n\
                 <text x=\"{middle:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"11\" fill=\"#52606d\">{word}</text>",
                slot.top,
                slot.top + 19.0,
                escaped(&graph.names[feature]),
                slot.top + 35.0,
            );
        }
        svg + "</svg>\n"
    }

    /// From the right of one slot to the left of another, and through it if it is a passage.
    fn arrow(&self, svg: &mut String, source: usize, target: usize, end_y: f64) {
        let (from, to) = (&self.slots[source], &self.slots[target]);
        let x = self.lefts[from.column] + self.widths[from.column];
        let end = self.lefts[to.column];
        let y = from.middle();
        let bend = (end - x) / 2.0;
        let _ = write!(
            svg,
            "<path d=\"M{x:.1} {y:.1} C{:.1} {y:.1} {:.1} {end_y:.1} {end:.1} {end_y:.1}",
            x + bend,
            end - bend
        );
        if to.feature.is_none() {
            let _ = write!(svg, " H{:.1}", end + self.widths[to.column]);
        }
        let tip = if to.feature.is_some() { " marker-end=\"url(#tip)\"" } else { "" };
        let _ = writeln!(svg, "\" fill=\"none\" stroke=\"#52606d\" stroke-width=\"1.3\"{tip}/>");
    }
}

/// Orders each column by where the other ends of its arrows are, a few times to and fro, and
/// stacks it around the common middle.
fn arrange(slots: &mut [Slot], columns: &mut [Vec<usize>]) {
    let height = |column: &Vec<usize>, slots: &[Slot]| {
        column.iter().map(|&s| slots[s].height() + SPACE).sum::<f64>() - SPACE
    };
    let tallest = columns.iter().map(|column| height(column, slots)).fold(0.0, f64::max);
    columns.iter().for_each(|column| stack(slots, column, tallest - height(column, slots)));
    for round in 0..8 {
        for step in 1..columns.len() {
            let column = if round % 2 == 0 { step } else { columns.len() - 1 - step };
            let wish = |s: &usize| {
                let ends = if round % 2 == 0 { &slots[*s].from } else { &slots[*s].to };
                match ends.len() {
                    0 => slots[*s].middle(),
                    count => ends.iter().map(|&end| slots[end].middle()).sum::<f64>() / count as f64,
                }
            };
            let mut wishes: Vec<(f64, usize)> = columns[column].iter().map(|s| (wish(s), *s)).collect();
            wishes.sort_by(|a, b| a.0.total_cmp(&b.0));
            columns[column] = wishes.into_iter().map(|(_, s)| s).collect();
            let free = tallest - height(&columns[column], slots);
            stack(slots, &columns[column], free);
        }
    }
}

/// Places the slots of a column one below the other, with half of the free room above.
fn stack(slots: &mut [Slot], column: &[usize], free: f64) {
    let mut top = MARGIN + free / 2.0;
    for &s in column {
        slots[s].top = top;
        top += slots[s].height() + SPACE;
    }
}

fn label_width(graph: &Graph, feature: usize) -> f64 {
    escape_line(&graph.names[feature]).chars().count() as f64 * LETTER
}

/// A text as XML has it: what it cannot hold, such as control characters, is escaped for the reader.
fn escaped(text: &str) -> String {
    escape_line(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use surefoot::{Equation, Feature};

    use super::*;

    /// A graph of features `x0`, `x1`, ... with these arrows, from lower to higher numbers.
    fn graph(count: usize, arrow: impl Fn(usize, usize) -> bool) -> Graph {
        let names: Vec<String> = (0..count).map(|i| format!("x{i}")).collect();
        let features = Features::new(names.iter().map(Feature::new).collect()).unwrap();
        let equation = |i: usize| {
            let parents: Vec<&str> = (0..i).filter(|&p| arrow(p, i)).map(|p| names[p].as_str()).collect();
            (names[i].as_str(), Equation::linear(&parents, vec![1.0; parents.len()], 0.0))
        };
        let scm = Scm::new(&features, (0..count).map(equation).collect()).unwrap();
        Graph::new(&features, Some(&scm))
    }

    #[test]
    fn lines_of_text_cross_and_end() {
        let drawn = graph(4, |from, to| matches!((from, to), (0, 1) | (0, 3) | (1, 2) | (2, 3))).text();
        assert_eq!(drawn, "x0\n●─▶x1\n│  ●─▶x2\n●─────●─▶x3\n");
        let crossing = graph(4, |from, to| matches!((from, to), (0, 2) | (1, 3))).text();
        assert_eq!(crossing, "x0\n│  x1\n●──┼─▶x2\n   ●────▶x3\n");
    }

    #[test]
    fn no_two_boxes_overlap_and_arrows_go_from_column_to_column() {
        let random = &mut ChaCha8Rng::seed_from_u64(1);
        for count in [1, 2, 5, 12, 25] {
            let arrows: Vec<Vec<bool>> = (0..count)
                .map(|_| (0..count).map(|_| random.random_range(0.0..1.0) < 0.3).collect())
                .collect();
            let graph = graph(count, |from, to| arrows[from][to]);
            let drawing = Drawing::new(&graph);
            for (number, slot) in drawing.slots.iter().enumerate() {
                for other in &drawing.slots[..number] {
                    let is_apart =
                        slot.top >= other.top + other.height() || other.top >= slot.top + slot.height();
                    assert!(slot.column != other.column || is_apart);
                }
                assert!(slot.from.iter().all(|&from| drawing.slots[from].column + 1 == slot.column));
                assert!(slot.top >= MARGIN && slot.top + slot.height() <= drawing.height - MARGIN + 1e-9);
            }
            let expected: usize = graph.parents.iter().map(Vec::len).sum();
            assert_eq!(graph.svg().matches("marker-end").count(), expected);
        }
    }
}
