import type { StoredObject } from "../ports/object-store.ts";
import type { Cell, CellAt, ResourceKind } from "../ports/resource-kind.ts";
import { type Span, storedTextOf } from "./stored-text.ts";

/** The part of a stored object that a row of a table shows. */
export interface PrintedRow {
  /** Cells in the order of the kind's columns. */
  readonly cells: ReadonlyArray<Cell | CellAt>;
  /** The place of the metadata in the stored JSON, in bytes. */
  readonly metadata: Span;
}

/** A row that shows more text than this is made anew each time. */
const MAX_KEPT_CHARACTERS = 1024;

/** Rows by kind, because an object may be shown as several kinds. */
const rows = new WeakMap<ResourceKind, WeakMap<StoredObject, PrintedRow>>();

/**
 * A row is kept as long as its version is: few of thousands of pods change between one table and the next, and parsing
 * takes most of the time. Kinds that are a view of another kind have no kept rows.
 */
export function printedRowOf(kind: ResourceKind, stored: StoredObject): PrintedRow {
  return keptRowOf(kind, stored) ?? printRow(kind, stored);
}

/** Undefined where `printedRowOf` has to parse. */
export function keptRowOf(kind: ResourceKind, stored: StoredObject): PrintedRow | undefined {
  return rows.get(kind)?.get(stored);
}

function printRow(kind: ResourceKind, stored: StoredObject): PrintedRow {
  const text = storedTextOf(stored);
  // A column of a custom resource may print anything; no other column prints managed fields.
  const object = kind.schema.strategicMerge ? text.parseRest() : text.parse();
  const row = { cells: kind.columns.map((column) => column.cell(object)), metadata: text.metadata };
  if (countCharacters(row.cells) <= MAX_KEPT_CHARACTERS) keepRow(kind, stored, row);
  return row;
}

function keepRow(kind: ResourceKind, stored: StoredObject, row: PrintedRow): void {
  const ofKind = rows.get(kind) ?? new WeakMap<StoredObject, PrintedRow>();
  rows.set(kind, ofKind.set(stored, row));
}

function countCharacters(cells: PrintedRow["cells"]): number {
  return cells.reduce<number>((sum, cell) => sum + (typeof cell === "string" ? cell.length : 0), 0);
}
