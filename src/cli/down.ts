import { existsSync } from "node:fs";
import { CodedError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { claimProcessLock, readLockHolder } from "../cluster/processes/process-lock.ts";
import { removeAllPods } from "../cluster/supervisor/remove-pods.ts";
import type { StateLayout } from "../cluster/supervisor/state-layout.ts";
import { removeNodeRunState, stopNode } from "../cluster/supervisor/stop-node.ts";
import { createLineLog } from "./line-log.ts";
import { requireRoot } from "./require-root.ts";

/** The bound of a printed reason, because a runtime's message may have as many lines as there were attempts. */
const MAX_REASON_CHARACTERS = 500;

/**
 * Stops the node. With `pods` it also ends and removes all its pods and what they left on the machine; with `now` it
 * does so without their grace periods and hooks.
 */
export async function down(layout: StateLayout, options: { pods: boolean; now: boolean }): Promise<number> {
  requireRoot("down");
  if (!existsSync(layout.directory)) {
    console.log(`Nothing to stop: ${layout.directory} does not exist.`);
    return 0;
  }
  const log = createLineLog((line) => void process.stderr.write(line), Date.now);
  const quiet: Log = { ...log, info: () => undefined };
  if ((await readLockHolder(layout.lock)) !== undefined) console.log("Stopping nodelet …");
  const stopped = await stopNode(layout, quiet);
  console.log(stopped.ran ? "nodelet is stopped." : `nodelet does not run in ${layout.directory}.`);
  if (!options.pods) {
    if (stopped.pods > 0) console.log(`${stopped.pods} pods run on. Remove them: nodelet down --pods`);
    return 0;
  }
  if (!options.now) return await removePods(layout, quiet);
  await removeNodeRunState(layout, quiet);
  console.log(`No pod runs any more. ${whatStays(layout)}`);
  return 0;
}

/**
 * Ends the pods, then removes the run state, which kills what did not end. The caller has stopped the node before, or
 * is the supervisor itself and holds the lock. Returns the exit code.
 */
export async function removePods(layout: StateLayout, log: Log, lockHeld = false): Promise<number> {
  const lock = lockHeld ? undefined : await claimProcessLock(layout.lock);
  if (lock?.state === "taken") {
    throw new CodedError("taken", `nodelet was started again meanwhile (pid ${lock.pid}); nothing was removed`);
  }
  try {
    console.log("Stopping the pods, each within its grace period …");
    const complete = await removeAllPods(layout, {
      log,
      onRemoved: (pod) => console.log(`  ${pod} is removed`),
      onFailure: (pod, reason) => console.error(`  ${pod}: ${reason.slice(0, MAX_REASON_CHARACTERS)}`),
      signal: new AbortController().signal,
    });
    await removeNodeRunState(layout, log);
    const end = complete
      ? "No pod runs any more."
      : "Not every pod could be removed in order; what was left is killed.";
    console.log(`${end} ${whatStays(layout)}`);
    return complete ? 0 : 1;
  } finally {
    await lock?.release();
  }
}

function whatStays({ directory }: StateLayout): string {
  return `Images, logs, local volumes and what the Kubernetes API holds are still in ${directory}; it can be deleted.`;
}
