import type { Readable } from "node:stream";
import type { Clock } from "../../../base/clock.ts";
import type { StreamedRun } from "../../programs-port.ts";
import { type ProcessEnd, startProcess } from "./start-process.ts";

/** A program that goes on for as long as it is needed, and speaks in lines. */
export interface Conversation {
  /** Writes to the program's standard input. */
  say(text: string): void;
  /** Closes the program's standard input, by which many programs know that they are not needed any more. */
  endInput(): void;
  /** Kills the program with everything that it has started. */
  kill(): void;
  /** It never rejects. `stderr` has the last lines of it, as many as a message can carry. */
  readonly ended: Promise<{ readonly end: ProcessEnd; readonly stderr: string }>;
}

/** Each listener is called with one line at a time, without its end. */
interface LineListeners {
  readonly onOutput: (line: string) => void;
}

/** A longer line is cut at this length. */
const MAX_LINE_CHARACTERS = 64 * 1024;
const MAX_STDERR_CHARACTERS = 1_024;
const PIPE_GRACE_MS = 1_000;

/** Starts the program. It has no time limit: the caller ends it, by the end of its input or by `kill`. */
export function talkToProgram(
  run: Pick<StreamedRun, "path" | "args">,
  { onOutput }: LineListeners,
  clock: Clock,
): Conversation {
  const started = startProcess({ ...run, environment: {} }, { clock, stdin: "pipe", pipeGraceMs: PIPE_GRACE_MS });
  let stderr = "";
  readLines(started.stdout, onOutput);
  readLines(started.stderr, (line) => {
    stderr = `${stderr}${line}\n`.slice(-MAX_STDERR_CHARACTERS);
  });
  return {
    say: (text) => started.stdin?.write(text),
    endInput: () => started.stdin?.end(),
    kill: () => started.stop({ cause: "signal", problem: "was stopped" }),
    ended: started.ended.then((end) => ({ end, stderr: stderr.trim() })),
  };
}

function readLines(stream: Readable, onLine: (line: string) => void): void {
  let begun = "";
  stream.setEncoding("utf8");
  stream.on("data", (text: string) => {
    const [first = "", ...others] = text.split("\n");
    begun = `${begun}${first}`.slice(0, MAX_LINE_CHARACTERS);
    for (const next of others) {
      onLine(begun);
      begun = next.slice(0, MAX_LINE_CHARACTERS);
    }
  });
  stream.once("end", () => {
    if (begun !== "") onLine(begun);
  });
}
