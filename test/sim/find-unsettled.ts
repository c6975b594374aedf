import type { Pod, PodStatus } from "../../src/api/gen/types.ts";
import { podFullName, podUid } from "../../src/api/pods.ts";
import { findUnsettledInApi } from "./api/find-unsettled-in-api.ts";
import { behaviourOf, containersOf, hasMissingImage, outcomeOf } from "./pod-script.ts";
import { findUnsettledVolumes, isOverLimit, waitsForVolume } from "./storage/find-unsettled-volumes.ts";
import { short } from "./trace.ts";
import type { World } from "./world.ts";

const POD_DIRECTORIES = "/var/lib/kubelet/pods";
const LOG_DIRECTORIES = "/var/log/pods";

/** What is not yet as manifests and API say, in the node agent's memory, in the runtime and on disk; empty when all is. */
export async function findUnsettled(world: World): Promise<string[]> {
  const { memory } = world.node;
  if (memory === undefined) return ["no node agent is up"];
  const chosen = new Set<string>();
  const problems: string[] = [];
  for (const [fullName, uids] of [...world.manifests.groups(), ...listApiPods(world)]) {
    const working = uids.filter((uid) => memory.workers.states().has(uid));
    const [uid] = working;
    const refused = uids.find((each) => isRefusedForGood(world, each));
    if (uid === undefined && refused !== undefined) chosen.add(refused);
    else if (uid === undefined || working.length > 1) problems.push(`${working.length} workers for ${fullName}`);
    else {
      chosen.add(uid);
      const found = findInPod(world, uid);
      if (world.cri.sandboxes().some(({ state, config }) => state === "ready" && config.metadata?.uid === uid)) {
        found.push(...(await findMissingDirectories(world, uid)));
      }
      found.push(...(await findOverdueEviction(world, uid)));
      problems.push(...found.map((problem) => `${fullName} ${short(uid)}: ${problem}`));
    }
  }
  if (world.shortage?.wasShort(0) === true)
    problems.push(`the node has too little ${world.shortage.resource.name}, and nobody goes`);
  problems.push(...findStrangers(world, chosen), ...(await findLeftovers(world, chosen)));
  const { cluster } = world;
  if (cluster !== undefined) problems.push(...(await findUnsettledInApi(world, cluster, chosen)));
  if (cluster?.storage !== undefined) problems.push(...(await findUnsettledVolumes(world, cluster, cluster.storage)));
  return problems;
}

/** A second look at a refused pod finds it failed without a reason. */
function isGivenUpForShortage({ shortage }: World, uid: string): boolean {
  return shortage?.evicted.has(uid) === true || shortage?.refused.has(uid) === true;
}

/** There was no place for it, or too little of something. */
function isRefusedForGood({ places, shortage, node }: World, uid: string): boolean {
  const status = node.memory?.statuses.list().find(({ pod }) => podUid(pod) === uid)?.status;
  if (status?.phase !== "Failed") return false;
  const lackedPlace = places?.givenUp.has(uid) === true && status.reason === "OutOfpods";
  return lackedPlace || (shortage?.refused.has(uid) === true && status.reason === "Evicted");
}

/** One of each name, as the API server sees to. */
function listApiPods({ cluster }: World): Array<[fullName: string, uids: string[]]> {
  return (cluster?.pods.bound() ?? []).map((pod) => [podFullName(pod), [podUid(pod)]]);
}

function findStrangers({ node, cri }: World, chosen: ReadonlySet<string>): string[] {
  const { workers, statuses, cache, probes, cgroups, references, deliveries } = node.memory ?? {};
  const strange = (what: string, uids: Iterable<string>) =>
    [...uids].filter((uid) => !chosen.has(uid)).map((uid) => `${what} of pod ${short(uid)}, which is not wanted`);
  const inRuntime = cri.sandboxes().map(({ config }) => config.metadata?.uid ?? "");
  return [
    ...strange("a worker", workers?.states().keys() ?? []),
    ...strange("a published status", statuses?.list().map(({ pod }) => podUid(pod)) ?? []),
    ...strange("a sandbox", inRuntime),
    ...strange("probes", probes?.podUids() ?? []),
    ...strange("a share of its class", cgroups?.podUids() ?? []),
    ...strange("references", references?.podUids() ?? []),
    ...strange("a delivery", deliveries?.podUids() ?? []),
    ...((cache?.size ?? 0) > chosen.size ? [`${cache?.size} pods in the cache instead of ${chosen.size}`] : []),
  ];
}

