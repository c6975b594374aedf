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
  return alsoTo(log, { error: errors.error, warn: warnings.warn });
}

/** Tells errors on the terminal, too: a node that lacks something runs on, and nobody reads its log unasked. */
export function alsoToTerminal(log: Log, tell: (line: string) => void): Log {
  const error = (message: string, { error: cause, mend }: LogFields = {}) => {
    tell([message, ...[cause, mend].filter((part) => typeof part === "string")].join(": "));
  };
  return alsoTo(log, { error, warn: () => undefined });
}

function alsoTo(log: Log, others: Pick<Log, "error" | "warn">): Log {
  const bind = (own: Log, bound: LogFields): Log => ({
    error(message, fields) {
      own.error(message, fields);
      others.error(message, { ...bound, ...fields });
    },
    warn(message, fields) {
      own.warn(message, fields);
      others.warn(message, { ...bound, ...fields });
    },
    info: own.info,
    debug: own.debug,
    with: (more) => bind(own.with(more), { ...bound, ...more }),
  });
  return bind(log, {});
}
