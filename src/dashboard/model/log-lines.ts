import { toPlainText } from "../../base/plain-text.ts";

/** The end of a log, as text that nothing acts upon. */
interface LogLines {
  /** Adds what came; it may end within a line. */
  add(text: string): void;
  text(): string;
}

const MAX_LINES = 5_000;
/** A longer line is cut: no line of a person is as long, and one without an end would fill the page. */
const MAX_LINE_LENGTH = 4_096;
/** Colours, and other orders to a terminal that are no part of what a program says. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the escape is what such orders begin with.
const TERMINAL_ORDERS = /\u001b\[[0-9;?]*[A-Za-z]/g;

/** Keeps the last lines; the oldest go. */
export function createLogLines(): LogLines {
  let lines: string[] = [];
  let open = "";
  return {
    add(text) {
      const [first = "", ...others] = text.split("\n");
      open = (open + first).slice(0, MAX_LINE_LENGTH);
      for (const next of others) {
        lines.push(clean(open));
        open = next.slice(0, MAX_LINE_LENGTH);
      }
      if (lines.length > 2 * MAX_LINES) lines = lines.slice(-MAX_LINES);
    },
    text: () => [...lines.slice(-MAX_LINES), clean(open)].join("\n"),
  };
}

function clean(line: string): string {
  return line.replace(/\r$/, "").replace(TERMINAL_ORDERS, "").split("\t").map(toPlainText).join("\t");
}
