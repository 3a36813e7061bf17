// What is proven, in plain words; the proof to keep, and to check again.

import { download, html, list, show } from "./dom";
import { percent } from "./numbers";
import type { Answer, Letter, Problem, Question, Service } from "./service";
import { effortAtLeast, shiftSizePromised, type Speech } from "./words";

/** The least share by which another action might take less effort that is worth saying. */
const WORTH_SAYING = 1e-5;

/** The sentences that an answer proves. */
export function provenSentences(answer: Answer, epsilon: number, said: Speech): string[] {
  const { strings, language } = said;
  const size = shiftSizePromised(epsilon, language);
  const [option] = answer.options;
  if (answer.status === "favourable") return [strings.proofFavourable];
  if (answer.status === "unproved") return [strings.proofUnproved];
  if (answer.status === "impossible") return [epsilon > 0 ? strings.proofImpossible(size) : strings.proofImpossibleNow];
  if (answer.status === "undecided" || !option) {
    const bound = answer.cost_bound ?? 0;
    return [strings.proofUndecided, ...(bound > 0 ? [strings.proofUndecidedBound(effortAtLeast(bound, language))] : [])];
  }
  const bound = answer.cost_bound ?? 0;
  const share = option.cost > 0 ? 1 - bound / option.cost : 0;
  return [
    epsilon > 0 ? strings.proofHolds(size) : strings.proofHoldsNow,
    bound <= 0 ? strings.proofNoBound : share > WORTH_SAYING ? strings.proofBound(percent(share, language)) : strings.proofBest,
  ];
}

/** What is allowed for: by how much each value may differ, and what else. The letter says it in every language. */
export function allowedFor(letter: Letter, { strings }: Speech): HTMLElement[] {
  const details = letter.letter.details.filter((detail) => detail.allowed !== null);
  const { allowances } = letter.letter;
  if (details.length + allowances.length === 0) return [];
  const differences = details.map(({ label, value, allowed }) => strings.proofMayDiffer(label, value, allowed ?? ""));
  return [html("h3", {}, strings.proofAllowed), list("", ...differences, ...allowances)];
}

/** What is proven, and the proof. `allowed` is the place for what is allowed for. */
export function proofBody(
  problem: Problem,
  question: Question,
  answer: Answer,
  allowed: HTMLElement,
  service: Service,
  said: Speech,
): HTMLElement {
  const { strings } = said;
  return html(
    "div",
    {},
    list("proven", ...provenSentences(answer, question.epsilon, said)),
    answer.status === "found" && html("p", { class: "quiet" }, strings.proofRounded),
    allowed,
    Boolean(answer.proof) && buttons(problem, question, answer, service, said),
  );
}

function buttons(problem: Problem, question: Question, answer: Answer, service: Service, { strings }: Speech): HTMLElement {
  const verdict = html("p", { role: "status", class: "verdict" });
  const check = html("button", { type: "button", click: () => void run() }, strings.proofCheck);
  const run = async () => {
    check.disabled = true;
    verdict.className = "verdict";
    verdict.textContent = strings.proofChecking;
    const found = await service.verify(question, answer.proof).catch(() => undefined);
    check.disabled = false;
    if (!found) {
      verdict.textContent = strings.away;
      return;
    }
    verdict.className = found.all_verified ? "verdict safe" : "verdict broken";
    const faults = found.results.flatMap((result) => (result.fault ? [result.fault] : []));
    show(verdict, found.all_verified ? strings.proofRight : strings.proofWrong, ...faults.map((fault) => html("span", { lang: "en" }, ` ${fault}`)));
  };
  const isOfProblem = isAsTheProblem(problem, question);
  const { epsilon, locked, limits } = question;
  const name = `proof-${answer.reference ?? answer.id}`.replace(/[^\w.-]+/g, "-");
  const save = () =>
    isOfProblem
      ? download(`${name}.jsonl`, "application/jsonl", `${JSON.stringify(answer.proof)}\n`)
      : download(`${name}.json`, "application/json", JSON.stringify({ problem: problem.name, epsilon, locked, limits, proofs: [answer.proof] }));
  return html(
    "div",
    {},
    answer.reference ? html("p", {}, `${strings.reference}: `, html("code", {}, answer.reference)) : false,
    html("p", { class: "buttons" }, html("button", { type: "button", click: save }, strings.proofSave), check),
    html("p", { class: "quiet" }, isOfProblem ? strings.proofOfProblem : strings.proofOfQuestion),
    verdict,
  );
}

/** Whether a question changes nothing of the problem, so that its proof is one of the problem. */
export function isAsTheProblem(problem: Problem, question: Question): boolean {
  return question.epsilon === problem.epsilon && question.locked.length === 0 && Object.keys(question.limits).length === 0;
}
