// Where people come from: typical values, or a table that is opened on this device.

import { type Draft, fillIn, valueOfCell } from "./draft";
import { html, show } from "./dom";
import type { Problem, Values } from "./service";
import { readTable, type Table } from "./table";
import { capitalised, type Speech } from "./words";

/** As many people of a table can be chosen. */
const MOST_ROWS = 1000;

/** A table that was opened, and the row that was chosen. It stays when the page is drawn in another language. */
export interface Opened {
  file: string;
  table: Table;
  row: number;
}

/** What the choice of a person changes. */
export interface Chosen {
  opened: Opened | undefined;
  id: string;
}

export class People {
  readonly element: HTMLElement;
  private readonly note = html("p", { class: "note", role: "status" });
  private readonly place = html("div");

  constructor(
    private readonly problem: Problem,
    private readonly draft: Draft,
    private readonly chosen: Chosen,
    private readonly said: Speech,
    private readonly onChange: () => void,
  ) {
    const { strings } = said;
    const file = html("input", {
      type: "file",
      class: "unseen",
      accept: ".csv,.tsv,.txt,text/csv",
      change: () => void this.open(file),
    });
    this.element = html(
      "div",
      { class: "people" },
      html("p", { class: "quiet" }, strings.personIntro),
      html(
        "p",
        { class: "buttons" },
        html("button", { type: "button", click: () => this.start() }, strings.start),
        html("label", { class: "button" }, file, strings.open),
      ),
      this.place,
      this.note,
    );
    this.showRows();
  }

  private start(): void {
    this.chosen.id = "1";
    this.note.textContent = "";
    fillIn(this.problem, this.draft, this.problem.example, this.said.language);
    this.onChange();
  }

  private async open(file: HTMLInputElement): Promise<void> {
    const { strings } = this.said;
    const [found] = file.files ?? [];
    // The same file may be chosen again after it was mended.
    const text = await found?.text();
    file.value = "";
    if (!found || text === undefined) return;
    const table = readTable(text);
    if ("fault" in table) {
      this.note.textContent =
        table.fault === "empty"
          ? strings.noTable
          : table.fault === "quote"
            ? strings.openQuote(table.row)
            : strings.unevenRow(table.row, table.expected, table.found);
      return;
    }
    this.chosen.opened = { file: found.name, table, row: 0 };
    this.showRows();
    this.take(0);
  }

  private idOf(table: Table, row: number): string {
    const column = table.columns.indexOf("id");
    return (column >= 0 && table.rows[row]?.[column]) || String(row + 1);
  }

  /** The choice of a row. */
  private showRows(): void {
    const { opened } = this.chosen;
    const { strings } = this.said;
    if (!opened) return;
    const { table, file } = opened;
    const hasIds = table.columns.includes("id");
    const rows = table.rows.slice(0, MOST_ROWS);
    const select = html(
      "select",
      { change: () => this.take(select.selectedIndex) },
      ...rows.map((_, row) =>
        html("option", { selected: row === opened.row }, hasIds ? this.idOf(table, row) : strings.row(row + 1)),
      ),
    );
    const count = table.rows.length;
    const many = count > rows.length ? strings.openedFirst(rows.length, count, file) : strings.opened(count, file);
    show(this.place, html("label", { class: "row-choice" }, strings.fromTable(file), select), html("p", { class: "quiet" }, many));
  }

  /** Fills in the person of a row, as far as its cells can be read. */
  private take(row: number): void {
    const { opened } = this.chosen;
    if (!opened) return;
    opened.row = row;
    const { table } = opened;
    const { strings } = this.said;
    const [missing, unread]: [string[], string[]] = [[], []];
    const values: Values = {};
    for (const column of this.problem.columns) {
      const at = table.columns.indexOf(column.name);
      const value = at < 0 ? undefined : valueOfCell(column, table.rows[row]?.[at] ?? "");
      if (value !== undefined) values[column.name] = value;
      else (at < 0 ? missing : unread).push(capitalised(column.label));
      const entry = this.draft.get(column.name);
      // A cell that cannot be read leaves nothing of the person before.
      if (at >= 0 && value === undefined && entry) [entry.text, entry.special] = ["", ""];
    }
    this.chosen.id = this.idOf(table, row);
    fillIn(this.problem, this.draft, values, this.said.language);
    const notes = [
      missing.length > 0 && strings.missingColumns(missing.join(", ")),
      unread.length > 0 && strings.unread(unread.join(", ")),
    ];
    this.note.textContent = notes.filter(Boolean).join(" ");
    this.onChange();
  }
}
