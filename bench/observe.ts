import type { Pod } from "../src/api/gen/types.ts";
import { POD_UID_LABEL } from "../src/api/well-known.ts";
import type { Cri } from "../src/cri/port.ts";
import type { Agent } from "./agent.ts";
import type { Poll } from "./poll.ts";

/**
 * Resolves when every one of these pods fits, with the time (of `performance.now()`) at which each was first seen to.
 * One answer of the node shows all of its pods, so looking costs the same for one of them as for all.
 */
export async function seePods(
  agent: Agent,
  poll: Poll,
  wanted: { names: readonly string[]; what: string; fits: (pod: Pod) => boolean },
): Promise<ReadonlyMap<string, number>> {
  const seen = new Map<string, number>();
  const missing = new Set(wanted.names);
  while (missing.size > 0) {
    await poll.until(`${[...missing][0]} and ${missing.size - 1} more: ${wanted.what}`, async () => {
      const pods = await agent.pods();
      const fitting = [...missing].filter((name) => {
        const pod = pods.get(name);
        return pod !== undefined && wanted.fits(pod);
      });
      for (const name of fitting) {
        seen.set(name, performance.now());
        missing.delete(name);
      }
      return fitting.length > 0 ? fitting : undefined;
    });
  }
  return seen;
}

export const isRunning = (pod: Pod): boolean => pod.status?.phase === "Running";

/** Resolves when the runtime holds no sandbox at all, with the time of `performance.now()` at which that was seen. */
export async function seeNoSandbox(cri: Cri, poll: Poll): Promise<number> {
  return await poll.until("the end of all sandboxes", async () => {
    const { items } = await cri.runtime.listPodSandbox({ filter: undefined });
    return items.length === 0 ? performance.now() : undefined;
  });
}

/** Containers of the runtime with the UID of their pod. */
export async function listContainers(cri: Cri) {
  const { containers } = await cri.runtime.listContainers({ filter: undefined });
  return containers.map((container) => ({ ...container, podUid: container.labels[POD_UID_LABEL] ?? "" }));
}

/** Nanoseconds since the epoch, as CRI counts, in milliseconds with their fraction. */
export function toMilliseconds(nanoseconds: bigint): number {
  return Number(nanoseconds / 1_000n) / 1_000;
}
