import { messageOf } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";

/** Logs once that an operation fails and once that it works again, however often it is tried in between. */
interface FailureLog {
  failed(error: unknown): void;
  succeeded(): void;
}

/** `what` begins a sentence: "Updating the node's status". The failures after the first are for debugging. */
export function createFailureLog(log: Log, what: string): FailureLog {
  let failures = 0;
  return {
    failed(error) {
      failures++;
      const fields = { error: messageOf(error), failures };
      if (failures === 1) log.error(`${what} failed, will retry`, fields);
      else log.debug(`${what} failed again, will retry`, fields);
    },
    succeeded() {
      if (failures > 0) log.info(`${what} works again`, { failures });
      failures = 0;
    },
  };
}
