// What somebody has filled in, and what of it can be asked.

import { type LanguageCode, parseNumber, written } from "./numbers";
import type { Column, Problem, Value, Values } from "./service";
import { amount, isChosen, type Speech } from "./words";

/** What is filled in for one column, as it was typed. */
export interface Entry {
  /** The number, or the name of the choice. */
  text: string;
  /** The special value that was chosen instead of an amount; empty if none. */
  special: string;
  isLocked: boolean;
  least: string;
  most: string;
}

export type Draft = Map<string, Entry>;

/** What can be asked of a draft, and what is wrong with it, by column. */
export interface Read {
  values: Values;
  locked: string[];
  limits: Record<string, [number | null, number | null]>;
  faults: Map<string, string>;
}

/** A draft with the values of a person; nothing is locked or limited. */
export function draftOf(problem: Problem, values: Values, language: LanguageCode): Draft {
  const empty = () => ({ text: "", special: "", isLocked: false, least: "", most: "" });
  const draft: Draft = new Map(problem.columns.map((column) => [column.name, empty()]));
  fillIn(problem, draft, values, language);
  return draft;
}

/** Fills values in; what is locked and limited stays. */
export function fillIn(problem: Problem, draft: Draft, values: Values, language: LanguageCode): void {
  for (const column of problem.columns) {
    const [entry, value] = [draft.get(column.name), values[column.name]];
    if (!entry || value === undefined) continue;
    entry.special = "";
    if (typeof value === "string") entry.text = value;
    else if (isChosen(column)) entry.text = String(value);
    else if (column.special.some((special) => special.value === value)) entry.special = String(value);
    else entry.text = written(roundedToShow(value), language);
  }
}

/** Twelve digits: what a person has typed is never longer, and rounding errors are. */
function roundedToShow(value: number): number {
  return Number(value.toPrecision(12));
}

/** The value of a column in a cell of a table; `undefined` if it is none. Tables are written with decimal points. */
export function valueOfCell(column: Column, cell: string): Value | undefined {
  if (column.categories) return column.categories.find((category) => category.name === cell)?.name;
  const value = parseNumber(cell, "en");
  if (value === undefined) return undefined;
  const isListed = column.special.some((special) => special.value === value);
  const isWhole = column.kind === "real" || Number.isInteger(value);
  return isListed || isWhole ? value : undefined;
}

/** Writes typed numbers with the marks of another language. */
export function translate(problem: Problem, draft: Draft, from: LanguageCode, to: LanguageCode): void {
  const again = (text: string) => {
    const value = parseNumber(text, from);
    return value === undefined ? text : written(value, to);
  };
  for (const column of problem.columns) {
    const entry = draft.get(column.name);
    if (!entry) continue;
    if (!isChosen(column)) entry.text = again(entry.text);
    [entry.least, entry.most] = [again(entry.least), again(entry.most)];
  }
}

/** Whether somebody may state limits of their own: of numbers that an action may change. */
export function mayLimit(column: Column): boolean {
  return column.actionable && !isChosen(column) && column.kind !== "category";
}

/** Whether a value may be followed by something else than it is: locked where an action could change it. */
export function mayLock(column: Column): boolean {
  return column.actionable;
}

/** "from 0 to 20,000"; empty without limits. */
export function rangeOf(column: Column, said: Speech): string {
  const [lower, upper] = column.limits;
  const { strings } = said;
  if (lower !== null && upper !== null) return strings.between(amount(column, lower, said), amount(column, upper, said));
  if (lower !== null) return strings.from(amount(column, lower, said));
  return upper === null ? "" : strings.upTo(amount(column, upper, said));
}

/** What a draft asks, or what is wrong with it. */
export function read(problem: Problem, draft: Draft, said: Speech): Read {
  const found: Read = { values: {}, locked: [], limits: {}, faults: new Map() };
  for (const column of problem.columns) {
    const entry = draft.get(column.name);
    if (!entry) continue;
    const value = valueOf(column, entry, said);
    if (value.fault !== undefined) found.faults.set(column.name, value.fault);
    else found.values[column.name] = value.value;
    if (entry.isLocked && mayLock(column)) found.locked.push(column.name);
    else if (mayLimit(column) && entry.special === "") readLimits(column, entry, said, found);
  }
  return found;
}

type Checked = { value: Value; fault?: undefined } | { fault: string };

function valueOf(column: Column, entry: Entry, said: Speech): Checked {
  const { strings } = said;
  if (entry.special !== "") return { value: Number(entry.special) };
  if (entry.text.trim() === "") return { fault: strings.missing };
  if (column.categories) return { value: entry.text };
  const value = isChosen(column) ? Number(entry.text) : parseNumber(entry.text, said.language);
  if (value === undefined) return { fault: strings.notANumber };
  if (column.kind !== "real" && !Number.isInteger(value)) return { fault: strings.notWhole };
  const [lower, upper] = column.limits;
  const isSpecial = column.special.some((special) => special.value === value);
  const isOutside = (lower !== null && value < lower) || (upper !== null && value > upper);
  if (isOutside && !isSpecial) return { fault: strings.outside(rangeOf(column, said)) };
  return { value };
}

function readLimits(column: Column, entry: Entry, said: Speech, found: Read): void {
  const { strings, language } = said;
  const bound = (text: string) => (text.trim() === "" ? null : parseNumber(text, language));
  const [least, most] = [bound(entry.least), bound(entry.most)];
  if (least === undefined || most === undefined) found.faults.set(column.name, strings.notANumber);
  else if (least !== null && most !== null && least > most) found.faults.set(column.name, strings.crossed);
  else if (least !== null || most !== null) found.limits[column.name] = [least, most];
}
