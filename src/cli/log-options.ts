import { type Command, Option } from "commander";
import type { Log } from "../base/log.ts";
import { createLog } from "../host/log/create-log.ts";
import { wholeNumber } from "./flag-values.ts";

/** How a log is written: lines for people, or one object of JSON a line. */
export const LOG_FORMATS = ["text", "json"] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];
/** The highest verbosity that klog's users ask for. */
export const MAX_VERBOSITY = 10;
export const VERBOSITY_FLAGS = "-v, --v <level>";
export const VERBOSITY_ABOUT = "verbosity of the log, 0 to 10";
export const LOG_FORMAT_FLAGS = "--log-format <format>";
export const LOG_FORMAT_ABOUT = "how the log is written; json is one object a line";

/** What commander reads of the options. */
export interface LogFlags {
  logFormat: LogFormat;
  v: number;
}

/** Adds `--log-format` and `-v`, the same at each command that logs. */
export function addLogOptions(command: Command): Command {
  return command
    .addOption(new Option(LOG_FORMAT_FLAGS, LOG_FORMAT_ABOUT).choices(LOG_FORMATS).default("text"))
    .addOption(new Option(VERBOSITY_FLAGS, VERBOSITY_ABOUT).default(0).argParser(wholeNumber(0, MAX_VERBOSITY)));
}

/** The log of a command with these options. */
export function openCommandLog({ logFormat, v }: LogFlags): Log {
  return createLog({ format: logFormat, verbosity: v });
}
