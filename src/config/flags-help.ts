import type { Flag } from "./flag-types.ts";
import { KUBELET_FLAGS } from "./flags.ts";

const DESCRIPTION = `The kubelet is the node agent that runs on each node. It takes pod manifests (PodSpecs) and keeps the containers that
they describe running, through any container runtime that speaks CRI. Containers that Kubernetes did not create are left
alone.

Without an API server (standalone mode) there are two ways to give it pods.

File: a directory, or one file, of pod manifests (--pod-manifest-path). Changes are noticed as they happen, and the
files are checked every 20s besides (--file-check-frequency).

HTTP endpoint: a URL (--manifest-url) that is asked every 20s (--http-check-frequency) and answers with a pod or a list
of pods.`;

/**
 * Returns the text that `--help` prints: description, usage and every flag in two columns, at most `width` characters
 * wide.
 */
export function formatKubeletHelp(width: number): string {
  return `${DESCRIPTION}\n\n${formatKubeletUsage(width)}`;
}

function formatKubeletUsage(width: number): string {
  const rows = KUBELET_FLAGS.map((flag) => [leftColumn(flag), rightColumn(flag)] as const);
  const indent = Math.max(...rows.map(([left]) => left.length)) + 3;
  const lines = rows.map(([left, right]) => formatRow(left, right, { indent, width }));
  return `Usage:\n  nodelet kubelet [flags]\n\nFlags:\n${lines.join("\n")}\n`;
}

function leftColumn(flag: Flag): string {
  const start = flag.shorthand === undefined ? "      " : `  -${flag.shorthand}, `;
  const type = flag.type.name;
  if (type === "" || flag.name === type.split("[")[0]) return `${start}--${flag.name}${type.slice(flag.name.length)}`;
  return `${start}--${flag.name} ${type}`;
}

function rightColumn(flag: Flag): string {
  const initial = flag.type.show(flag.initial);
  const shown = initial === undefined ? "" : ` (default ${initial})`;
  const deprecated = flag.deprecated === undefined ? "" : ` (DEPRECATED: ${flag.deprecated})`;
  return `${flag.help}${shown}${deprecated}`;
}

/** Where the terminal is too narrow for a second column, the text goes below the flag. */
function formatRow(left: string, right: string, layout: { indent: number; width: number }): string {
  const isNarrow = layout.width - layout.indent < 24;
  const indent = isNarrow ? 16 : layout.indent;
  const text = right.split("\n").flatMap((line) => wrap(line, Math.max(layout.width - indent, 24)));
  const padding = " ".repeat(indent);
  const [first = "", ...others] = text;
  const start = isNarrow ? `${left}\n${padding}${first}` : `${left.padEnd(indent)}${first}`;
  return [start, ...others.map((line) => `${padding}${line}`)].join("\n");
}

function wrap(line: string, width: number): string[] {
  const lines: string[] = [];
  let current = "";
  for (const word of line.split(" ")) {
    if (current !== "" && current.length + 1 + word.length > width) {
      lines.push(current);
      current = word;
    } else current = current === "" ? word : `${current} ${word}`;
  }
  return [...lines, current];
}
