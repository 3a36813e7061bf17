// Values, changes and shifts of columns in words.

import { awayFromZero, decimal, decimalsFor, type LanguageCode, significant, towardZero } from "./numbers";
import type { Column, Value } from "./service";
import { LANGUAGES, type Strings } from "./strings";

/** Digits of a standard deviation that matter in sentences. */
const DIGITS = 3;

/** A language, and what columns are called in it. */
export interface Speech {
  language: LanguageCode;
  strings: Strings;
}

export function speech(language: LanguageCode): Speech {
  return { language, strings: LANGUAGES[language] };
}

/** The first letter as a capital, as at the start of a line. */
export function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The decimals with which values of a column are shown. */
export function decimalsOf(column: Column): number {
  return column.kind === "real" ? decimalsFor(column.std ?? 1, DIGITS) : 0;
}

/** A number with at most `decimals` decimals; like the service, with marks between thousands only of amounts with a unit. */
function number(column: Column, value: number, decimals: number, language: LanguageCode): string {
  return decimal(value, decimals, language, column.unit !== null);
}

/** A number with the unit of a column around it. */
function withUnit(column: Column, number: string): string {
  const forms = column.unit;
  if (!forms || forms.length === 0) return number;
  const form = (number === "1" ? forms[0] : forms[forms.length - 1]) ?? "{}";
  return form.includes("{}") ? form.replace("{}", number) : `${number}\u00a0${form}`;
}

/** Whether a column takes its values from a list of texts. */
export function isChosen(column: Column): boolean {
  return column.categories !== null || column.kind === "binary" || isDescribed(column);
}

/** Whether every whole number within the limits has words. */
export function isDescribed(column: Column): boolean {
  const [lower, upper] = column.limits;
  if (column.kind !== "integer" || lower === null || upper === null || upper - lower > 50) return false;
  for (let value = lower; value <= upper; value++) {
    if (!column.described.some((known) => known.value === value)) return false;
  }
  return column.described.length > 0;
}

/** The meaning of a special value of a column; `undefined` if the value is an amount. */
export function specialMeaning(column: Column, value: Value): string | undefined {
  const special = column.special.find((special) => special.value === value);
  return special && (special.meaning ?? String(special.value));
}

/** A value as people read it: with its unit, or in words. */
export function amount(column: Column, value: Value, { language, strings }: Speech): string {
  if (typeof value === "string") {
    return column.categories?.find((category) => category.name === value)?.label ?? value;
  }
  const special = specialMeaning(column, value);
  if (special !== undefined) return special;
  const described = column.described.find((known) => known.value === value);
  if (described) return described.label;
  if (column.kind === "binary" && (value === 0 || value === 1)) return value === 1 ? strings.yes : strings.no;
  // What follows from others need not be whole.
  const decimals = column.kind === "integer" && !Number.isInteger(value) ? 1 : decimalsOf(column);
  const shown = Math.abs(value) >= 1e15 ? significant(value, 4, language) : number(column, value, decimals, language);
  return withUnit(column, shown);
}

/** The size of a change of a number: rounded away from zero, so that it is never less than what was found. */
export function changeSize(column: Column, by: number, { language }: Speech): string {
  const decimals = Math.max(decimalsOf(column), decimalsFor(by, 2));
  return withUnit(column, number(column, awayFromZero(Math.abs(by), decimals), decimals, language));
}

/**
 * A shift in words, the largest first: "income 97 lower and savings 230 lower". Each is measured by the spread of its
 * column; those below a hundredth of the largest are left out.
 */
export function shiftInWords(columns: Column[], shift: Record<string, number>, said: Speech): string {
  const { strings } = said;
  const parts = columns.flatMap((column) => {
    // Texts that are features of their own have no common spread.
    if (column.categories && column.std === null) {
      return column.categories.map((category) => {
        const by = shift[`${column.name}=${category.name}`] ?? 0;
        const words = by < 0 ? strings.less_category : strings.more_category;
        return { size: Math.abs(by), text: words(column.label, category.label) };
      });
    }
    const by = shift[column.name] ?? 0;
    const size = Math.abs(by) / (column.std ?? 1);
    const words = by < 0 ? strings.lower : strings.higher;
    return [{ size, text: words(column.label, shiftSize(column, Math.abs(by), said)) }];
  });
  const largest = Math.max(0, ...parts.map((part) => part.size));
  const counted = parts.filter((part) => part.size > 0 && part.size >= 0.01 * largest);
  counted.sort((a, b) => b.size - a.size);
  return join(counted.map((part) => part.text), strings.and);
}

/** The size of a shift; below what a column's values show it is "less than" that. */
function shiftSize(column: Column, size: number, { language, strings }: Speech): string {
  const least = (column.std ?? 1) * 1e-4;
  if (size < least) {
    const decimals = decimalsFor(least, 1);
    return strings.less(withUnit(column, number(column, awayFromZero(least, decimals), decimals, language)));
  }
  return withUnit(column, number(column, size, decimalsFor(size, DIGITS), language));
}

/** "a, b and c". */
export function join(parts: string[], and: string): string {
  if (parts.length < 2) return parts[0] ?? "";
  return `${parts.slice(0, -1).join(", ")} ${and} ${parts[parts.length - 1]}`;
}

/** An effort, with three digits behind the leading ones. */
export function effort(cost: number, language: LanguageCode): string {
  return significant(cost, 3, language);
}

/** An effort that is proven to be needed at least: rounded down. */
export function effortAtLeast(bound: number, language: LanguageCode): string {
  const decimals = decimalsFor(bound, 3);
  return decimal(towardZero(bound, decimals), decimals, language);
}

/** The size of a shift that is promised: rounded toward zero. */
export function shiftSizePromised(epsilon: number, language: LanguageCode): string {
  const decimals = decimalsFor(epsilon, 4);
  return decimal(towardZero(epsilon, decimals), decimals, language);
}

/** The size of a shift from which on nothing is enough: rounded up. */
export function shiftSizeRuledOut(epsilon: number, language: LanguageCode): string {
  const decimals = decimalsFor(epsilon, 4);
  return decimal(awayFromZero(epsilon, decimals), decimals, language);
}
