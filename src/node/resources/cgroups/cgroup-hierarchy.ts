import type { QosClass } from "../../../api/qos.ts";
import { sleep, untilAborted } from "../../../base/abort.ts";
import { computeBackOff } from "../../../base/back-off.ts";
import { type Clock, MINUTE, SECOND } from "../../../base/clock.ts";
import { CodedError, codeOf, messageOf } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import type { CgroupLimits, CgroupTree } from "../../../host/cgroup-tree-port.ts";
import {
  type CgroupDriver,
  type CgroupName,
  cgroupPathOf,
  describeName,
  nameOfAllPods,
  nameOfClass,
  partsOf,
  quoteName,
} from "./cgroup-name.ts";

/** The cgroups above those of the pods. */
export interface CgroupHierarchy {
  /**
   * Resolves when the hierarchy stands, and rejects while the last attempt to make it has failed. Waits for the runtime
   * to be there.
   */
  standing(signal: AbortSignal): Promise<Standing>;
  /** Returns the hierarchy; undefined while it does not stand. */
  current(): Standing | undefined;
  /**
   * Makes the hierarchy, and tries again until it stands. Rejects, for good, where this process may not make cgroups.
   */
  raise(signal: AbortSignal): Promise<Standing>;
}

/** How the cgroups are named and changed. */
export interface Standing {
  readonly driver: CgroupDriver;
  /** The tree in which the driver makes the cgroups. */
  readonly tree: CgroupTree;
  readonly allPods: CgroupName;
  nameOf(qosClass: QosClass): CgroupName;
  pathOf(name: CgroupName): string;
}

/** What the pods of each class may use together. The entry of the guaranteed class holds what all pods may use. */
export type ClassLimits = Readonly<Record<QosClass, CgroupLimits>>;

interface CgroupHierarchyDeps {
  clock: Clock;
  log: Log;
  driver(signal: AbortSignal): Promise<CgroupDriver>;
  /** Returns the driver's tree. Rejects, for good, where the driver cannot make cgroups here. */
  treeOf(driver: CgroupDriver): Promise<CgroupTree>;
  /** Reads the limits of the cgroup of all pods, when that cgroup is made. */
  readLimits(): Promise<CgroupLimits>;
  /** The limits of the classes, while no pods are known. */
  classLimits: ClassLimits;
}

type Outcome = { readonly ok: true; readonly standing: Standing } | { readonly ok: false; readonly error: unknown };

const QUESTION = { initialMs: 100, maxMs: SECOND };
const RETRY = { initialMs: SECOND, maxMs: MINUTE };
const MEND = "for pods without cgroups of their own set cgroupsPerQOS: false and enforceNodeAllocatable: []";
const NOT_ALLOWED = new Set(["EROFS", "EACCES", "EPERM"]);
const FINAL = new Set(["not-allowed", "no-cgroup-root"]);
const NO_SYSTEMD = "the runtime has systemd make its cgroups, and systemd cannot be asked for those of pods";
const SYSTEMD_MEND = `set cgroupDriver: cgroupfs and SystemdCgroup = false in the runtime; ${MEND}`;

/**
 * Throws, in upstream's words, where the configured root does not exist for any of the drivers. By default all drivers
 * count, because the runtime has not told yet which one it uses.
 */
export function checkCgroupRoot(
  tree: Pick<CgroupTree, "findLack">,
  root: string,
  drivers: readonly CgroupDriver[] = ["cgroupfs", "systemd"],
): void {
  const lacks = drivers.map((driver) => tree.findLack(cgroupPathOf(partsOf(root), driver)));
  if (lacks.includes(undefined)) return;
  const message = `invalid configuration: cgroup ${quoteName(partsOf(root))} ${lacks[0]}`;
  throw new CodedError("no-cgroup-root", `${message} (make it; ${MEND})`);
}

