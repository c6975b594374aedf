import { pino } from "pino";
import type { Log, LogFields } from "../../base/log.ts";
import { formatLogLine } from "./format-log-line.ts";
import { JOURNAL_PRIORITIES } from "./journal-stream.ts";
import { boundFields, boundMessage, type LogRecord, type Severity } from "./log-record.ts";

export interface CreateLogOptions {
  /** `text` is klog's line, `json` one object a line with kubelet's keys. */
  format: "text" | "json";
  /** Debug records above it are dropped. */
  verbosity: number;
  /** Takes one line without its end. Default: stderr, as kubelet does. */
  write?: (line: string) => void;
  /**
   * The verbosity of single modules, which are named by `with({ logger })`. The first pattern that matches counts. `*`
   * stands for any text and `?` for one character.
   */
  vmodule?: ReadonlyArray<{ filePattern: string; verbosity: number }>;
  /** Lines begin with their priority, which the journal of systemd takes off. Default: false. */
  isJournal?: boolean;
  /** Milliseconds since the epoch. Default: the wall clock. */
  now?: () => number;
}

type Emit = (record: LogRecord) => void;

/** The name of the module. It is no field of the record where that is written as text. */
const LOGGER_FIELD = "logger";

/** The log of this process. Records are written whole and in order. Long values are cut, and none can break a line. */
export function createLog(options: CreateLogOptions): Log {
  const emit = createEmitter(options);
  const now = options.now ?? Date.now;

  const bind = (bound: LogFields): Log => {
    const limit = computeVerbosity(options, bound[LOGGER_FIELD]);
    const put = (severity: Severity, verbosity: number, message: string, fields?: LogFields) =>
      emit({
        severity,
        verbosity,
        message: boundMessage(message),
        fields: boundFields(fields === undefined ? bound : { ...bound, ...fields }),
        at: now(),
      });
    return {
      error: (message, fields) => put("E", 0, message, fields),
      warn: (message, fields) => put("W", 0, message, fields),
      info: (message, fields) => put("I", 0, message, fields),
      debug(message, fields, verbosity = 4) {
        if (verbosity <= limit) put("I", verbosity, message, fields);
      },
      with: (fields) => bind({ ...bound, ...fields }),
    };
  };
  return bind({});
}

const { error: E, warn: W, info: I } = JOURNAL_PRIORITIES;
const PRIORITIES = { E, W, I } as const;

function createEmitter({ format, write = writeToStderr, isJournal = false }: CreateLogOptions): Emit {
  let priority = "";
  const writeLine = isJournal ? (line: string) => write(priority + line) : write;
  const emit: Emit = format === "json" ? createJsonEmitter(writeLine) : (record) => writeLine(formatLogLine(record));
  if (!isJournal) return emit;
  return (record) => {
    priority = PRIORITIES[record.severity];
    emit(record);
  };
}

function computeVerbosity({ verbosity, vmodule = [] }: CreateLogOptions, logger: unknown): number {
  if (typeof logger !== "string") return verbosity;
  return vmodule.find(({ filePattern }) => matchesGlob(filePattern, logger))?.verbosity ?? verbosity;
}

function matchesGlob(pattern: string, name: string): boolean {
  const source = pattern
    .replace(/[.+^${}()|[\]\\]/g, "\\$&")
    .replaceAll("*", ".*")
    .replaceAll("?", ".");
  return new RegExp(`^${source}$`, "s").test(name);
}

const PINO_LEVELS = { E: "error", W: "warn", I: "info" } as const;

/**
 * Writes `{"ts":…,"v":0,"pod":"…","msg":"…"}`. An error has `err` and no `v`, as upstream's; only a warning needs a
 * mark.
 */
function createJsonEmitter(write: (line: string) => void): Emit {
  let at = 0;
  const logger = pino(
    {
      base: null,
      errorKey: "err",
      formatters: { level: () => ({}) },
      // The level before it is empty, so that this is the first key and needs no comma.
      timestamp: () => `"ts":${at}`,
    },
    { write: (line: string) => write(line.endsWith("\n") ? line.slice(0, -1) : line) },
  );
  return (record) => {
    at = record.at;
    const { ts: _ts, msg: _msg, v: _v, ...fields } = record.fields;
    const marks = record.severity === "E" ? {} : { v: record.verbosity };
    const warning = record.severity === "W" ? { severity: "warning" } : {};
    logger[PINO_LEVELS[record.severity]]({ ...marks, ...warning, ...fields }, record.message);
  };
}

function writeToStderr(line: string): void {
  process.stderr.write(`${line}\n`);
}
