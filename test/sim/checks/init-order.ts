import { isRestartableInitContainer } from "../../../src/api/pods.ts";
import type { World } from "../world.ts";
import type { Check } from "./check.ts";

/** An init container starts when those before it are done in the same sandbox, a main container when all are. */
export function createInitOrderCheck(world: World): Check {
  /** `sandbox/container` of those that completed, or for a sidecar have started. */
  const passed = new Set<string>();
  return {
    occurred({ what, podUid, podName, containerName, sandboxId, exitCode }) {
      const inits = world.wanted.pod(podUid)?.spec?.initContainers ?? [];
      const own = inits.findIndex(({ name }) => name === containerName);
      const init = inits[own];
      if (what === "container-started") {
        const before = own < 0 ? inits : inits.slice(0, own);
        const missing = before.find(({ name }) => !passed.has(`${sandboxId}/${name}`));
        if (missing !== undefined) {
          world.fail("init containers run in order", `${podName}/${containerName} before ${missing.name} is done`);
        }
      }
      if (init === undefined) return;
      const isSidecar = isRestartableInitContainer(init);
      const passes = isSidecar ? what === "container-started" : what === "container-exited" && exitCode === 0;
      if (passes) passed.add(`${sandboxId}/${containerName}`);
    },
  };
}
