// How numbers are written and read in each language.

export type LanguageCode = "en" | "de";

const LOCALES: Record<LanguageCode, string> = { en: "en-GB", de: "de-DE" };

/** A number with at most `decimals` decimals, without trailing zeros. */
export function decimal(value: number, decimals: number, language: LanguageCode, isGrouped = true): string {
  const format = new Intl.NumberFormat(LOCALES[language], {
    maximumFractionDigits: Math.min(20, Math.max(0, decimals)),
    useGrouping: isGrouped,
  });
  // The minus sign of typography, which screen readers read out and which lines up with digits.
  return format.format(value === 0 ? 0 : value).replace("-", "\u2212");
}

/** The number of decimals at which a number has so many significant digits. Whole digits are never dropped. */
export function decimalsFor(value: number, digits: number): number {
  if (value === 0 || !Number.isFinite(value)) return 0;
  return Math.min(20, Math.max(0, digits - 1 - Math.floor(Math.log10(Math.abs(value)))));
}

/** A number with so many significant digits behind the point; whole digits all stand. */
export function significant(value: number, digits: number, language: LanguageCode): string {
  const size = Math.abs(value);
  if (size >= 1e15 || (size > 0 && size < 1e-9)) {
    return value.toExponential(digits - 1).replace("-", "\u2212");
  }
  return decimal(value, decimalsFor(value, digits), language);
}

/** A number rounded away from zero, so that whoever does what is written never does less than what was found. */
export function awayFromZero(value: number, decimals: number): number {
  return rounded(value, decimals, Math.ceil);
}

/** A number rounded toward zero, for what is promised: never more than what is covered. */
export function towardZero(value: number, decimals: number): number {
  return rounded(value, decimals, Math.floor);
}

function rounded(value: number, decimals: number, direction: (size: number) => number): number {
  const scale = 10 ** decimals;
  const scaled = Math.abs(value) * scale;
  const nearest = Math.round(scaled);
  // A difference within the precision of double numbers is none.
  const whole = Math.abs(scaled - nearest) <= 1e-9 * Math.max(1, scaled) ? nearest : direction(scaled);
  return (Math.sign(value) * whole) / scale;
}

/** How a value stands in a field of the form: as many digits as it has. */
export function written(value: number, language: LanguageCode): string {
  const text = decimal(value, 20, language, false);
  return parseNumber(text, language) === value ? text : String(value).replace(".", language === "de" ? "," : ".");
}

/**
 * The number that somebody typed; `undefined` if it is none. The decimal mark is that of the language; marks between
 * thousands are ignored where they stand between groups of three. The other language's decimal mark is understood
 * where it cannot be a mark between thousands.
 */
export function parseNumber(text: string, language: LanguageCode): number | undefined {
  const plain = text.trim().replace(/[\s\u00a0\u202f']/g, "").replace("\u2212", "-");
  const [point, mark] = language === "de" ? [",", "."] : [".", ","];
  const grouped = new RegExp(`^[+-]?\\d{1,3}(\\${mark}\\d{3})+(\\${point}\\d*)?$`);
  let number = plain;
  if (grouped.test(plain)) number = plain.replaceAll(mark, "");
  number = number.replace(point, "*");
  // What is left of the other mark is a decimal mark if it is the only one.
  if (!number.includes("*")) number = number.replace(mark, "*");
  number = number.replace("*", ".");
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(number)) return undefined;
  const value = Number(number);
  return Number.isFinite(value) ? value : undefined;
}

/** A share as a percentage, rounded up to a tenth: what is promised stays true. */
export function percent(share: number, language: LanguageCode): string {
  const number = decimal(Math.ceil(1000 * share - 0.01) / 10, 1, language);
  return language === "de" ? `${number}\u00a0%` : `${number}%`;
}
