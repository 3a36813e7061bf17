// The letter: shown in a frame of its own, to print or to keep.

import { download, html } from "./dom";
import type { Letter } from "./service";
import type { Speech } from "./words";

/** The letter as the service wrote it. */
export function letterBody(letter: Letter, name: string, { strings }: Speech): HTMLElement {
  const frame = html("iframe", {
    class: "letter",
    title: strings.letterFrame,
    srcdoc: letter.content,
    // No scripts; the same origin, so that this page can print it and fit its height.
    sandbox: "allow-same-origin allow-modals",
    load: () => {
      const height = frame.contentDocument?.documentElement.scrollHeight ?? 0;
      if (height > 0) frame.style.height = `${height + 4}px`;
    },
  });
  const file = `letter-${name}`.replace(/[^\p{L}\p{N}.-]+/gu, "-");
  return html(
    "div",
    {},
    frame,
    html(
      "p",
      { class: "buttons" },
      html("button", { type: "button", click: () => frame.contentWindow?.print() }, strings.letterPrint),
      html("button", { type: "button", click: () => download(`${file}.html`, "text/html", letter.content) }, strings.letterSave),
    ),
  );
}
