import { podReference } from "../../../src/api/pods.ts";
import type { World } from "../world.ts";
import type { Check } from "./check.ts";

const WINDOW_MS = 10_000;
/** Ten pods that come and go together are some hundreds, most of them events. */
const MOST_CALLS = 1_000;
/** The writes that one change of a pod may take when nothing is broken: another writer may have come first. */
const MOST_PATCHES = 6;

/** The API server is asked a bounded number of times, and told each change of a pod about once. */
export function createApiWorkloadCheck(world: World): Check {
  let windowEnds = 0;
  let calls = 0;
  /** Since the newest news of the pod, by namespace and name: a mirror has those of its static pod. */
  const patches = new Map<string, number>();
  let calmSince = 0;
  const keyOf = (pod: Parameters<typeof podReference>[0]) => {
    const { namespace, name } = podReference(pod);
    return `${namespace}/${name}`;
  };
  return {
    started: () => patches.clear(),
    published: ({ pod }) => void patches.delete(keyOf(pod)),
    stored({ pod, previous }) {
      const isOurs = previous !== undefined && JSON.stringify(previous.status) !== JSON.stringify(pod.status);
      if (!isOurs) patches.delete(keyOf(pod));
    },
    asked({ verb, plural }) {
      const now = world.clock.monotonic();
      if (now >= windowEnds) {
        windowEnds = now + WINDOW_MS;
        calls = 0;
      }
      calls++;
      if (calls > MOST_CALLS)
        world.fail("the API server is not asked without end", `${calls} calls within 10 s, now ${verb} ${plural}`);
    },
    wrote({ verb, plural, namespace, name, subresource }) {
      if (verb !== "patch" || plural !== "pods" || subresource !== "status") return;
      if (world.faults.calmSince() !== calmSince) patches.clear();
      calmSince = world.faults.calmSince();
      const key = `${namespace}/${name}`;
      const count = (patches.get(key) ?? 0) + 1;
      patches.set(key, count);
      if (count > MOST_PATCHES) world.fail("a change of a pod is told about once", `${key}: ${count} times`);
    },
  };
}
