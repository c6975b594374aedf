import { systemClock } from "../host/linux/system/system-clock.ts";
import type { LogFormat } from "./log-options.ts";
import { createProgress, type Progress } from "./progress.ts";

/** The width of a terminal that does not know its own. */
const DEFAULT_COLUMNS = 80;

/** The progress of this process, on its standard output or, where that is for the result, on its standard error. */
export function openProgress(format: LogFormat, stream: NodeJS.WriteStream = process.stdout): Progress {
  // A terminal that knows no control sequences gets lines.
  const columns = stream.isTTY && process.env["TERM"] !== "dumb" ? stream.columns || DEFAULT_COLUMNS : undefined;
  return createProgress(systemClock, { write: (text) => stream.write(text), columns, format });
}
