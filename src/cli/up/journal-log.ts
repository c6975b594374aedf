import type { Log, LogFields } from "../../base/log.ts";
import { JOURNAL_PRIORITIES } from "../../host/log/journal-stream.ts";
import { createLineLog } from "../line-log.ts";

interface JournalDeps {
  write(line: string): void;
  now(): number;
}

/** Tells warnings and errors to a service's journal, too: whoever looks after a service looks there first. */
export function alsoToJournal(log: Log, { write, now }: JournalDeps): Log {
  const at = (level: "error" | "warn") => createLineLog((line) => write(JOURNAL_PRIORITIES[level] + line), now);
  const [errors, warnings] = [at("error"), at("warn")];
  const bind = (own: Log, bound: LogFields): Log => ({
    error(message, fields) {
      own.error(message, fields);
      errors.error(message, { ...bound, ...fields });
    },
    warn(message, fields) {
      own.warn(message, fields);
      warnings.warn(message, { ...bound, ...fields });
    },
    info: own.info,
    debug: own.debug,
    with: (more) => bind(own.with(more), { ...bound, ...more }),
  });
  return bind(log, {});
}
