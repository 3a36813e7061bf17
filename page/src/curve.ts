// The trade-off curve: what each size of shift costs.

import { html, show, svg } from "./dom";
import { decimal, type LanguageCode, significant } from "./numbers";
import type { Point, TradeOff } from "./service";
import { effort, effortAtLeast, shiftSizePromised, shiftSizeRuledOut, type Speech } from "./words";

/** Least and greatest width, and the height, in pixels: letters keep their size on every screen. */
const SIZE = { least: 280, most: 700, height: 260 };
const FRAME = { left: 52, right: 14, top: 16, bottom: 44 };

/** Shifts of so many standard deviations are larger than any that mean something. */
const EVERY_SIZE = 1000;

/** Steps of an axis that are easy to read: 1, 2 or 5 times a power of ten, at most `most` of them. */
export function ticks(highest: number, most: number): number[] {
  if (!(highest > 0)) return [0];
  const rough = highest / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= rough) ?? 10 * power;
  const count = Math.floor(highest / step + 1e-9);
  // A product of a whole number and the step, without the rounding of repeated sums.
  return Array.from({ length: count + 1 }, (_, at) => Number((at * step).toPrecision(12)));
}

/** A point with an action and its effort. */
type Found = Point & { cost: number };

function isFound(point: Point): point is Found {
  return point.cost !== null;
}

/** The drawing of a curve with the present question, its summary, and a table to choose from. */
export function curve(
  found: TradeOff,
  now: { epsilon: number; cost: number | null },
  choose: (epsilon: number) => void,
  width: number,
  said: Speech,
): HTMLElement {
  const { strings, language } = said;
  const { possible, impossible } = found.reach;
  const sentences = [
    possible !== null &&
      (possible > EVERY_SIZE ? strings.curveAny : strings.curvePossible(shiftSizePromised(possible, language))),
    impossible !== null && strings.curveImpossible(shiftSizeRuledOut(impossible, language)),
  ].filter(Boolean);
  return html(
    "div",
    {},
    html("p", { class: "quiet" }, strings.curveIntro),
    found.points.some(isFound) && drawing(found, now, choose, Math.min(SIZE.most, Math.max(SIZE.least, width)), said),
    html("p", {}, sentences.join(" ")),
    table(found.points, now.epsilon, choose, said),
  );
}

function summary(points: Found[], { strings, language }: Speech): string {
  const [first, last] = [points[0], points[points.length - 1]];
  if (!first || !last) return strings.curve;
  const number = (value: number) => significant(value, 3, language);
  return strings.curveSummary(number(first.epsilon), number(last.epsilon), number(first.cost), number(last.cost));
}

function drawing(
  found: TradeOff,
  now: { epsilon: number; cost: number | null },
  choose: (epsilon: number) => void,
  width: number,
  said: Speech,
): SVGElement {
  const { strings, language } = said;
  const points = found.points.filter(isFound);
  const right = Math.max(now.epsilon, ...found.points.map((point) => point.epsilon), 1e-9) * 1.06;
  const top = Math.max(now.cost ?? 0, ...points.map((point) => point.cost), 1e-9) * 1.1;
  const x = (epsilon: number) => FRAME.left + ((width - FRAME.left - FRAME.right) * epsilon) / right;
  const y = (cost: number) => SIZE.height - FRAME.bottom - ((SIZE.height - FRAME.bottom - FRAME.top) * cost) / top;
  const floor = y(0);
  const none = found.reach.impossible;
  return svg(
    "svg",
    { class: "curve", width, height: SIZE.height, viewBox: `0 0 ${width} ${SIZE.height}`, role: "img", "aria-label": summary(points, said) },
    ...axes(right, top, x, y, language),
    svg("text", { class: "axis-name", x: (FRAME.left + width - FRAME.right) / 2, y: SIZE.height - 6, "text-anchor": "middle" }, strings.curveX),
    svg("text", { class: "axis-name", x: 14, y: (FRAME.top + floor) / 2, "text-anchor": "middle", transform: `rotate(-90 14 ${(FRAME.top + floor) / 2})` }, strings.curveY),
    ...(none !== null && none < right
      ? [
          svg("rect", { class: "none", x: x(none), y: FRAME.top, width: x(right) - x(none), height: floor - FRAME.top }),
          svg("text", { class: "none-name", x: x(none) - 6, y: FRAME.top + 12, "text-anchor": "end" }, `${strings.curveNone} →`),
        ]
      : []),
    svg("path", { class: "line", d: points.map((point, at) => `${at ? "L" : "M"}${x(point.epsilon)},${y(point.cost)}`).join(" ") }),
    ...points.map((point) => spot(point, x, y, choose, said)),
    svg("line", { class: "now", x1: x(now.epsilon), x2: x(now.epsilon), y1: FRAME.top, y2: floor }),
    now.cost !== null && svg("circle", { class: "now", cx: x(now.epsilon), cy: y(now.cost), r: 7 }),
    svg("text", { class: "now-name", x: x(now.epsilon) + (now.epsilon > right / 2 ? -6 : 6), y: FRAME.top + 30, "text-anchor": now.epsilon > right / 2 ? "end" : "start" }, strings.curveNow),
  );
}

