import { isAbort } from "../../base/abort.ts";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { runInBackground } from "../../base/tasks.ts";
import { keepReapingOrphans } from "../../host/linux/system/reap-orphans.ts";
import { systemClock } from "../../host/linux/system/system-clock.ts";

const FIRST_PROCESS = 1;

/** Where this is the first process of a container, it collects the ends of orphans until the signal fires. */
export function actAsFirstProcess(log: Log, signal: AbortSignal): void {
  if (process.pid !== FIRST_PROCESS) return;
  runInBackground(
    async () => await keepReapingOrphans(systemClock, signal),
    (error) => {
      if (!isAbort(error)) log.error("ended processes of this container stay", { error: messageOf(error) });
    },
  );
}
