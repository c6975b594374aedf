import { existsSync } from "node:fs";
import { CodedError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { toPlainText } from "../base/plain-text.ts";
import { claimProcessLock, readLockHolder } from "../cluster/processes/process-lock.ts";
import { removeAllPods } from "../cluster/supervisor/remove-pods.ts";
import type { StateLayout } from "../cluster/supervisor/state-layout.ts";
import { removeNodeRunState, stopNode } from "../cluster/supervisor/stop-node.ts";
import { createLineLog } from "./line-log.ts";
import { openProgress } from "./open-progress.ts";
import { describeRunningPods } from "./pod-table.ts";
import { joinWaits, type Progress } from "./progress.ts";
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
  const log = createLineLog((line) => process.stderr.write(line), Date.now);
  const quiet: Log = { ...log, info: () => undefined };
  const progress = openProgress("text");
  if ((await readLockHolder(layout.lock)) !== undefined) progress.line("Stopping nodelet …");
  progress.waiting("nodelet to stop");
  const stopped = await stopNode(layout, quiet).finally(() => progress.waiting(undefined));
  console.log(stopped.ran ? "nodelet is stopped." : `nodelet does not run in ${layout.directory}.`);
  if (stopped.service !== undefined) console.log(describeService(stopped.service));
  if (!options.pods) {
    if (stopped.pods > 0)
      console.log(`${describeRunningPods(stopped.pods)} on. To remove what runs: nodelet down --pods`);
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
    const progress = openProgress("text");
    progress.line("Stopping the pods, each within its grace period …");
    const ending = createEndingPods(progress);
    const complete = await removeAllPods(layout, {
      log,
      onEnding: ending.add,
      onRemoved(pod) {
        ending.remove(pod);
        progress.line(`  ${pod} is removed`);
      },
      onFailure(pod, reason) {
        ending.remove(pod);
        console.error(toPlainText(`  ${pod}: ${reason.slice(0, MAX_REASON_CHARACTERS)}`));
      },
      signal: new AbortController().signal,
    }).finally(() => progress.waiting(undefined));
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

/** A service that is stopped is one of the machine still. */
function describeService(service: string): string {
  return `Start its service again: systemctl start ${service}   Keep it from starting with the machine: systemctl disable ${service}`;
}

/** Tells which pods still end, and how long each may take. */
function createEndingPods(progress: Progress) {
  const ending = new Map<string, string>();
  const tell = () => progress.waiting(joinWaits([...ending.values()]));
  return {
    add(pod: string, gracePeriodSeconds: number) {
      ending.set(pod, `${pod} (up to ${gracePeriodSeconds} s)`);
      tell();
    },
    remove(pod: string) {
      ending.delete(pod);
      tell();
    },
  };
}

function whatStays({ directory }: StateLayout): string {
  return `Images, logs, local volumes and what the Kubernetes API holds are still in ${directory}; it can be deleted.`;
}
