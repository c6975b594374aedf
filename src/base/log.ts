/**
 * Structured logging with the same keys everywhere (`pod`, `uid`, `container`, `error`). The level tells what a reader
 * must do: `error` means that an operator must act, `warn` that this may become an error, `info` is a rare change of
 * state, and `debug` is the rest.
 */
export interface Log {
  error(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  /** `verbosity` is klog's: 2 = useful steady state, 4 = debug, 6+ = trace. Default 4. */
  debug(message: string, fields?: LogFields, verbosity?: number): void;
  /** A log that adds `fields` to every record. */
  with(fields: LogFields): Log;
}

export type LogFields = Readonly<Record<string, unknown>>;

/** Drops everything; for tests that do not look at logs. */
export const silentLog: Log = {
  error: () => undefined,
  warn: () => undefined,
  info: () => undefined,
  debug: () => undefined,
  with: () => silentLog,
};
