import { toPlainText } from "../base/plain-text.ts";

const GAP = "   ";

/** Formats columns padded to their widest cell, as kubectl prints them: no lines, no trailing blanks. No terminal acts upon a cell. */
export function formatTable(head: readonly string[], rows: ReadonlyArray<readonly string[]>): string {
  const all = [head, ...rows.map((row) => row.map(toPlainText))];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join(GAP)
        .trimEnd(),
    )
    .join("\n");
}
