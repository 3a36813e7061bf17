// Builds elements. Texts become text nodes: nothing that a person or a service says is ever read as HTML.

export type Child = Node | string | undefined | null | false;
type Listener = (event: Event) => void;
export type Attributes = Record<string, string | number | boolean | undefined | Listener>;

const SVG = "http://www.w3.org/2000/svg";

function fill<E extends Element>(element: E, attributes: Attributes, children: Child[]): E {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== undefined && value !== false) element.setAttribute(name, String(value));
  }
  element.append(...children.filter((child): child is Node | string => Boolean(child)));
  return element;
}

/** An element with attributes (functions are listeners, by the name of their event) and children. */
export function html<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  return fill(document.createElement(tag), attributes, children);
}

/** An element of a drawing. */
export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/** A list of texts or elements. */
export function list(className: string, ...items: Child[]): HTMLUListElement {
  return html("ul", { class: className }, ...items.filter(Boolean).map((item) => html("li", {}, item)));
}

/** Replaces what is in an element. */
export function show(place: Element, ...children: Child[]): void {
  place.replaceChildren(...children.filter((child): child is Node | string => Boolean(child)));
}

/** Offers a text as a file to keep. */
export function download(name: string, type: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = html("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
