// The form of a person: a row for each column, with what may not be changed and limits of one's own.

import { type Draft, type Entry, mayLimit, mayLock, rangeOf, read, type Read } from "./draft";
import { html, show } from "./dom";
import { decimal, parseNumber, written } from "./numbers";
import type { Column, Problem } from "./service";
import { capitalised, decimalsOf, isChosen, type Speech } from "./words";

export class Form {
  readonly element = html("div", { class: "fields" });
  private readonly faults = new Map<string, HTMLElement>();

  constructor(
    private readonly problem: Problem,
    readonly draft: Draft,
    private readonly said: Speech,
    private readonly onChange: () => void,
  ) {
    this.render();
  }

  /** Draws every row anew, as after a person was taken from a table. */
  render(): void {
    this.faults.clear();
    show(this.element, ...this.problem.columns.map((column) => this.row(column)));
  }

  /** What is filled in. Faults are shown beside their fields. */
  read(): Read {
    const found = read(this.problem, this.draft, this.said);
    for (const [name, place] of this.faults) {
      const fault = found.faults.get(name) ?? "";
      if (place.textContent !== fault) place.textContent = fault;
      const row = place.closest(".field");
      row?.classList.toggle("wrong", fault !== "");
      const isOfLimits = fault === this.said.strings.crossed;
      row?.querySelectorAll<HTMLElement>(".value-input").forEach((input) => {
        if (fault && !isOfLimits) input.setAttribute("aria-invalid", "true");
        else input.removeAttribute("aria-invalid");
      });
    }
    return found;
  }

  private row(column: Column): HTMLElement {
    const entry = this.draft.get(column.name) as Entry;
    const id = `field-${this.problem.columns.indexOf(column)}`;
    const fault = html("p", { class: "fault", id: `${id}-fault` });
    this.faults.set(column.name, fault);
    const hint = this.hint(column);
    const described = [hint && `${id}-hint`, `${id}-fault`].filter(Boolean).join(" ");
    return html(
      "div",
      { class: "field", role: "group", "aria-labelledby": `${id}-label` },
      html("label", { for: id, id: `${id}-label` }, capitalised(column.label)),
      html("div", { class: "value" }, ...this.inputs(column, entry, id, described)),
      hint && html("p", { class: "hint", id: `${id}-hint` }, hint),
      fault,
      mayLock(column) && this.lock(column, entry),
      mayLimit(column) && this.limits(column, entry, id),
    );
  }

  private hint(column: Column): string {
    const { strings, language } = this.said;
    if (!column.actionable) return strings.fixed;
    const parts = [isChosen(column) ? "" : rangeOf(column, this.said), strings.goes[column.change] ?? ""];
    if (column.step !== null) parts.push(strings.inSteps(decimal(column.step, 10, language)));
    return parts.filter(Boolean).join("; ");
  }

  private inputs(column: Column, entry: Entry, id: string, described: string): HTMLElement[] {
    const { strings } = this.said;
    if (isChosen(column)) return [this.choice(column, entry, id, described)];
    const input = html("input", {
      id,
      class: "value-input",
      type: "text",
      inputmode: "decimal",
      autocomplete: "off",
      "aria-describedby": described,
      value: entry.text,
      input: () => {
        entry.text = input.value;
        this.onChange();
      },
      // Shows how the number was understood.
      change: () => {
        const value = parseNumber(entry.text, this.said.language);
        if (value !== undefined) input.value = entry.text = written(value, this.said.language);
      },
      keydown: (event) => this.step(column, entry, input, event as KeyboardEvent),
    });
    const [before, after] = unitAround(column);
    const amount = html(
      "span",
      { class: "amount" },
      before && html("span", { class: "unit" }, before),
      input,
      after && html("span", { class: "unit" }, after),
    );
    if (column.special.length === 0) return [amount];
    const specials = column.special.map(({ value, meaning }) =>
      html("option", { value, selected: entry.special === String(value) }, strings.specialMeaning(written(value, this.said.language), meaning ?? "")),
    );
    const select = html(
      "select",
      {
        "aria-label": strings.special(capitalised(column.label)),
        change: () => {
          entry.special = select.value;
          amount.hidden = entry.special !== "";
          this.onChange();
        },
      },
      html("option", { value: "" }, strings.amount),
      ...specials,
    );
    amount.hidden = entry.special !== "";
    return [select, amount];
  }

