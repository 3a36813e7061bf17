// The causal graph, with what an action changes and what follows by itself.

import { roleOf, type Role } from "./bars";
import { html, list, svg } from "./dom";
import { layered, type Layout } from "./layout";
import type { Column, Option, Problem, Values } from "./service";
import { amount, capitalised, type Speech } from "./words";

const BOX_HEIGHT = 70;
const LINE_HEIGHT = 15.5;
/** Least and greatest width of a box: two of the narrowest stand side by side on a small screen. */
const BOX_WIDTH = { least: 134, most: 172 };
const GAP = { along: 46, across: 10 };
const MARGIN = 4;
/** About the width of a letter, in bold and in values. */
const LETTER = { bold: 7.7, value: 6.8 };
/** A drawing that is a little too wide is made smaller by at most this factor, so that nothing has to be scrolled. */
const LEAST_SCALE = 0.8;

/** What is drawn of a column. */
interface Shown {
  column: Column;
  role: Role;
  /** The value, before and after if it changes. */
  value: string;
  /** The same for a small box: the value after. */
  short: string;
}

/** The drawing and its text, for a width of so many pixels. */
export function graph(problem: Problem, values: Values, option: Option | undefined, width: number, said: Speech): HTMLElement {
  const { strings } = said;
  const shown = new Map(problem.columns.map((column) => [column.name, shownOf(column, values, option, said)]));
  const columnOf = (feature: string) => (shown.has(feature) ? feature : (feature.split("=")[0] ?? feature));
  const arrows = uniqueArrows(problem.graph.edges.map(({ from, to }) => [columnOf(from), columnOf(to)]));
  const isLinked = (name: string) => arrows.some((arrow) => arrow.includes(name));
  const linked = problem.columns.map((column) => column.name).filter(isLinked);
  const alone = problem.columns.filter((column) => !isLinked(column.name)).map((column) => capitalised(column.label));
  if (linked.length === 0) return html("p", {}, strings.graphNone);
  const layout = layered(linked, arrows);
  const say = (name: string) => capitalised(shown.get(name)?.column.label ?? name);
  const moved = linked.map((name) => shown.get(name)).filter((entry): entry is Shown => entry !== undefined && entry.role !== "unchanged");
  return html(
    "div",
    {},
    html("p", { class: "quiet" }, strings.graphIntro),
    html(
      "div",
      { class: "scroll", role: "region", tabindex: "0", "aria-label": strings.graphDrawing },
      drawing(layout, shown, width, said),
    ),
    alone.length > 0 && html("p", { class: "quiet" }, strings.graphAlone, " ", alone.join(", "), "."),
    html(
      "details",
      {},
      html("summary", {}, strings.graphText),
      list("", ...arrows.map(([from, to]) => strings.graphRow(say(from), say(to)))),
      moved.length > 0 &&
        list("", ...moved.map(({ column, role, value }) => `${capitalised(column.label)}: ${value} (${strings[role]})`)),
    ),
  );
}

function uniqueArrows(arrows: [string, string][]): [string, string][] {
  const seen = new Set<string>();
  return arrows.filter(([from, to]) => {
    const key = JSON.stringify([from, to]);
    return from !== to && !seen.has(key) && Boolean(seen.add(key));
  });
}

function shownOf(column: Column, values: Values, option: Option | undefined, said: Speech): Shown {
  const before = values[column.name];
  const after = option?.counterfactual[column.name];
  const role = option ? roleOf(column, before, option) : "unchanged";
  const now = before === undefined ? "" : amount(column, before, said);
  if (after === undefined || (role !== "acted" && role !== "followed")) return { column, role, value: now, short: now };
  const then = amount(column, after, said);
  return { column, role, value: `${now} → ${then}`, short: `→ ${then}` };
}

/** The widest boxes with which a drawing fits a width, and how wide it is with them: with causes above their effects
 *  (`tall`) or left of them. */
function fitted(layout: Layout, available: number, tall: boolean): { box: number; width: number } {
  const [count, gap] = tall ? [layout.height, GAP.across] : [layout.layers, GAP.along];
  const around = 2 * MARGIN + (count - 1) * gap;
  const box = Math.min(BOX_WIDTH.most, Math.max(BOX_WIDTH.least, Math.floor((available - around) / count)));
  return { box, width: around + count * box };
}

