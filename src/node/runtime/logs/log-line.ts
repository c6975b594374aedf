/** One line of a container's log in CRI's format: `2026-01-02T03:04:05.000000000Z stdout F text`. */
interface LogLine {
  time: string;
  stream: "stdout" | "stderr";
  /** With its newline, unless the runtime split a long line (tag `P`) and the rest follows. */
  text: string;
}

// `s`: a program may print carriage returns, which are text here.
const LINE = /^(\S+) (stdout|stderr) (\S+) (.*)$/s;

/** Parses a line; undefined where it is not whole, as the first line of a tail or the empty last line. */
export function parseLogLine(line: string): LogLine | undefined {
  const match = LINE.exec(line);
  if (match === null) return undefined;
  const [, time = "", stream, tag = "", text = ""] = match;
  const isPartial = tag.split(":")[0] === "P";
  return { time, stream: stream === "stderr" ? "stderr" : "stdout", text: isPartial ? text : `${text}\n` };
}