  private choice(column: Column, entry: Entry, id: string, described: string): HTMLElement {
    const { strings } = this.said;
    const choices: { value: string; label: string }[] = column.categories
      ? column.categories.map(({ name, label }) => ({ value: name, label }))
      : column.described.length > 0
        ? column.described.map(({ value, label }) => ({ value: String(value), label }))
        : [{ value: "0", label: strings.no }, { value: "1", label: strings.yes }];
    const special = column.special.map(({ value, meaning }) => ({ value: String(value), label: meaning ?? String(value) }));
    const options = [...choices, ...special].map(({ value, label }) =>
      html("option", { value, selected: value === entry.text }, label),
    );
    const select = html(
      "select",
      {
        id,
        class: "value-input",
        "aria-describedby": described,
        change: () => {
          entry.text = select.value;
          this.onChange();
        },
      },
      ...options,
    );
    if (!options.some((option) => option.selected)) select.selectedIndex = -1;
    return select;
  }

  /** The arrow keys change a number by a little, with shift by ten times as much. */
  private step(column: Column, entry: Entry, input: HTMLInputElement, event: KeyboardEvent): void {
    if (event.key !== "ArrowUp" && event.key !== "ArrowDown") return;
    const value = parseNumber(entry.text, this.said.language);
    if (value === undefined) return;
    event.preventDefault();
    const step = column.step ?? (column.kind === "real" ? 10 ** Math.floor(Math.log10((column.std ?? 1) / 10)) : 1);
    const by = step * (event.shiftKey ? 10 : 1) * (event.key === "ArrowUp" ? 1 : -1);
    const [lower, upper] = column.limits;
    let next = Number((value + by).toFixed(Math.max(0, decimalsOf(column), -Math.floor(Math.log10(step)))));
    if (upper !== null) next = Math.min(next, upper);
    if (lower !== null) next = Math.max(next, lower);
    input.value = entry.text = written(next, this.said.language);
    this.onChange();
  }

  private lock(column: Column, entry: Entry): HTMLElement {
    const { strings } = this.said;
    const box = html("input", {
      type: "checkbox",
      checked: entry.isLocked,
      "aria-label": strings.lockOf(capitalised(column.label)),
      change: () => {
        entry.isLocked = box.checked;
        box.closest(".field")?.classList.toggle("locked", box.checked);
        this.onChange();
      },
    });
    return html("label", { class: "lock" }, box, strings.lock);
  }

  private limits(column: Column, entry: Entry, id: string): HTMLElement {
    const { strings } = this.said;
    const label = capitalised(column.label);
    const field = (key: "least" | "most", word: string, name: string) => {
      const input = html("input", {
        type: "text",
        inputmode: "decimal",
        autocomplete: "off",
        "aria-label": name,
        "aria-describedby": `${id}-fault`,
        value: entry[key],
        input: () => {
          entry[key] = input.value;
          this.onChange();
        },
      });
      return html("span", { class: "limit" }, html("span", { "aria-hidden": "true" }, word), input);
    };
    return html(
      "details",
      { class: "limits", open: entry.least !== "" || entry.most !== "" },
      html("summary", { "aria-label": strings.ownOf(label) }, strings.own),
      html(
        "div",
        { class: "limit-fields" },
        field("least", strings.least, strings.leastOf(label)),
        field("most", strings.most, strings.mostOf(label)),
      ),
    );
  }
}

/** What stands before and after the number of a column, for more than one. */
function unitAround(column: Column): [string, string] {
  const form = column.unit?.[column.unit.length - 1];
  if (!form) return ["", ""];
  if (!form.includes("{}")) return ["", form];
  const [before, after] = form.split("{}");
  return [(before ?? "").trim(), (after ?? "").trim()];
}
