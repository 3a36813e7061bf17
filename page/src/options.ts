// Several ways side by side.

import { bars } from "./bars";
import { html, list } from "./dom";
import type { Answer, Problem, Values } from "./service";
import { effort, type Speech } from "./words";

/** How many ways are asked for. */
export const MOST_OPTIONS = 3;

/** A card for each way, the one with the least effort first. */
export function optionsBody(problem: Problem, values: Values, answer: Answer, said: Speech): HTMLElement {
  const { strings, language } = said;
  if (answer.options.length < 2) return html("p", {}, strings.optionsOne, " ", strings.optionsLock);
  const cards = answer.options.map((option, at) =>
    html(
      "article",
      { class: at === 0 ? "card chosen" : "card" },
      html("h3", {}, strings.option(at + 1)),
      html("p", { class: "quiet" }, strings.effortOf(effort(option.cost, language))),
      list("steps", ...option.steps.map((step) => step.text)),
      option.consequences.length > 0 && html("h4", {}, strings.follows),
      option.consequences.length > 0 && list("consequences", ...option.consequences.map((step) => step.text)),
      bars(problem.columns, values, option, said),
    ),
  );
  return html("div", {}, html("p", { class: "quiet" }, strings.optionsIntro), html("div", { class: "cards" }, ...cards));
}
