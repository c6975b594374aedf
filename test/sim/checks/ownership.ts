import { short } from "../trace.ts";
import type { World } from "../world.ts";
import type { Check } from "./check.ts";

/** Beyond the grace period: the next look at the files, a worker's back-off, a relist, and something to spare. */
const BOUND_MS = 90_000;

/** A container that runs is of a pod that is wanted, or stops soon, counted from when nothing is broken any more. */
export function createOwnershipCheck(world: World): Check {
  return {
    stepped() {
      const now = world.clock.monotonic();
      const wallClockAtStart = world.clock.now() - now;
      for (const container of world.cri.runningContainers()) {
        const sandbox = world.cri.sandboxes().find(({ id }) => id === container.sandboxId);
        const uid = sandbox?.config.metadata?.uid ?? "";
        const unwantedSince = world.wanted.unwantedSince(uid);
        if (unwantedSince === undefined || world.wanted.pod(uid) === undefined) continue;
        const since = Math.max(
          unwantedSince,
          Math.min(now, container.startedAt - wallClockAtStart),
          world.faults.calmSince(),
        );
        if (now - since <= world.wanted.gracePeriodMs(uid).most + BOUND_MS) continue;
        const name = `${sandbox?.config.metadata?.name}/${container.config.metadata?.name} ${short(container.id)}`;
        world.fail("what runs is wanted or stops soon", `${name} has run for ${now - since} ms since all was well`);
      }
    },
  };
}