async function findLeftovers({ host }: World, chosen: ReadonlySet<string>): Promise<string[]> {
  const list = async (path: string) =>
    (await host.files.stat(path)) === undefined ? [] : (await host.files.list(path)).map(({ name }) => name);
  const pods = (await list(POD_DIRECTORIES)).filter((uid) => !chosen.has(uid));
  const logs = (await list(LOG_DIRECTORIES)).filter((name) => !chosen.has(name.split("_").at(-1) ?? ""));
  const mounts = host.mounts
    .mounted()
    .map(({ path }) => path)
    .filter((path) => path.startsWith(`${POD_DIRECTORIES}/`) && !chosen.has(path.split("/")[5] ?? ""));
  const cgroups = [...host.cgroups.tree.limits.keys()].filter(
    (path) => path.includes("/pod") && !chosen.has(path.slice(path.lastIndexOf("/pod") + "/pod".length)),
  );
  return [
    ...cgroups.map((path) => `cgroup ${path}`),
    ...pods.map((uid) => `directory of pod ${short(uid)}`),
    ...logs.map((name) => `log directory ${name}`),
    ...mounts.map((path) => `mount ${path}`),
  ];
}

/** The newest container of each name and one before it are kept, and with them the sandboxes that they were in. */
const MOST_SANDBOXES_A_CONTAINER = 2;

function findInPod(world: World, uid: string): string[] {
  const pod = world.wanted.pod(uid);
  const status = world.node.memory?.statuses.list().find((published) => podUid(published.pod) === uid)?.status;
  if (pod === undefined || status === undefined) return ["no published status"];
  const sandboxes = world.cri.sandboxes().filter(({ config }) => config.metadata?.uid === uid);
  const ready = sandboxes.filter(({ state }) => state === "ready");
  const most = 1 + MOST_SANDBOXES_A_CONTAINER * containersOf(pod).length;
  const problems = sandboxes.length > most ? [`${sandboxes.length} sandboxes`] : [];
  const expected = outcomeOf(pod);
  const storage = world.cluster?.storage;
  const isRefused = storage !== undefined && isOverLimit(storage, pod, status.reason);
  const waits = storage !== undefined && status.phase === "Pending" && waitsForVolume(storage, pod);
  const isOver = status.phase === "Succeeded" || status.phase === "Failed";
  if (isOver) {
    const mayEnd =
      status.phase === expected ||
      isRefused ||
      world.places?.givenUp.has(uid) === true ||
      (status.phase === "Failed" && isGivenUpForShortage(world, uid)) ||
      (status.reason === "Evicted" && world.growth?.explains(uid, status.message ?? "") === true) ||
      (world.interference.pods.has(uid) && pod.spec?.restartPolicy !== "Always") ||
      lacksSuccessor(world, pod);
    if (!mayEnd) problems.push(`${status.phase} instead of ${expected}`);
    if (ready.length > 0) problems.push("over, with a ready sandbox");
    return problems;
  }
  if (waits && ready.length === 0) return problems;
  const ids = new Set(ready.map(({ id }) => id));
  const containers = world.cri.containers().filter(({ sandboxId }) => ids.has(sandboxId));
  const mayStay = expected === "stays" || (world.interference.pods.has(uid) && pod.spec?.restartPolicy === "Never");
  if (!mayStay) problems.push(`${status.phase} instead of ${expected}`);
  const mayBeGivenUp = world.interference.pods.has(uid) && pod.spec?.restartPolicy === "Never";
  if (ready.length !== 1 && !mayBeGivenUp) problems.push(`${ready.length} ready sandboxes`);
  const missing = listLasting(pod).filter(
    (name) => !containers.some(({ state, config }) => state === "running" && config.metadata?.name === name),
  );
  // Without its init containers nothing runs; that they are stuck is told by the phase.
  const mustRun = pod.spec?.restartPolicy === "Always" || !world.interference.pods.has(uid);
  if (status.phase !== "Pending" && mustRun) {
    problems.push(...missing.map((name) => `${name} does not run`));
  }
  problems.push(...findUnready(pod, status));
  if (status.phase === "Pending" && !hasObstacle(pod) && !mayBeGivenUp) problems.push("Pending without a reason");
  if (status.phase === "Running" && hasMissingInit(pod)) problems.push("Running before its init containers");
  return problems;
}

