import assert from "node:assert/strict";
import { test } from "node:test";
import { awayFromZero, decimal, decimalsFor, parseNumber, percent, significant, towardZero, written } from "../src/numbers";

test("numbers carry the marks of the language", () => {
  assert.equal(decimal(1234567.891, 2, "en"), "1,234,567.89");
  assert.equal(decimal(1234567.891, 2, "de"), "1.234.567,89");
  assert.equal(decimal(-0.5, 1, "en"), "\u22120.5");
  assert.equal(decimal(-0, 1, "en"), "0");
});

test("whole digits are never dropped", () => {
  assert.equal(significant(123456, 4, "en"), "123,456");
  assert.equal(significant(0.00123456, 4, "de"), "0,001235");
  assert.equal(significant(2.5e-12, 3, "en"), "2.50e\u221212");
  assert.equal(decimalsFor(1511.2, 4), 0);
  assert.equal(decimalsFor(15.112, 4), 2);
  assert.equal(decimalsFor(0, 4), 0);
});

test("what is to be done is rounded away from zero, what is covered toward it", () => {
  assert.equal(awayFromZero(733.0567, 1), 733.1);
  assert.equal(awayFromZero(-733.0567, 1), -733.1);
  assert.equal(awayFromZero(500, 0), 500);
  assert.equal(awayFromZero(0.1 + 0.2, 1), 0.3);
  assert.equal(towardZero(733.0967, 1), 733);
  assert.equal(towardZero(-0.29, 1), -0.2);
});

test("numbers are read as the language writes them", () => {
  assert.equal(parseNumber("1,234.5", "en"), 1234.5);
  assert.equal(parseNumber("1.234,5", "de"), 1234.5);
  assert.equal(parseNumber("1.234", "de"), 1234);
  assert.equal(parseNumber("1.234", "en"), 1.234);
  assert.equal(parseNumber(" \u22122 400 ", "en"), -2400);
  assert.equal(parseNumber("2,5", "en"), 2.5);
  assert.equal(parseNumber("2.5", "de"), 2.5);
  assert.equal(parseNumber("1e3", "en"), 1000);
  for (const text of ["", "abc", "1,2,3", "--1", "1.2.3", "Infinity", "1e999", "."]) {
    assert.equal(parseNumber(text, "en"), undefined, text);
  }
});

test("what is written is read back as the same number", () => {
  const numbers = [0, 1, -1, 0.1, 1 / 3, 2400, 1234.5678, -0.00012, 1e-7, 123456789.125, 1e21];
  for (const language of ["en", "de"] as const) {
    for (const number of numbers) assert.equal(parseNumber(written(number, language), language), number);
  }
});

test("shares are rounded up", () => {
  assert.equal(percent(0.0101, "en"), "1.1%");
  assert.equal(percent(0.01, "de"), "1\u00a0%");
});
