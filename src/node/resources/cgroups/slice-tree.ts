import { sleep } from "../../../base/abort.ts";
import { computeBackOff } from "../../../base/back-off.ts";
import { type Clock, SECOND } from "../../../base/clock.ts";
import type { CgroupLimits, CgroupTree } from "../../../host/cgroup-tree-port.ts";
import type { Systemd } from "../../../host/systemd-port.ts";
import { listLimitProperties, listSliceProperties, roundQuota, type SliceFacts } from "./slice-properties.ts";

interface SliceTreeDeps {
  clock: Clock;
  /**
   * The tree of the kernel's files. Everything that systemd does not know of is done there, and everything is read
   * there.
   */
  files: CgroupTree;
  systemd: Systemd;
}

/** The limit is upstream's (libcontainer: `startUnit` of systemd/common.go). */
const START_LIMIT_MS = 30 * SECOND;
const LOOK = { initialMs: 1, maxMs: 250 };
const ROOT_SLICE = "-.slice";

/**
 * The tree of cgroups where systemd owns them: each of our cgroups is a slice, which systemd makes, limits and forgets.
 * Otherwise systemd would remove cgroups that it does not know. The behaviour is that of libcontainer's systemd/v1.go
 * and v2.go.
 */
export function createSliceTree({ clock, files, systemd }: SliceTreeDeps, facts: SliceFacts): CgroupTree {
  /**
   * The limits with which a slice was made, until it is limited again. Setting the same limits again would only be
   * another call.
   */
  const told = new Map<string, CgroupLimits>();

  /**
   * Waits until systemd has made the cgroup. systemd makes it first, so that the cgroup is systemd's in every hierarchy
   * that systemd has.
   */
  const untilThere = async (path: string): Promise<void> => {
    const { parent, unit } = splitPath(path);
    const deadline = clock.monotonic() + START_LIMIT_MS;
    for (let looks = 1; !files.children(parent).includes(unit); looks++) {
      if (clock.monotonic() >= deadline) {
        await systemd.resetFailedUnit(unit).catch(() => undefined);
        throw new Error(`Timeout waiting for systemd to create ${unit}`);
      }
      await sleep(clock, computeBackOff(looks, LOOK));
    }
  };

  /** Starts the slice. The result is false when there is one already, whose properties stay as they are. */
  const start = async (path: string, limits: CgroupLimits): Promise<boolean> => {
    const { unit, parentUnit } = splitPath(path);
    const properties = [
      ...listSliceProperties({ unit, parent: parentUnit }, facts),
      ...listLimitProperties(limits, facts),
    ];
    try {
      await systemd.startTransientUnit(unit, properties);
      return true;
    } catch (error) {
      // A slice that runs, or that has a unit file of its own, is no failure; the error tells this case only in words.
      const isActive = await systemd.isActive(unit).catch(() => undefined);
      if (isActive === true) return false;
      const isStarted = isActive === false && (await startLoaded(systemd, unit));
      if (!isStarted) throw error;
      return false;
    }
  };

  return {
    ...files,
    async make(path, limits = {}) {
      told.delete(path);
      const isNew = await start(path, limits);
      if (isNew) await untilThere(path);
      // This makes the rest: hierarchies of version 1 that systemd does not have, and controllers of version 2 that it
      // does not hand down.
      await files.make(path);
      if (isNew) told.set(path, limits);
    },
    async limit(path, limits) {
      const isTold = told.get(path) === limits;
      told.delete(path);
      const properties = isTold ? [] : listLimitProperties(limits, facts);
      if (properties.length > 0) await systemd.setUnitProperties(splitPath(path).unit, properties);
      await files.limit(path, roundQuota(limits));
    },
    async remove(path, options) {
      told.delete(path);
      // The kernel removes the cgroup first: only the kernel refuses while there are processes, which systemd would
      // end. Then no process is left for systemd to end.
      await files.remove(path, options);
      const { unit } = splitPath(path);
      try {
        await systemd.stopUnit(unit);
      } catch (error) {
        if (await systemd.isActive(unit).catch(() => true)) throw error;
        await systemd.resetFailedUnit(unit).catch(() => undefined);
      }
    },
  };
}

async function startLoaded(systemd: Systemd, unit: string): Promise<boolean> {
  await systemd.resetFailedUnit(unit).catch(() => undefined);
  return await systemd.startUnit(unit).then(
    () => true,
    () => false,
  );
}

/** `/a.slice/a-b.slice` is the unit `a-b.slice` in `a.slice`; a slice at the top is in systemd's root. */
function splitPath(path: string): { parent: string; parentUnit: string; unit: string } {
  const end = path.lastIndexOf("/");
  const parent = path.slice(0, end);
  return {
    parent: parent === "" ? "/" : parent,
    parentUnit: parent === "" ? ROOT_SLICE : parent.slice(parent.lastIndexOf("/") + 1),
    unit: path.slice(end + 1),
  };
}
