import type { Log, LogFields } from "../../src/base/log.ts";

/** Few, so that most writes replace something. */
export const KEYS = 60;
/** The most writes of one run. */
export const MAX_WRITES = 1_000;

/** A change as the writer tells of it and as it is found again. Each has its own pair of run and sequence. */
export interface Write {
  readonly type: "put" | "remove";
  readonly key: string;
  readonly revision: number;
  readonly run: number;
  readonly sequence: number;
}

/** What the writer found when it opened the store. */
export interface Opened {
  readonly revision: number;
  /** What happened after the revision that it was asked for is no longer known. */
  readonly isExpired: boolean;
  readonly events: readonly Write[];
  readonly objects: ReadonlyArray<Write & { readonly stamp: string | undefined }>;
}

/** What the writer prints, one to a line. */
export type Line =
  | { readonly opened: Opened }
  | { readonly acknowledged: Write }
  | { readonly logged: string; readonly message: string };

export function lineOf(line: Line): string {
  return `${JSON.stringify(line)}\n`;
}

/** The complete lines of what a killed process left. */
export function parseLines(text: string): Line[] {
  const lines = text.split("\n").slice(0, -1);
  return lines.map((line): Line => JSON.parse(line));
}

/** A log whose warnings and errors are among the lines. */
export function createLineLog(): Log {
  const print =
    (logged: string) =>
    (message: string, fields: LogFields = {}) => {
      const { error, ...rest } = fields;
      const detail = JSON.stringify(error === undefined ? rest : { ...rest, error: String(error) });
      process.stdout.write(lineOf({ logged, message: `${message} ${detail}` }));
    };
  const ignore = () => undefined;
  const log: Log = { error: print("error"), warn: print("warn"), info: ignore, debug: ignore, with: () => log };
  return log;
}
