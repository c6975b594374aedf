/** A table as docs/ has them: columns of equal width, the first row is the head. */
export function formatMarkdownTable(rows: readonly string[][]): string {
  const escaped = rows.map((row) => row.map((cell) => cell.replaceAll("|", "\\|")));
  const [head = [], ...body] = escaped;
  const widths = head.map((_, column) => Math.max(3, ...escaped.map((row) => row[column]?.length ?? 0)));
  const format = (row: readonly string[]) =>
    `| ${widths.map((width, column) => (row[column] ?? "").padEnd(width)).join(" | ")} |`;
  return [format(head), `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`, ...body.map(format)].join("\n");
}
