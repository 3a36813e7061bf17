import assert from "node:assert/strict";
import { test } from "node:test";
import { type Draft, draftOf, type Entry, fillIn, read, translate, valueOfCell } from "../src/draft";
import { speech } from "../src/words";
import { column, problem } from "./columns";

const english = speech("en");

function entry(draft: Draft, name: string): Entry {
  const found = draft.get(name);
  assert.ok(found, name);
  return found;
}

test("what is filled in is asked", () => {
  const draft = draftOf(problem, problem.example, "en");
  const found = read(problem, draft, english);
  assert.deepEqual(found.values, problem.example);
  assert.equal(found.faults.size, 0);
  assert.deepEqual([found.locked, found.limits], [[], {}]);
  assert.equal(entry(draft, "bureau").special, "-9");
});

test("numbers are written anew in another language", () => {
  const draft = draftOf(problem, problem.example, "en");
  entry(draft, "income").least = "1.5";
  translate(problem, draft, "en", "de");
  assert.deepEqual([entry(draft, "income").text, entry(draft, "income").least], ["2400,5", "1,5"]);
  assert.deepEqual(read(problem, draft, speech("de")).values, problem.example);
});

test("each fault has its words, and its value is not asked", () => {
  const cases: [string, string, string][] = [
    ["income", "", english.strings.missing],
    ["income", "many", english.strings.notANumber],
    ["income", "20001", "Please choose a value from EUR 0 to EUR 20,000."],
    ["children", "1.5", english.strings.notWhole],
    ["children", "-1", "Please choose a value from 0."],
  ];
  for (const [name, text, fault] of cases) {
    const draft = draftOf(problem, problem.example, "en");
    entry(draft, name).text = text;
    const found = read(problem, draft, english);
    assert.deepEqual([...found.faults], [[name, fault]]);
    assert.ok(!(name in found.values));
  }
});

test("a special value may be outside of the limits", () => {
  const draft = draftOf(problem, problem.example, "en");
  Object.assign(entry(draft, "bureau"), { special: "", text: "-9" });
  assert.equal(read(problem, draft, english).values["bureau"], -9);
});

test("locks and limits are asked where they mean something", () => {
  const draft = draftOf(problem, problem.example, "en");
  Object.assign(entry(draft, "income"), { least: "1,000", most: "" });
  // A special value is not changed, so that limits of it mean nothing.
  Object.assign(entry(draft, "bureau"), { most: "50" });
  entry(draft, "children").isLocked = true;
  entry(draft, "job").isLocked = true;
  const found = read(problem, draft, english);
  assert.deepEqual(found.limits, { income: [1000, null] });
  assert.deepEqual(found.locked, ["job"]);
  entry(draft, "income").isLocked = true;
  assert.deepEqual(read(problem, draft, english).limits, {});
});

test("limits that leave nothing are a fault", () => {
  const draft = draftOf(problem, problem.example, "en");
  Object.assign(entry(draft, "income"), { least: "5", most: "4" });
  assert.deepEqual([...read(problem, draft, english).faults], [["income", english.strings.crossed]]);
});

test("another person keeps locks and limits", () => {
  const draft = draftOf(problem, problem.example, "en");
  entry(draft, "income").isLocked = true;
  fillIn(problem, draft, { income: 10, bureau: 3 }, "en");
  assert.deepEqual([entry(draft, "income").text, entry(draft, "income").isLocked], ["10", true]);
  assert.deepEqual([entry(draft, "bureau").text, entry(draft, "bureau").special], ["3", ""]);
  assert.equal(entry(draft, "job").text, "cook");
});

test("cells of tables are numbers with points, or the names of categories", () => {
  const job = problem.columns[4] ?? column("job");
  assert.equal(valueOfCell(job, "clerk"), "clerk");
  assert.equal(valueOfCell(job, "a clerk"), undefined);
  assert.equal(valueOfCell(column("income"), "1.234"), 1.234);
  assert.equal(valueOfCell(column("children", { kind: "integer" }), "1.5"), undefined);
  assert.equal(valueOfCell(column("income"), ""), undefined);
});
