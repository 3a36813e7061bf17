// What changes, before and after, as bars on a common scale.

import { html, svg } from "./dom";
import type { Column, Option, Value, Values } from "./service";
import { amount, capitalised, type Speech } from "./words";

/** What becomes of a column by an action. */
export type Role = "acted" | "held" | "followed" | "unchanged";

/** Less than this share of a standard deviation is rounding. */
const NO_CHANGE = 1e-6;

/** What an action does to a column: it is acted upon, held where it is, follows from others, or stays. */
export function roleOf(column: Column, before: Value | undefined, option: Option): Role {
  const after = option.counterfactual[column.name];
  const isSame = typeof before === "number" && typeof after === "number"
    ? Math.abs(after - before) <= NO_CHANGE * (column.std ?? 1)
    : before === after;
  if (!isSame) return column.name in option.action ? "acted" : "followed";
  return option.steps.some((step) => step.column === column.name) ? "held" : "unchanged";
}

/** The ends of the scale of a column: the usual values and those that are shown, within the limits where they are. */
export function scaleOf(column: Column, shown: number[]): [number, number] {
  const [mean, std] = [column.mean ?? 0, column.std ?? 1];
  let low = mean - 2 * std;
  let high = mean + 2 * std;
  if (column.limits[0] !== null) low = Math.max(low, column.limits[0]);
  if (column.limits[1] !== null) high = Math.min(high, column.limits[1]);
  low = Math.min(low, ...shown);
  high = Math.max(high, ...shown);
  // Amounts that begin near zero begin at zero.
  if (low > 0 && low < high / 2) low = 0;
  return high > low ? [low, high] : [low - 1, high + 1];
}

/** What the colours of bars mean. */
export function key({ strings }: Speech): HTMLElement {
  const entry = (name: string, words: string) => html("li", {}, html("i", { class: name }), words);
  return html("ul", { class: "key", "aria-hidden": "true" }, entry("before", strings.before), entry("after", strings.after));
}

/** The bars of everything that an action changes, holds or moves. */
export function bars(columns: Column[], values: Values, option: Option, said: Speech): HTMLElement {
  const rows = columns.flatMap((column) => {
    const [before, after] = [values[column.name], option.counterfactual[column.name]];
    const role = roleOf(column, before, option);
    if (role === "unchanged" || before === undefined || after === undefined) return [];
    return [row(column, before, after, role, said)];
  });
  return html("ul", { class: "bars" }, ...rows);
}

function row(column: Column, before: Value, after: Value, role: Role, said: Speech): HTMLElement {
  const { strings } = said;
  const [now, then] = [amount(column, before, said), amount(column, after, said)];
  const label = capitalised(column.label);
  return html(
    "li",
    { class: `bar ${role}` },
    html("span", { class: "bar-label" }, label, " ", html("span", { class: `tag ${role}` }, strings[role])),
    drawing(column, before, after, strings.barOf(label, now, then)),
    html("span", { class: "bar-values" }, html("span", { class: "before" }, now), " → ", html("strong", {}, then)),
  );
}

function drawing(column: Column, before: Value, after: Value, label: string): Element {
  if (typeof before === "number" && typeof after === "number") return lengths(column, before, after, label);
  const names = (column.categories ?? []).map((category) => category.name);
  if (!column.ordered) return html("span", { class: "bar-drawing" });
  return levels(names.length, names.indexOf(String(before)), names.indexOf(String(after)), label);
}

/** Two bars from zero, or from the low end of the scale. */
function lengths(column: Column, before: number, after: number, label: string): Element {
  const [low, high] = scaleOf(column, [before, after]);
  const at = (value: number) => (100 * (value - low)) / (high - low);
  const zero = at(Math.min(high, Math.max(low, 0)));
  const bar = (value: number, y: number, height: number, name: string) =>
    svg("rect", {
      class: name,
      x: Math.min(zero, at(value)),
      y,
      width: Math.max(0.6, Math.abs(at(value) - zero)),
      height,
    });
  return svg(
    "svg",
    { class: "bar-drawing", viewBox: "0 0 100 20", preserveAspectRatio: "none", role: "img", "aria-label": label },
    svg("rect", { class: "track", x: 0, y: 0, width: 100, height: 20 }),
    bar(before, 2, 6, "before"),
    bar(after, 10, 8, "after"),
    low < 0 && high > 0 && svg("rect", { class: "zero", x: zero - 0.15, y: 0, width: 0.3, height: 20 }),
  );
}

/** A block for each level, filled up to the one before and the one after. */
function levels(count: number, before: number, after: number, label: string): Element {
  const width = 100 / Math.max(1, count);
  const blocks = Array.from({ length: count }, (_, level) => [
    svg("rect", { class: level <= before ? "before" : "track", x: level * width + 0.5, y: 2, width: width - 1, height: 6 }),
    svg("rect", { class: level <= after ? "after" : "track", x: level * width + 0.5, y: 10, width: width - 1, height: 8 }),
  ]);
  const attributes = { class: "bar-drawing", viewBox: "0 0 100 20", preserveAspectRatio: "none", role: "img", "aria-label": label };
  return svg("svg", attributes, ...blocks.flat());
}
