// Reads tables of people as text, in the browser: nothing of them is sent anywhere.

/** A table with a header. Cells are texts without the spaces around them. */
export interface Table {
  columns: string[];
  rows: string[][];
}

/** Why a text is no table: a row has another number of cells than the header, or a quotation does not end. */
export type TableFault =
  | { fault: "empty" }
  | { fault: "cells"; row: number; expected: number; found: number }
  | { fault: "quote"; row: number };

/** The separator of a header line: the one of comma, semicolon and tab that occurs most outside of quotations. */
function separatorOf(text: string): string {
  const line = (text.split(/\r\n|\n|\r/, 1)[0] ?? "").replace(/"[^"]*"/g, "");
  const count = (mark: string) => line.split(mark).length - 1;
  return [",", ";", "\t"].reduce((best, mark) => (count(mark) > count(best) ? mark : best));
}

/** Reads comma, semicolon or tab separated values with quotations as in RFC 4180. Empty lines are skipped. */
export function readTable(text: string): Table | TableFault {
  const plain = text.replace(/^\ufeff/, "");
  const separator = separatorOf(plain);
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = "";
  let isQuoted = false;
  let wasQuoted = false;
  const endCell = () => {
    row.push(wasQuoted ? cell : cell.trim());
    cell = "";
    wasQuoted = false;
  };
  const endRow = () => {
    endCell();
    if (row.length > 1 || row[0] !== "") rows.push(row);
    row = [];
  };
  for (let at = 0; at < plain.length; at++) {
    const mark = plain.charAt(at);
    if (isQuoted) {
      if (mark !== '"') cell += mark;
      else if (plain.charAt(at + 1) === '"') {
        cell += '"';
        at++;
      } else isQuoted = false;
    } else if (mark === '"' && cell.trim() === "" && !wasQuoted) {
      isQuoted = true;
      wasQuoted = true;
      cell = "";
    } else if (mark === separator) endCell();
    else if (mark === "\n" || mark === "\r") {
      if (mark === "\r" && plain.charAt(at + 1) === "\n") at++;
      endRow();
    } else if (!wasQuoted || mark.trim() !== "") cell += mark;
  }
  if (isQuoted) return { fault: "quote", row: rows.length };
  endRow();
  const [columns, ...people] = rows;
  if (!columns || people.length === 0) return { fault: "empty" };
  const uneven = people.findIndex((cells) => cells.length !== columns.length);
  if (uneven >= 0) {
    return { fault: "cells", row: uneven + 1, expected: columns.length, found: people[uneven]?.length ?? 0 };
  }
  return { columns, rows: people };
}
