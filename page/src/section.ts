// The parts of the page under headings.

import { type Child, html, show } from "./dom";

/** A part of the page with a heading. While it waits for the service what it shows is faded. */
export class Section {
  readonly body = html("div", { class: "section-body" });
  readonly element: HTMLElement;

  /** What stands in `head` stays when another answer is shown. */
  constructor(id: string, heading: string, ...head: HTMLElement[]) {
    const title = html("h2", { id: `${id}-title`, tabindex: "-1" }, heading);
    this.element = html("section", { id, "aria-labelledby": `${id}-title` }, title, ...head, this.body);
    this.element.hidden = true;
  }

  /** Shows an answer. */
  show(...children: Child[]): void {
    this.element.hidden = false;
    this.setBusy(false);
    show(this.body, ...children);
  }

  /** Fades what is shown until the next answer comes. */
  setBusy(isBusy: boolean): void {
    this.element.setAttribute("aria-busy", String(isBusy));
  }

  hide(): void {
    this.element.hidden = true;
    this.setBusy(false);
    show(this.body);
  }
}