/** `root` is the cgroup beneath which pods get theirs; `/` is the root of all cgroups. */
export function createCgroupHierarchy(deps: CgroupHierarchyDeps, { root }: { readonly root: string }): CgroupHierarchy {
  const { clock, log } = deps;
  let outcome: Outcome | undefined;
  let tell = () => {};
  const firstOutcome = new Promise<void>((resolve) => {
    tell = resolve;
  });

  /**
   * Asks for the driver until the runtime answers. No pod can start before that; other parts log why the runtime does
   * not answer.
   */
  const learnDriver = async (signal: AbortSignal): Promise<CgroupDriver> => {
    for (let failures = 1; ; failures++) {
      try {
        return await deps.driver(signal);
      } catch (error) {
        signal.throwIfAborted();
        log.debug("The runtime does not tell its cgroup driver yet", { error: messageOf(error) });
      }
      await sleep(clock, computeBackOff(failures, QUESTION), signal);
    }
  };

  const findTree = async (driver: CgroupDriver): Promise<CgroupTree> => {
    try {
      return await deps.treeOf(driver);
    } catch (error) {
      throw new CodedError("not-allowed", `${NO_SYSTEMD}: ${messageOf(error)} (${SYSTEMD_MEND})`, { cause: error });
    }
  };

  const attempt = async (driver: CgroupDriver, signal: AbortSignal): Promise<Outcome> => {
    try {
      const standing = createStanding(root, driver, await findTree(driver));
      if (root !== "/") checkCgroupRoot(standing.tree, root, [driver]);
      await makeAll(deps, standing);
      return { ok: true, standing };
    } catch (error) {
      signal.throwIfAborted();
      return { ok: false, error: NOT_ALLOWED.has(codeOf(error) ?? "") ? notAllowed(error) : error };
    }
  };

  return {
    async standing(signal) {
      if (outcome === undefined) await untilAborted(firstOutcome, signal);
      if (outcome?.ok === true) return outcome.standing;
      throw outcome?.error;
    },
    current: () => (outcome?.ok === true ? outcome.standing : undefined),
    async raise(signal) {
      const driver = await learnDriver(signal);
      for (let failures = 1; ; failures++) {
        const next = await attempt(driver, signal);
        outcome = next;
        tell();
        if (next.ok) return next.standing;
        if (FINAL.has(codeOf(next.error) ?? "")) throw next.error;
        log.warn("The cgroups of pods cannot be made, will be tried again", { error: messageOf(next.error) });
        await sleep(clock, computeBackOff(failures, RETRY), signal);
      }
    },
  };
}

function createStanding(root: string, driver: CgroupDriver, tree: CgroupTree): Standing {
  const allPods = nameOfAllPods(root);
  return {
    driver,
    tree,
    allPods,
    nameOf: (qosClass) => nameOfClass(allPods, qosClass),
    pathOf: (name) => cgroupPathOf(name, driver),
  };
}

/**
 * Makes the cgroups from the top down. Cgroups that exist already may hold pods: the classes get new limits at once,
 * and the cgroup of all pods gets them from the part that enforces the node's allocatable resources.
 */
async function makeAll(deps: CgroupHierarchyDeps, standing: Standing): Promise<void> {
  const { log, readLimits, classLimits } = deps;
  const { tree } = standing;
  const limit = async (path: string, limits: CgroupLimits) =>
    await tree.limit(path, limits).catch((error: unknown) => {
      log.warn("A cgroup cannot be limited yet, will be tried again", { cgroup: path, error: messageOf(error) });
    });
  const allPods = standing.pathOf(standing.allPods);
  if (tree.findLack(allPods) !== undefined) {
    await tree.make(allPods);
    const lack = tree.findLack(allPods);
    // The cgroups above it do not hand their controllers down, as in a container that has processes at its root.
    if (lack !== undefined) throw notValid(standing.allPods, lack);
    await limit(allPods, await readLimits());
  }
  for (const qosClass of ["Burstable", "BestEffort"] as const) {
    const path = standing.pathOf(standing.nameOf(qosClass));
    if (tree.findLack(path) !== undefined) await tree.make(path);
    await limit(path, classLimits[qosClass]);
  }
}

/** The words are upstream's: `Start` of cm/qos_container_manager_linux.go. */
function notValid(name: CgroupName, lack: string): Error {
  const words = "failed to initialize top level QOS containers: error validating root container";
  return new CodedError("not-allowed", `${words} ${describeName(name)} : cgroup ${quoteName(name)} ${lack} (${MEND})`);
}

function notAllowed(error: unknown): Error {
  const message = `this process may not make cgroups: ${messageOf(error)} (run it as root where they can be written; ${MEND})`;
  return new CodedError("not-allowed", message, { cause: error });
}
