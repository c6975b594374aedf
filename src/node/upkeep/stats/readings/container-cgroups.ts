import { type Clock, SECOND } from "../../../../base/clock.ts";
import type { Cgroups } from "../../../../host/cgroups-port.ts";

/** Knows where the cgroups of containers are. */
interface ContainerCgroups {
  /** The paths by id, of those that are found. The tree is looked through only for containers that are new. */
  pathsOf(ids: ReadonlySet<string>): Promise<ReadonlyMap<string, string>>;
}

interface ContainerCgroupsDeps {
  readonly cgroups: Pick<Cgroups, "find">;
  readonly clock: Pick<Clock, "monotonic">;
}

/** What has no cgroup is looked for again after this long: the runtime may be slower than its list. */
const RETRY_MS = 10 * SECOND;

/** Nothing is kept of containers that are not asked for any more. */
export function createContainerCgroups({ cgroups, clock }: ContainerCgroupsDeps): ContainerCgroups {
  let paths: ReadonlyMap<string, string> = new Map();
  let missed: ReadonlyMap<string, number> = new Map();
  return {
    async pathsOf(ids) {
      const now = clock.monotonic();
      const isDue = (id: string) => now - (missed.get(id) ?? Number.NEGATIVE_INFINITY) >= RETRY_MS;
      const wanted = new Set([...ids].filter((id) => !paths.has(id) && isDue(id)));
      const found = wanted.size === 0 ? new Map<string, string>() : await cgroups.find(wanted);
      const next = new Map([...paths, ...found].filter(([id]) => ids.has(id)));
      const still = [...ids].filter((id) => !next.has(id));
      missed = new Map(still.map((id) => [id, wanted.has(id) ? now : (missed.get(id) ?? now)]));
      paths = next;
      return next;
    },
  };
}
