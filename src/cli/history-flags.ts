import { type Command, InvalidArgumentError, Option } from "commander";
import { formatDuration, parseDuration } from "../config/duration.ts";
import { LEAST_HISTORY_BYTES } from "../config/node-agent-config.ts";
import { DEFAULT_HISTORY_AGE_MS } from "../config/process-flags.ts";

/** What commander reads of the flags about the history. */
export interface HistoryFlags {
  readonly historySize: number;
  readonly historyAge: number;
}

/** The control plane has two lines or three of a pod, the node agent dozens. */
const DEFAULT_BYTES = 16 * 1024 * 1024;

/** Adds the flags that bound what the control plane keeps of its decisions about pods. */
export function addHistoryFlags(command: Command): void {
  const size = "bytes that the decisions about pods may take on the disk, for nodelet explain; 0 to keep none there";
  command.addOption(new Option("--history-size <bytes>", size).default(DEFAULT_BYTES).argParser(readSize));
  const age = "how long the decisions about a pod that is gone are kept";
  const initial = formatDuration(DEFAULT_HISTORY_AGE_MS);
  command.addOption(
    new Option("--history-age <duration>", age).default(DEFAULT_HISTORY_AGE_MS, initial).argParser(readAge),
  );
}

/** The bounds that the flags ask for; undefined for no history. */
export function readHistoryFlags({ historySize, historyAge }: HistoryFlags) {
  return historySize === 0 ? undefined : { maxBytes: historySize, maxAgeMs: historyAge };
}

function readSize(text: string): number {
  const value = Number(text);
  if (/^\d{1,15}$/.test(text) && (value === 0 || value >= LEAST_HISTORY_BYTES)) return value;
  throw new InvalidArgumentError(`It must be a number of bytes, at least ${LEAST_HISTORY_BYTES}, or 0.`);
}

function readAge(text: string): number {
  const ms = parseDuration(text);
  if (ms !== undefined && ms >= 0) return ms;
  throw new InvalidArgumentError("It must be a duration such as 168h.");
}
