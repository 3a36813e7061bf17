// The attack view: which shift breaks the cheapest action, and that it does not break this one.

import { html, list, svg } from "./dom";
import { percent, significant } from "./numbers";
import type { Answer, Attack, Attacked, Problem } from "./service";
import { effort, shiftInWords, shiftSizePromised, type Speech } from "./words";

/** Below this size a shift is a rounding error. */
const ROUNDING = 1e-6;

/** Both actions side by side, each with the smallest shift that was found to break it. */
export function attackBody(problem: Problem, answer: Answer, attack: Attack, epsilon: number, said: Speech): HTMLElement {
  const { strings, language } = said;
  const { cheapest, attack: own } = attack;
  const [option] = answer.options;
  const isProven = answer.status === "found";
  if (!cheapest || !own || !option) return html("p", {}, strings.attackNoCheapest);
  // The service lists columns in one order.
  const isSame = isProven && JSON.stringify(cheapest.action) === JSON.stringify(option.action);
  const more = cheapest.cost > 0 ? option.cost / cheapest.cost - 1 : 0;
  return html(
    "div",
    {},
    html("p", { class: "quiet" }, strings.attackIntro),
    isSame && html("p", {}, strings.attackEqual),
    html(
      "div",
      { class: "cards" },
      html(
        "article",
        { class: "card" },
        html("h3", {}, strings.attackCheapest),
        html("p", { class: "quiet" }, strings.effortOf(effort(cheapest.cost, language))),
        list("steps", ...cheapest.steps.map((step) => step.text)),
        html("p", { class: cheapest.broken ? "verdict broken" : "verdict" }, ...breaking(problem, cheapest, said)),
      ),
      html(
        "article",
        { class: "card chosen" },
        html("h3", {}, strings.attackThis),
        html("p", { class: "quiet" }, strings.effortOf(effort(option.cost, language))),
        list("steps", ...option.steps.map((step) => step.text)),
        html("p", { class: own.broken ? "verdict broken" : "verdict safe" }, withstanding(own, cheapest, isProven, said)),
      ),
    ),
    more > 1e-4 && html("p", {}, strings.attackMore(percent(more, language))),
    sizes(cheapest, own, isProven ? epsilon : 0, said),
  );
}

/** How the cheapest action fails: by a shift that can be imagined, if there is one of the size guarded against. */
function breaking(problem: Problem, cheapest: Attacked, said: Speech): string[] {
  const { strings, language } = said;
  const { smallest_break: size, shift, counterexample } = cheapest;
  if (size === null || !shift) return [strings.attackNothing];
  const sentence = (shift: Record<string, number>) => {
    const words = shiftInWords(problem.columns, shift, said);
    return words && strings.attackShift(words);
  };
  if (!cheapest.broken) return [strings.attackLargerOnly(significant(size, 3, language)), " ", sentence(shift)];
  const example = sentence(counterexample?.shift ?? shift);
  return size < ROUNDING || !example ? [strings.attackAtOnce, " ", example] : [example];
}

/** What is known of this action under shifts of the size that is guarded against. */
function withstanding(own: Attacked, cheapest: Attacked, isProven: boolean, { strings, language }: Speech): string {
  if (own.broken) return strings.attackBroken(significant(own.smallest_break ?? 0, 3, language));
  if (!isProven) return strings.attackTried;
  return cheapest.broken ? `${strings.attackThat} ${strings.attackNone}` : strings.attackNone;
}

/** The size of a shift that breaks an action which is proven to withstand another size. */
export function breakSize(broken: number, proven: number, { strings, language }: Speech): string {
  if (broken < ROUNDING) return strings.attackAlmostNone;
  const size = significant(broken, 3, language);
  return broken > proven && size === significant(proven, 3, language) ? strings.attackJustAbove(size) : size;
}

/** How large a shift has to be before each action fails. */
function sizes(cheapest: Attacked, own: Attacked, proven: number, said: Speech): HTMLElement | false {
  const { strings, language } = said;
  const highest = Math.max(proven, cheapest.smallest_break ?? 0, own.smallest_break ?? 0) * 1.05;
  if (!(highest > 0)) return false;
  const row = (name: string, broken: number | null, safe: number) => {
    const words = [
      safe > 0 && `${strings.attackProven}: ${shiftSizePromised(safe, language)}`,
      broken !== null && `${strings.attackFound}: ${breakSize(broken, safe, said)}`,
    ].filter(Boolean);
    return html(
      "li",
      { class: "bar" },
      html("span", { class: "bar-label" }, name),
      svg(
        "svg",
        { class: "bar-drawing sizes", viewBox: "0 0 100 20", preserveAspectRatio: "none", "aria-hidden": "true" },
        svg("rect", { class: "track", x: 0, y: 0, width: 100, height: 20 }),
        safe > 0 && svg("rect", { class: "safe", x: 0, y: 4, width: (100 * safe) / highest, height: 12 }),
        broken !== null && svg("rect", { class: "break", x: Math.min(99, (100 * broken) / highest), y: 0, width: 1, height: 20 }),
      ),
      html("span", { class: "bar-values" }, words.join("; ")),
    );
  };
  return html(
    "div",
    {},
    html("h3", {}, strings.attackBars),
    html(
      "ul",
      { class: "bars" },
      row(strings.attackCheapest, cheapest.smallest_break, 0),
      row(strings.attackThis, own.smallest_break, proven),
    ),
  );
}
