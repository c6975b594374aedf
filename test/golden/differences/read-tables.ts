import { readFileSync } from "node:fs";

/** One row of a table of a document: its cells by the names of their columns. */
type Row = Readonly<Record<string, string>>;

/** The rows of the tables beneath a heading of a document, in order. Throws where there is no such heading or no table. */
export function readTable(document: string, heading: string): Row[] {
  const section = readDocument(document)
    .split(/^## /m)
    .find((part) => part.startsWith(`${heading}\n`));
  if (section === undefined) throw new Error(`${document} has no heading "${heading}"`);
  const [head, , ...lines] = section.split("\n").filter((line) => line.startsWith("|"));
  if (head === undefined) throw new Error(`${document} has no table beneath "${heading}"`);
  const columns = cellsOf(head);
  return lines.map((line) => Object.fromEntries(cellsOf(line).map((cell, index) => [columns[index] ?? "", cell])));
}

/** The headings of a document that have a table. */
export function headingsWithTables(document: string): string[] {
  return readDocument(document)
    .split(/^## /m)
    .slice(1)
    .filter((section) => section.includes("\n|"))
    .map((section) => section.slice(0, section.indexOf("\n")));
}

/** What a text shows as code: `a`. */
export function codeIn(text = ""): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);
}

function readDocument(document: string): string {
  return readFileSync(new URL(`../../../docs/${document}`, import.meta.url), "utf8");
}

/** A bar that a backslash precedes is part of a cell. */
function cellsOf(line: string): string[] {
  return line
    .trim()
    .slice(1, -1)
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim());
}
