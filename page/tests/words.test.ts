import assert from "node:assert/strict";
import { test } from "node:test";
import { actionInBrief } from "../src/answer";
import { breakSize } from "../src/attack";
import { roleOf, scaleOf } from "../src/bars";
import { ticks } from "../src/curve";
import { wrapped } from "../src/graph";
import { provenSentences } from "../src/proof";
import { sliderEnd } from "../src/safety";
import { type Answer, type Option, readEvents, told } from "../src/service";
import { LANGUAGES, preferred } from "../src/strings";
import { amount, changeSize, effortAtLeast, isChosen, shiftInWords, shiftSizePromised, shiftSizeRuledOut, speech } from "../src/words";
import { column, problem } from "./columns";

const [english, german] = [speech("en"), speech("de")];
const income = problem.columns[0] ?? column("income");
const bureau = problem.columns[2] ?? column("bureau");

test("amounts have units, special values and categories their words", () => {
  assert.equal(amount(income, 2400.4, english), "EUR 2,400");
  assert.equal(amount(income, -1234, german), "EUR \u22121.234");
  assert.equal(amount(bureau, -9, english), "no record");
  assert.equal(amount(problem.columns[4] ?? income, "cook", english), "a cook");
  assert.equal(amount(column("owner", { kind: "binary" }), 0, german), "nein");
  const months = column("duration", { kind: "integer", unit: ["{} month", "{} months"] });
  assert.deepEqual([amount(months, 1, english), amount(months, 2, english)], ["1 month", "2 months"]);
  assert.equal(amount(column("index", { std: 0.14 }), 0.05, english), "0.05");
});

test("a change in words is never less than what was found", () => {
  assert.equal(changeSize(income, 1511.03, english), "EUR 1,512");
  assert.equal(changeSize(column("index", { std: 0.14 }), -0.12341, english), "0.124");
  assert.equal(actionInBrief(problem, { income: 10, children: 0, job: "clerk" }, english), "Income +EUR 10, Job: a clerk");
});

test("shifts are told by size, small parts left out", () => {
  const columns = [income, bureau, problem.columns[4] ?? income];
  assert.equal(shiftInWords(columns, { income: -97.1, bureau: 10 }, english), "bureau 10 higher and income EUR 97.1 lower");
  assert.equal(shiftInWords(columns, { income: -97.1, bureau: 0.001 }, german), "income um EUR 97,1 niedriger");
  assert.equal(shiftInWords(columns, { income: -0.0001 }, english), "income less than EUR 0.2 lower");
  assert.equal(shiftInWords(columns, { "job=cook": -0.1 }, english), "job: a part of \u201ca cook\u201d less");
  assert.equal(shiftInWords(columns, {}, english), "");
});

test("promised sizes are rounded down, those ruled out are rounded up", () => {
  assert.equal(shiftSizePromised(0.123456, "en"), "0.1234");
  assert.equal(shiftSizeRuledOut(0.123411, "de"), "0,1235");
  assert.equal(shiftSizePromised(0.1, "en"), "0.1");
  assert.equal(effortAtLeast(1.9999, "en"), "1.99");
});

test("columns with a list of values are chosen from it", () => {
  const described = [0, 1, 2].map((value) => ({ value, label: `level ${value}` }));
  assert.ok(isChosen(column("level", { kind: "integer", limits: [0, 2], described })));
  assert.ok(!isChosen(column("level", { kind: "integer", limits: [0, 3], described })));
  assert.ok(isChosen(column("owner", { kind: "binary" })));
});

test("what becomes of a column by an action", () => {
  const step = { column: "income", label: "", text: "", before: "", after: "" };
  const option: Option = {
    cost: 1,
    cost_bound: 1,
    margin: 0,
    intervention: ["income"],
    action: { income: 10 },
    counterfactual: { income: 2410, bureau: 41, job: "cook", owner: 1 },
    steps: [step],
    consequences: [],
  };
  assert.equal(roleOf(income, 2400, option), "acted");
  assert.equal(roleOf(income, 2410, option), "held");
  assert.equal(roleOf(income, 2400, { ...option, action: {} }), "followed");
  assert.equal(roleOf(bureau, 40, option), "followed");
  assert.equal(roleOf(bureau, 41.000001, option), "unchanged");
  assert.equal(roleOf(problem.columns[4] ?? income, "cook", option), "unchanged");
});