function axes(right: number, top: number, x: (v: number) => number, y: (v: number) => number, language: LanguageCode): SVGElement[] {
  const floor = y(0);
  const below = ticks(right, (x(right) - x(0)) / 80).flatMap((value) => [
    svg("line", { class: "grid", x1: x(value), x2: x(value), y1: floor, y2: floor + 5 }),
    svg("text", { class: "tick", x: x(value), y: floor + 18, "text-anchor": "middle" }, significant(value, 3, language)),
  ]);
  const beside = ticks(top, 5).flatMap((value) => [
    svg("line", { class: "grid", x1: FRAME.left, x2: x(right), y1: y(value), y2: y(value) }),
    svg("text", { class: "tick", x: FRAME.left - 7, y: y(value) + 4, "text-anchor": "end" }, significant(value, 3, language)),
  ]);
  return [...beside, ...below];
}

/** A point, with a line down to the proven lower bound. The table has the same for the keyboard. */
function spot(point: Found, x: (v: number) => number, y: (v: number) => number, choose: (epsilon: number) => void, { language, strings }: Speech): SVGElement {
  const place = x(point.epsilon);
  const words = `${strings.curveSize} ${significant(point.epsilon, 3, language)}: ${strings.effortOf(effort(point.cost, language))}`;
  return svg(
    "g",
    { class: "spot", click: () => choose(point.epsilon) },
    svg("title", {}, words),
    point.cost_bound !== null &&
      svg("line", { class: "bound", x1: place, x2: place, y1: y(point.cost), y2: y(point.cost_bound) }),
    svg("circle", { cx: place, cy: y(point.cost), r: 4.5 }),
    svg("circle", { class: "target", cx: place, cy: y(point.cost), r: 14 }),
  );
}

function table(points: Point[], now: number, choose: (epsilon: number) => void, said: Speech): HTMLElement {
  const { strings, language } = said;
  const number = (value: number | null, words: (value: number, language: LanguageCode) => string) =>
    value === null ? "–" : words(value, language);
  const rows = points.map((point) => {
    const size = significant(point.epsilon, 3, language);
    const way = point.option
      ? point.option.steps.map((step) => step.text).join(" ")
      : point.status === "impossible" ? strings.curveNone : strings.curveOpen;
    return html(
      "tr",
      { class: Math.abs(point.epsilon - now) < 1e-12 ? "current" : undefined },
      html("th", { scope: "row" }, size),
      html("td", {}, number(point.cost, effort)),
      html("td", {}, number(point.cost_bound, effortAtLeast)),
      html("td", { class: "text" }, way),
      html("td", {}, html("button", { type: "button", class: "small", "aria-label": strings.curveUseOf(size), click: () => choose(point.epsilon) }, strings.curveUse)),
    );
  });
  const head = [strings.curveSize, strings.effort, strings.curveBound].map((name) => html("th", { scope: "col" }, name));
  const holder = html("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": strings.curveText });
  show(
    holder,
    html(
      "table",
      {},
      html("thead", {}, html("tr", {}, ...head, html("th", { scope: "col", class: "text" }, strings.curveWay), html("td", {}))),
      html("tbody", {}, ...rows),
    ),
  );
  return html("details", {}, html("summary", {}, strings.curveText), holder);
}

/** A number of the slider: as many decimals as its step has. */
export function sliderNumber(value: number, step: number, language: LanguageCode): string {
  return decimal(value, Math.max(0, Math.ceil(-Math.log10(step))), language);
}
