import { type Log, type LogFields, silentLog } from "../base/log.ts";

type LogCallback = (level: "error" | "warn" | "info" | "debug", message: string, fields: LogFields) => void;

/** Creates a log that passes every record to the callback. Without a callback it drops them. */
export function callbackLog(callback: LogCallback | undefined): Log {
  return callback === undefined ? silentLog : logWith(callback, {});
}

function logWith(callback: LogCallback, bound: LogFields): Log {
  return {
    error: (message, fields) => callback("error", message, { ...bound, ...fields }),
    warn: (message, fields) => callback("warn", message, { ...bound, ...fields }),
    info: (message, fields) => callback("info", message, { ...bound, ...fields }),
    debug: (message, fields) => callback("debug", message, { ...bound, ...fields }),
    with: (fields) => logWith(callback, { ...bound, ...fields }),
  };
}