/**
 * A container was stopped for another image, and the one in its place could not be made then. Whoever comes back to it,
 * upstream too, finds an end as any other, after which the policy may let nothing begin.
 */
function lacksSuccessor({ cri, user }: World, pod: Pod): boolean {
  const uid = podUid(pod);
  if (user?.disturbed.has(uid) !== true || pod.spec?.restartPolicy === "Always") return false;
  return (pod.spec?.containers ?? []).some(({ name, image }) => {
    const own = cri.containers().filter(({ config }) => {
      return config.labels["io.kubernetes.pod.uid"] === uid && config.metadata?.name === name;
    });
    return own.length > 0 && own.every(({ config }) => config.image?.userSpecifiedImage !== image);
  });
}

/** The chaos is over: who is asked says yes. */
function findUnready(pod: Pod, status: PodStatus): string[] {
  const statuses = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])];
  return containersOf(pod).flatMap(({ name, readinessProbe, startupProbe }) => {
    const found = statuses.find((each) => each.name === name);
    if (found?.state?.running === undefined || (readinessProbe ?? startupProbe) === undefined) return [];
    return found.ready ? [] : [`${name} runs and is not ready`];
  });
}

/** It uses more of the disk than it may, and stays. */
async function findOverdueEviction({ growth, wanted, node }: World, uid: string): Promise<string[]> {
  const pod = wanted.pod(uid);
  if (growth === undefined || pod === undefined || node.memory?.workers.states().get(uid)?.phase !== "syncing")
    return [];
  return (await growth.overdue(pod)).map((verdict) => `is not evicted: ${verdict}`);
}

/** The directories of volumes and mounts that a running pod lacks: to lose them to a clean-up is the worst fault of all. */
async function findMissingDirectories({ host, wanted }: World, uid: string): Promise<string[]> {
  const volumes = (wanted.pod(uid)?.spec?.volumes ?? []).filter(({ emptyDir }) => emptyDir !== undefined);
  const paths = [
    `${POD_DIRECTORIES}/${uid}/volumes`,
    ...volumes.map(({ name }) => `${POD_DIRECTORIES}/${uid}/volumes/kubernetes.io~empty-dir/${name}`),
  ];
  const found = await Promise.all(paths.map(async (path) => ({ path, status: await host.files.stat(path) })));
  return found.flatMap(({ path, status }) => (status === undefined ? [`${path} is missing`] : []));
}

function listLasting(pod: Pod): string[] {
  const mains = pod.spec?.containers ?? [];
  return mains.filter((main) => behaviourOf(main).kind === "runs" && !hasMissingImage(main)).map(({ name }) => name);
}

/** Something that never starts, or an init container that never succeeds. */
function hasObstacle(pod: Pod): boolean {
  const all = [...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])];
  if (all.some((container) => hasMissingImage(container) || behaviourOf(container).kind === "cannot-start"))
    return true;
  return hasFailingInit(pod);
}

function hasFailingInit({ spec }: Pod): boolean {
  return (spec?.initContainers ?? []).some((init) => {
    const behaviour = behaviourOf(init);
    return init.restartPolicy !== "Always" && behaviour.kind === "exits" && behaviour.code !== 0;
  });
}

function hasMissingInit({ spec }: Pod): boolean {
  return (spec?.initContainers ?? []).some(hasMissingImage);
}
