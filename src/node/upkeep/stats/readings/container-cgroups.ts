import { type Clock, SECOND } from "../../../../base/clock.ts";
import type { Cgroups } from "../../../../host/cgroups-port.ts";

/** Finds the cgroups of containers. */
interface ContainerCgroups {
  /**
   * Returns the paths of the cgroups that were found, by container id. The tree is searched only for containers that
   * are new.
   */
  pathsOf(ids: ReadonlySet<string>): Promise<ReadonlyMap<string, string>>;
}

interface ContainerCgroupsDeps {
  readonly cgroups: Pick<Cgroups, "find">;
  readonly clock: Pick<Clock, "monotonic">;
}

/**
 * A container without a cgroup is searched for again after this long, because the runtime may list a container before
 * its cgroup is there.
 */
const RETRY_MS = 10 * SECOND;

/** The finder forgets containers that are no longer asked for. */
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
