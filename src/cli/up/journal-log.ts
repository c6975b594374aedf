import type { Log, LogFields } from "../../base/log.ts";
import { createLineLog } from "../line-log.ts";

/** The priorities of syslog, which systemd reads at the beginning of a line (sd-daemon(3)). */
const PRIORITIES = { error: "<3>", warn: "<4>" } as const;

interface JournalDeps {
  /** The variable JOURNAL_STREAM: the device and the inode of what systemd has given a service to write to. */
  readonly journal: string | undefined;
  /** The same of where `write` writes. A child has the variable too, and may write elsewhere. */
  readonly stream: string;
  write(line: string): void;
  now(): number;
}

/**
 * Tells warnings and errors to a service's journal, too: whoever looks after a service looks there first. Returns the log
 * as it is where the process has no journal.
 */
export function alsoToJournal(log: Log, { journal, stream, write, now }: JournalDeps): Log {
  if (journal !== stream) return log;
  const at = (level: keyof typeof PRIORITIES) => createLineLog((line) => write(PRIORITIES[level] + line), now);
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
