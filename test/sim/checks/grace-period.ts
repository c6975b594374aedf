import { SHUTDOWN_PERIOD_MS } from "../machine-shutdown.ts";
import { short } from "../trace.ts";
import type { World } from "../world.ts";
import type { Check } from "./check.ts";
import { readText } from "./read-text.ts";

const KILLED = 137;
const TOLERANCE_MS = 1;
/** Upstream's, of a pod that uses more of the disk than it may. */
const EVICTION_GRACE_PERIOD_MS = 1_000;

/** A pod's containers are killed no earlier than its grace period after the first of them was asked to stop. */
export function createGracePeriodCheck(world: World): Check {
  /** When stopping began, by sandbox. */
  const begun = new Map<string, number>();
  return {
    called(rpc, request) {
      if (rpc !== "stopContainer" && rpc !== "execSync") return;
      const id = readText(request, "containerId");
      const sandboxId = world.cri.containers().find((container) => container.id === id)?.sandboxId;
      if (sandboxId !== undefined && !begun.has(sandboxId)) begun.set(sandboxId, world.clock.monotonic());
    },
    occurred({ what, podUid, podName, containerName, id, sandboxId, exitCode }) {
      if (what !== "container-exited" || exitCode !== KILLED) return;
      if (world.interference.endedContainers.has(id)) return;
      if (world.wanted.pod(podUid) === undefined) return;
      const ofPod = world.wanted.gracePeriodMs(podUid).least;
      const isEvicted = [world.growth, world.shortage].some((trouble) => trouble?.evicted.has(podUid) === true);
      const most = isEvicted ? EVICTION_GRACE_PERIOD_MS : world.shutdown?.hasBegun ? SHUTDOWN_PERIOD_MS : ofPod;
      const least = Math.min(ofPod, most);
      const askedAt = begun.get(sandboxId);
      const elapsed = askedAt === undefined ? undefined : world.clock.monotonic() - askedAt;
      if (elapsed !== undefined && elapsed + TOLERANCE_MS >= least) return;
      const when =
        elapsed === undefined ? "without having been asked to stop" : `${elapsed} ms after it was asked to stop`;
      const message = `${podName}/${containerName} ${short(id)} was killed ${when}; it has ${least} ms`;
      world.fail("SIGKILL never before the grace period is over", message);
    },
  };
}
