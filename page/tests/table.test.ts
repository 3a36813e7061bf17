import assert from "node:assert/strict";
import { test } from "node:test";
import { readTable } from "../src/table";

test("commas, semicolons and tabs separate cells", () => {
  for (const mark of [",", ";", "\t"]) {
    const text = `id${mark}income\nana${mark} 2400 \r\nben${mark}1800\n\n`;
    assert.deepEqual(readTable(text), { columns: ["id", "income"], rows: [["ana", "2400"], ["ben", "1800"]] });
  }
});

test("quotations may contain separators, line ends and quotes", () => {
  const table = readTable('\ufeffid,job\n"a, b","nurse ""and""\ncook"\n');
  assert.deepEqual(table, { columns: ["id", "job"], rows: [["a, b", 'nurse "and"\ncook']] });
});

test("an empty cell of a single column is an empty line, a quoted one is not", () => {
  assert.deepEqual(readTable('a\n\n""\n1'), { columns: ["a"], rows: [["1"]] });
  assert.deepEqual(readTable('a,b\n"",\n'), { columns: ["a", "b"], rows: [["", ""]] });
});

test("what is no table is refused with its row", () => {
  assert.deepEqual(readTable(""), { fault: "empty" });
  assert.deepEqual(readTable("a,b\n"), { fault: "empty" });
  assert.deepEqual(readTable("a,b\n1,2\n3"), { fault: "cells", row: 2, expected: 2, found: 1 });
  assert.deepEqual(readTable('a,b\n1,"2'), { fault: "quote", row: 1 });
});