function drawing(layout: Layout, shown: Map<string, Shown>, available: number, said: Speech): SVGElement {
  const [level, upright] = [fitted(layout, available, false), fitted(layout, available, true)];
  // Causes stand above their effects where only that fits, or where both have to be scrolled and it is narrower.
  const tall = level.width > available && upright.width < level.width;
  const { box: boxWidth, width } = tall ? upright : level;
  const height = tall
    ? layout.layers * BOX_HEIGHT + (layout.layers - 1) * GAP.along + 2 * MARGIN
    : layout.height * BOX_HEIGHT + (layout.height - 1) * GAP.across + 2 * MARGIN;
  const [boxAlong, boxAcross] = tall ? [BOX_HEIGHT, boxWidth] : [boxWidth, BOX_HEIGHT];
  /** The middle of a place: along the arrows, and across. */
  const along = (layer: number) => MARGIN + layer * (boxAlong + GAP.along) + boxAlong / 2;
  const across = (place: number) => MARGIN + place * (boxAcross + GAP.across) + boxAcross / 2;
  const point = (a: number, c: number) => (tall ? `${c},${a}` : `${a},${c}`);
  const nodeOf = new Map(layout.nodes.map((node) => [node.name, node]));
  const edges = layout.edges.map(({ from, to, bends }) => {
    const [start, end] = [nodeOf.get(from), nodeOf.get(to)];
    if (!start || !end) return undefined;
    let [a, c] = [along(start.layer) + boxAlong / 2, across(start.place)];
    let path = `M${point(a, c)}`;
    const curveTo = (nextA: number, nextC: number) => {
      const middle = (a + nextA) / 2;
      path += ` C${point(middle, c)} ${point(middle, nextC)} ${point(nextA, nextC)}`;
      [a, c] = [nextA, nextC];
    };
    for (const bend of bends) {
      curveTo(along(bend.layer) - boxAlong / 2, across(bend.place));
      a += boxAlong;
      path += ` L${point(a, c)}`;
    }
    curveTo(along(end.layer) - boxAlong / 2 - 7, across(end.place));
    const head = [point(a + 6, c), point(a - 2, c - 4.5), point(a - 2, c + 4.5)].join(" ");
    const isMoved = isMoving(shown.get(from)) && shown.get(to)?.role === "followed";
    return svg("g", { class: isMoved ? "edge moved" : "edge" }, svg("path", { d: path }), svg("polygon", { points: head }));
  });
  const boxes = layout.nodes.map((node) => {
    const entry = shown.get(node.name);
    const [x, y] = tall ? [across(node.place), along(node.layer)] : [along(node.layer), across(node.place)];
    return entry && box(entry, x - boxWidth / 2, y - BOX_HEIGHT / 2, boxWidth, said);
  });
  const scale = width > available && available >= LEAST_SCALE * width ? available / width : 1;
  return svg(
    "svg",
    { class: "graph", width: scale * width, height: scale * height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": said.strings.graphDrawing },
    ...edges,
    ...boxes,
  );
}

function isMoving(entry: Shown | undefined): boolean {
  return entry?.role === "acted" || entry?.role === "followed";
}

function box(entry: Shown, x: number, y: number, width: number, { strings }: Speech): SVGElement {
  const { column, role, value, short } = entry;
  const label = capitalised(column.label);
  const most = Math.floor((width - 8) / LETTER.value);
  const lines: [string, string][] = wrapped(label, Math.floor((width - 8) / LETTER.bold)).map((line) => ["node-label", line]);
  lines.push(["node-value", shortened(value.length > most ? short : value, most)]);
  if (role !== "unchanged") lines.push(["node-role", strings[role]]);
  const top = y + (BOX_HEIGHT - lines.length * LINE_HEIGHT) / 2 + 12;
  return svg(
    "g",
    { class: `node ${role}` },
    svg("title", {}, `${label}: ${value}`),
    svg("rect", { x, y, width, height: BOX_HEIGHT, rx: 9 }),
    ...lines.map(([name, line], at) =>
      svg("text", { class: name, x: x + width / 2, y: top + at * LINE_HEIGHT, "text-anchor": "middle" }, line),
    ),
  );
}

/** A text in at most two lines. */
export function wrapped(text: string, most: number): string[] {
  if (text.length <= most) return [text];
  const end = text.lastIndexOf(" ", most);
  if (end <= 0) return [shortened(text, most)];
  return [text.slice(0, end), shortened(text.slice(end + 1), most)];
}

function shortened(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}
