// Errors in kind words: what happened, what can be done, and what the service says about it.

import { html } from "./dom";
import { ServiceError } from "./service";
import type { Strings } from "./strings";

/** What happened and what to do, in the language of the page. */
function inWords(error: unknown, strings: Strings): { title: string; advice: string; detail: string } {
  if (!(error instanceof ServiceError)) return { title: strings.failed, advice: "", detail: String(error) };
  const { status, kind, detail, title } = error;
  if (status === 0 || status === 503) return { title: strings.away, advice: strings.awayDetail, detail: "" };
  if (status === 429) return { title: strings.busy, advice: strings.busyDetail, detail: "" };
  if (kind === "time-limit") return { title: strings.slowTitle, advice: strings.slowDetail, detail };
  if (kind === "unknown-problem") return { title: strings.noProblem, advice: "", detail };
  if (status >= 500) return { title: strings.internal, advice: "", detail };
  return { title: strings.invalid, advice: "", detail: detail || title };
}

/** An error with a button to ask again. The words of the service are English whatever the language of the page. */
export function failureBox(error: unknown, strings: Strings, retry: () => void): HTMLElement {
  const { title, advice, detail } = inWords(error, strings);
  const id = error instanceof ServiceError ? error.requestId : "";
  return html(
    "div",
    { class: "failure", role: "alert" },
    html("p", {}, html("strong", {}, title), "."),
    advice !== "" && html("p", {}, advice),
    detail !== "" && html("p", {}, strings.inEnglish, " ", html("span", { lang: "en" }, detail)),
    id !== "" && html("p", { class: "quiet" }, strings.requestId(id)),
    html("p", {}, html("button", { type: "button", click: retry }, strings.retry)),
  );
}

/** That a later part could not be had, in one line. */
export function partFailed(error: unknown, strings: Strings, retry: () => void): HTMLElement {
  const { title, detail } = inWords(error, strings);
  return html(
    "p",
    { class: "failure" },
    `${strings.partFailed} ${title}. `,
    detail !== "" && html("span", { lang: "en" }, detail, " "),
    html("button", { type: "button", class: "small", click: retry }, strings.retry),
  );
}