test("scales contain what is shown and begin at zero where that is near", () => {
  assert.deepEqual(scaleOf(income, [2400, 3911]), [0, 6000]);
  assert.deepEqual(scaleOf(income, [2400, 9000]), [0, 9000]);
  assert.deepEqual(scaleOf(column("savings", { mean: -2, std: 5.5 }), [-3, -1]), [-13, 9]);
  assert.deepEqual(scaleOf(column("year", { mean: 2000, std: 5 }), [2001]), [1990, 2010]);
});

test("columns with the same label are told apart by their names", () => {
  const columns = [column("a", { label: "contract" }), column("b", { label: "contract" }), column("c")];
  assert.deepEqual(told({ ...problem, columns }).columns.map(({ label }) => label), ["a", "b", "c"]);
});

test("a shift that breaks an action never seems to be one that it withstands", () => {
  assert.equal(breakSize(0.1000000013, 0.1, english), "just above 0.1");
  assert.equal(breakSize(0.25, 0.1, english), "0.25");
  assert.equal(breakSize(1e-9, 0, german), "fast 0");
});

test("labels of the graph have two lines at most", () => {
  assert.deepEqual(wrapped("income", 8), ["income"]);
  assert.deepEqual(wrapped("length of employment", 12), ["length of", "employment"]);
  assert.deepEqual(wrapped("length of employment in years", 12), ["length of", "employment …"]);
  assert.deepEqual(wrapped("Verhältniszahl", 8), ["Verhält…"]);
});

test("marks of an axis are round and within it", () => {
  assert.deepEqual(ticks(1.06, 6), [0, 0.2, 0.4, 0.6, 0.8, 1]);
  assert.deepEqual(ticks(4.3, 5), [0, 1, 2, 3, 4]);
  assert.deepEqual(ticks(0, 5), [0]);
  for (const highest of [1e-6, 0.013, 7, 99, 12345]) assert.ok(ticks(highest, 6).length <= 7);
});

test("the slider reaches beyond the size of the problem", () => {
  assert.deepEqual([0, 0.1, 0.3, 2].map(sliderEnd), [0.5, 0.5, 2, 10]);
});

test("nothing more is said to be proven than is", () => {
  const option = { cost: 1, cost_bound: 0.99, margin: 0, intervention: [], action: {}, counterfactual: {}, steps: [], consequences: [] };
  const answer = (given: Partial<Answer>): Answer => ({ id: "1", status: "found", cost_bound: 0.99, text: "", reason: null, options: [option], ...given });
  const { strings } = english;
  assert.deepEqual(provenSentences(answer({}), 0.1, english), [strings.proofHolds("0.1"), strings.proofBound("1%")]);
  assert.deepEqual(provenSentences(answer({ cost_bound: 1 }), 0, english), [strings.proofHoldsNow, strings.proofBest]);
  assert.deepEqual(provenSentences(answer({ cost_bound: 0 }), 0, english)[1], strings.proofNoBound);
  assert.deepEqual(provenSentences(answer({ status: "impossible", options: [] }), 0.1, english), [strings.proofImpossible("0.1")]);
  assert.deepEqual(provenSentences(answer({ status: "unproved" }), 0.1, english), [strings.proofUnproved]);
  const undecided = provenSentences(answer({ status: "undecided", options: [], cost_bound: 0.50059 }), 0.1, english);
  assert.deepEqual(undecided, [strings.proofUndecided, strings.proofUndecidedBound("0.5")]);
});

test("events are read when they are whole", () => {
  const { events, rest } = readEvents('event: bound\ndata: {"a":1}\n\n: keep alive\n\nevent: answer\r\ndata: x\r\ndata: y\r\n\r\nevent: pro');
  assert.deepEqual(events, [{ event: "bound", data: '{"a":1}' }, { event: "answer", data: "x\ny" }]);
  assert.equal(rest, "event: pro");
});

test("both languages say everything, and the browser's is preferred", () => {
  const keys = (strings: object) => Object.keys(strings).sort();
  assert.deepEqual(keys(LANGUAGES.de), keys(LANGUAGES.en));
  for (const [key, text] of Object.entries(LANGUAGES.de)) if (typeof text === "string") assert.notEqual(text, "", key);
  assert.equal(preferred(["fr-FR", "de-AT", "en"]), "de");
  assert.equal(preferred(["fr"]), "en");
});
