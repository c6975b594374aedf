import type { Clock, Timer } from "../base/clock.ts";
import { SECOND } from "../base/clock.ts";
import { toPlainLines, toPlainText } from "../base/plain-text.ts";
import type { LogFormat } from "./log-options.ts";

/** Tells somebody who waits what is done, and what is waited for. */
export interface Progress {
  /** Tells of something that is done, in a line that stays. */
  line(text: string): void;
  /**
   * Tells what is waited for from now on, such as `containerd`; undefined: nothing. On a terminal one line shows it and is
   * rewritten; elsewhere it is written each ten seconds. Every wait must be ended, since its timer keeps the process.
   * `howFar` is asked each time, and says how much is done.
   */
  waiting(text: string | undefined, howFar?: () => string): void;
}

/** Where the progress goes. */
export interface ProgressOutput {
  write(text: string): void;
  /** The columns of a terminal; undefined where there is none. */
  readonly columns: number | undefined;
  readonly format: LogFormat;
}

const REDRAW_MS = SECOND;
const REPEAT_MS = 10 * SECOND;
const MIN_COLUMNS = 20;
/** To the first column, and nothing of what stood in the line stays. */
const CLEAR = "\r\u001b[K";

/** Creates the progress of one command. */
export function createProgress(clock: Clock, output: ProgressOutput): Progress {
  const isTerminal = output.columns !== undefined && output.format === "text";
  let wait: { readonly text: string; readonly since: number; readonly howFar: () => string } | undefined;
  let timer: Timer | undefined;

  const put = (message: string, fields: object = {}) => {
    const record = { ts: clock.now(), v: 0, ...fields, msg: message };
    // Names of pods and images are of strangers.
    output.write(`${output.format === "json" ? JSON.stringify(record) : toPlainLines(message)}\n`);
  };
  const tellAgain = (text: string, seconds: number) =>
    output.format === "json" ? put(text, { seconds }) : put(`  ${text} (${seconds} s)`);
  const tick = () => {
    if (wait === undefined) return;
    const seconds = Math.round((clock.monotonic() - wait.since) / SECOND);
    const text = toPlainText(`${wait.text}${wait.howFar()}`);
    if (isTerminal) output.write(CLEAR + cut(`… ${text}${seconds === 0 ? "" : ` (${seconds} s)`}`, output.columns));
    else if (seconds > 0) tellAgain(`still waiting for ${text}`, seconds);
    timer = clock.setTimer(isTerminal ? REDRAW_MS : REPEAT_MS, tick);
  };
  return {
    line(text) {
      if (isTerminal && wait !== undefined) output.write(CLEAR);
      put(text);
      if (isTerminal && wait !== undefined) redraw();
    },
    waiting(text, howFar = () => "") {
      if (text === wait?.text) return;
      timer?.cancel();
      if (isTerminal && wait !== undefined) output.write(CLEAR);
      wait = text === undefined ? undefined : { text, since: clock.monotonic(), howFar };
      tick();
    },
  };

  function redraw(): void {
    timer?.cancel();
    tick();
  }
}

/** A line that is longer than the terminal would not be rewritten but followed. */
function cut(text: string, columns = MIN_COLUMNS): string {
  const room = Math.max(MIN_COLUMNS, columns) - 1;
  return text.length <= room ? text : `${text.slice(0, room - 1)}…`;
}

/** Joins what is waited for, the first few by name. */
export function joinWaits(names: readonly string[]): string | undefined {
  if (names.length === 0) return undefined;
  const shown = names.slice(0, MAX_NAMES);
  const rest = names.length - shown.length;
  return `${shown.join(", ")}${rest === 0 ? "" : ` and ${rest} more`}`;
}

const MAX_NAMES = 5;
