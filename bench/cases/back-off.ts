import { setTimeout as delay } from "node:timers/promises";
import type { Cri } from "../../src/cri/port.ts";
import { timed } from "../measure.ts";
import { listContainers, seeNoSandbox, toMilliseconds } from "../observe.ts";
import { createPoll } from "../poll.ts";
import { crashingPod } from "../workload.ts";
import type { Case } from "./case.ts";

const POLL_MS = 100;
/** The first restart is at once; the second waits this long after the end of the first. */
const FIRST_BACK_OFF_MS = 10_000;
/** Apart, so that no restart waits for another's start. */
const STAGGER_MS = 400;

/** How much later than its time a crashed container is made again. */
export const backOff: Case = async ({ agent, world, sizes, signal, progress }) => {
  const names = Array.from({ length: sizes.crashingPods }, (_, index) => `crash-${index}`);
  progress(`${names.length} pods that crash`);
  const stopWatching = new AbortController();
  const watching = watchContainers(world.cri, sizes.crashingPods, AbortSignal.any([signal, stopWatching.signal]));
  try {
    for (const name of names) {
      await agent.write(crashingPod(name));
      await delay(STAGGER_MS, undefined, { signal });
    }
    const lateness = await watching;
    for (const name of names) await agent.remove(name);
    await seeNoSandbox(world.cri, createPoll({ intervalMs: POLL_MS, signal }));
    const name = "back-off over → container made again";
    return [timed({ case: "back-off", name, target: { of: "value", p99: 100 } }, lateness)];
  } finally {
    stopWatching.abort();
    await watching.catch(() => undefined);
  }
};

/** Until each pod has been restarted after a back-off: by how much each was late, in milliseconds. */
async function watchContainers(cri: Cri, pods: number, signal: AbortSignal): Promise<number[]> {
  const poll = createPoll({ intervalMs: POLL_MS, signal });
  /** When the container of the first restart ended, by pod. Kept, because the runtime forgets old containers. */
  const endedAt = new Map<string, number>();
  const lateness = new Map<string, number>();
  while (lateness.size < pods) {
    await poll.until("a restart after a back-off", async () => {
      const known = lateness.size;
      for (const { id, podUid, metadata, createdAt } of await listContainers(cri)) {
        const attempt = metadata?.attempt ?? 0;
        if (attempt === 1) {
          const { status } = await cri.runtime.containerStatus({ containerId: id, verbose: false });
          if (status !== undefined && status.finishedAt > 0n) endedAt.set(podUid, toMilliseconds(status.finishedAt));
        }
        const ended = endedAt.get(podUid);
        if (attempt !== 2 || ended === undefined) continue;
        lateness.set(podUid, toMilliseconds(createdAt) - ended - FIRST_BACK_OFF_MS);
      }
      return lateness.size > known ? true : undefined;
    });
  }
  return [...lateness.values()];
}
