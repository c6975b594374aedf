import { short } from "../trace.ts";
import type { World } from "../world.ts";
import type { Check } from "./check.ts";

/** Every container starts beneath its pod's cgroup, which stays for as long as one of them runs and has limits. */
export function createPodCgroupsCheck(world: World): Check {
  const { cri, host } = world;
  const { limits } = host.cgroups.tree;
  return {
    stepped() {
      const parents = new Map(cri.sandboxes().map(({ id, config }) => [id, config]));
      for (const container of cri.runningContainers()) {
        const config = parents.get(container.sandboxId);
        const parent = config?.linux?.cgroupParent ?? "";
        const name = `${config?.metadata?.name}/${container.config.metadata?.name} ${short(container.id)}`;
        if (!parent.endsWith(`/pod${config?.metadata?.uid}`)) {
          world.fail("containers are in their pod's cgroup", `${name} is in "${parent}"`);
        } else if (limits.get(parent) === undefined) {
          world.fail("no cgroup is removed while a container of it runs", `${name} is in ${parent}`);
        }
      }
    },
  };
}
