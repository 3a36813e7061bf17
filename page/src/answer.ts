// The answer: the decision, what to do, what follows, and the bars of before and after.

import { bars, key } from "./bars";
import { html, list } from "./dom";
import type { Answer, Letter, Problem, Values } from "./service";
import { capitalised, changeSize, effort, type Speech } from "./words";

/** The status of an answer as a coloured badge and a heading; the colour says nothing that the words do not. */
export function headline(answer: Answer, { strings }: Speech): HTMLElement {
  return html(
    "div",
    { class: `headline ${answer.status}` },
    html("p", { class: "badge" }, strings.badge[answer.status]),
    html("p", { class: "status" }, strings.status[answer.status]),
  );
}

/** Everything about an answer but its proof. `obstacles` is the place for what stands in the way. */
export function answerBody(
  problem: Problem,
  values: Values,
  answer: Answer,
  obstacles: HTMLElement,
  isOwnQuestion: boolean,
  said: Speech,
): HTMLElement[] {
  const { strings, language } = said;
  const about = answer.status === "favourable" ? `${strings.about.favourable} ${strings.notAsked}` : strings.about[answer.status];
  const parts: (HTMLElement | false | undefined)[] = [headline(answer, said), about !== "" && html("p", {}, about)];
  const [option] = answer.options;
  if (option) {
    parts.push(
      html("h3", {}, strings.steps(option.steps.length)),
      list("steps", ...option.steps.map((step) => step.text)),
      option.consequences.length > 0 && html("h3", {}, strings.follows),
      option.consequences.length > 0 && list("consequences", ...option.consequences.map((step) => step.text)),
      html("h3", {}, strings.changes),
      key(said),
      bars(problem.columns, values, option, said),
      html("p", { class: "quiet" }, html("strong", {}, strings.effortOf(effort(option.cost, language))), ". ", strings.effortHelp),
    );
  } else if (answer.status !== "favourable") {
    parts.push(
      isOwnQuestion && answer.status === "impossible" ? html("p", {}, strings.withOwn) : false,
      obstacles,
      answer.status === "undecided" && answer.reason
        ? html("p", { class: "quiet" }, strings.inEnglish, " ", html("span", { lang: "en" }, answer.reason))
        : false,
      html("p", {}, strings.tryLess),
    );
  }
  return parts.filter((part): part is HTMLElement => Boolean(part));
}

/** What stands in the way, which only the letter says in every language. */
export function obstaclesOf(letter: Letter, { strings }: Speech): HTMLElement[] {
  const { obstacles } = letter.letter;
  return obstacles.length > 0 ? [html("h3", {}, strings.obstacles), list("", ...obstacles)] : [];
}

/** What a screen reader is told. */
export function announcement(answer: Answer, { strings }: Speech): string {
  return `${strings.status[answer.status]}. ${stepsOf(answer)}`.trim();
}

/** What stands at the foot of a small screen: what to do if that is proven, otherwise what is known. */
export function inBrief(answer: Answer, { strings }: Speech): string {
  return (answer.status === "found" && stepsOf(answer)) || strings.status[answer.status];
}

function stepsOf(answer: Answer): string {
  return answer.options[0]?.steps.map((step) => step.text).join(" ") ?? "";
}

/** An action that a search has found so far, in a few words: the names of what changes, and by how much. */
export function actionInBrief(problem: Problem, action: Values, said: Speech): string {
  const parts = problem.columns.flatMap((column) => {
    const change = action[column.name];
    if (change === undefined || change === 0) return [];
    const label = capitalised(column.label);
    if (typeof change === "string") {
      return [`${label}: ${column.categories?.find((category) => category.name === change)?.label ?? change}`];
    }
    return [`${label} ${change > 0 ? "+" : "\u2212"}${changeSize(column, change, said)}`];
  });
  return parts.join(", ");
}
