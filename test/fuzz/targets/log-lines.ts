import { createLogRecords } from "../../../src/node/runtime/logs/log-records.ts";
import { promise, type Target } from "../target.ts";

const LINE = "2026-01-02T03:04:05.000000001Z stdout F hello\n";

/** A container's log in CRI's format, which anything in the container may write: however it is cut, it reads the same. */
export const logLinesTarget: Target = {
  name: "log-lines",
  runs: 8_192,
  seeds: [
    LINE,
    `${LINE}2026-01-02T03:04:05.5+02:00 stderr P part\n2026-01-02T03:04:06Z stderr F rest\n`,
    `${LINE}no record\n\n2026-01-02T03:04:06Z stdout F `,
  ],
  words: ["stdout", "stderr", " F ", " P ", "\n", "2026-01-02T03:04:05Z ", "Z", "+14:00", " F:x ", "\0", "\r\n"],
  maxBytes: 256 * 1024,
  setUp: async () => ({
    run(input) {
      const [whole, cut] = [read([input]), read(pieces(input))];
      promise(whole.text === cut.text, "a log reads differently where its bytes come in pieces");
      promise(whole.unreadable === cut.unreadable, `${whole.unreadable} or ${cut.unreadable} lines are no records`);
    },
  }),
};

function read(portions: readonly Buffer[]): { text: string; unreadable: number } {
  const records = createLogRecords();
  const found = [...portions.flatMap((portion) => records.push(portion)), ...records.end()];
  const text = found.map(({ header, content, isLast }) => {
    return `${content.toString("latin1")}${isLast ? `\0${header.timeText} ${header.stream}\0` : ""}`;
  });
  return { text: text.join(""), unreadable: records.unreadable };
}

/** Lengths that differ from input to input, and are never so short that cutting is most of the work. */
function pieces(input: Buffer): Buffer[] {
  const length = 1 + (input.length % 1_021) + (input.length >> 8);
  return Array.from({ length: Math.ceil(input.length / length) }, (_, index) => {
    return input.subarray(index * length, (index + 1) * length);
  });
}
