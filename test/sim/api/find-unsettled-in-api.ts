import type { Node, Pod, PodStatus } from "../../../src/api/gen/types.ts";
import { LEASES, NODES } from "../../../src/api/kube-resource.ts";
import { podFullName, podUid } from "../../../src/api/pods.ts";
import { parseTime } from "../../../src/base/clock.ts";
import { manifestHash, mirroredHash } from "../../../src/node/pods/mirror-pods/make-mirror-pod.ts";
import { NODE_NAME } from "../manifests.ts";
import { short } from "../trace.ts";
import type { World } from "../world.ts";
import { referencesOf } from "./api-objects.ts";
import type { Cluster } from "./create-cluster.ts";
import { readShown } from "./read-shown.ts";

/** What of the API is not yet as it has to be; empty when all is. `chosen`: the pods that are to be here. */
export async function findUnsettledInApi(
  world: World,
  cluster: Cluster,
  chosen: ReadonlySet<string>,
): Promise<string[]> {
  const bound = cluster.pods.bound();
  const ending = bound.filter(({ metadata }) => metadata?.deletionTimestamp !== undefined);
  return [
    ...ending.map((pod) => `${nameOf(pod)} is deleted and still in the API`),
    ...bound.flatMap((pod) => findStatusProblems(world, podUid(pod), pod)),
    ...bound.flatMap((pod) => findOutdatedVolumes(world, pod)),
    ...findMirrorProblems(world, cluster, chosen),
    ...(await findNodeProblems(world, cluster)),
  ];
}

function nameOf(pod: Pod): string {
  return `${podFullName(pod)} ${short(podUid(pod))}`;
}

/** What the API says of the pod is what the node agent says. */
function findStatusProblems({ node }: World, uid: string, shown: Pod): string[] {
  const own = node.memory?.statuses.list().find(({ pod }) => podUid(pod) === uid)?.status;
  if (own === undefined) return [];
  const [told, known] = [describe(shown.status ?? {}), describe(own)];
  return told === known ? [] : [`${nameOf(shown)}: the API says ${told}, the node ${known}`];
}

function describe(status: PodStatus): string {
  const { phase, podIP, initContainerStatuses = [], containerStatuses = [], conditions = [] } = status;
  const containers = [...initContainerStatuses, ...containerStatuses].map(
    ({ name, restartCount, ready, state, containerID }) => {
      const { running, terminated, waiting } = state ?? {};
      const words = running ? "running" : terminated ? `ended ${terminated.exitCode}` : `waits ${waiting?.reason}`;
      return `${name} ${words} ${ready ? "ready" : "unready"} ${restartCount} ${short(containerID?.slice(13) ?? "")}`;
    },
  );
  const ready = conditions.find(({ type }) => type === "Ready")?.status;
  return `${phase} ${podIP ?? "no IP"} Ready ${ready} (${containers.toSorted().join(", ")})`;
}

/** What a running pod shows of secrets and config maps in its volumes is what they say now. */
function findOutdatedVolumes(world: World, pod: Pod): string[] {
  const isRunning = world.cri
    .sandboxes()
    .some(({ state, config }) => state === "ready" && config.metadata?.uid === podUid(pod));
  if (!isRunning || pod.metadata?.deletionTimestamp !== undefined) return [];
  return referencesOf(pod).flatMap(({ kind, name, at }) => {
    if (!("volume" in at)) return [];
    const shown = readShown(world.host.files, podUid(pod), at);
    const wanted = world.user?.word(kind, name);
    return shown === wanted
      ? []
      : [`${nameOf(pod)}: volume ${at.volume} shows ${shown} of ${kind} ${name}, not ${wanted}`];
  });
}

/** Each static pod has one mirror, of its manifest, which says how it is; and there are no others. */
function findMirrorProblems(world: World, cluster: Cluster, chosen: ReadonlySet<string>): string[] {
  const statics = new Map(
    [...world.manifests.groups()].flatMap(([fullName, uids]) => {
      const pod = world.manifests.pod(uids.find((uid) => chosen.has(uid)) ?? "");
      return pod === undefined ? [] : [[fullName, pod] as const];
    }),
  );
  const mirrors = cluster.pods.mirrors();
  const missing = [...statics.keys()].filter((name) => !mirrors.some((mirror) => podFullName(mirror) === name));
  const problems = mirrors.flatMap((mirror) => {
    const pod = statics.get(podFullName(mirror));
    if (pod === undefined) return [`mirror ${nameOf(mirror)} shows nothing`];
    if (mirror.metadata?.deletionTimestamp !== undefined) return [`mirror ${nameOf(mirror)} is being deleted`];
    if (mirroredHash(mirror) !== manifestHash(pod)) return [`mirror ${nameOf(mirror)} is of another manifest`];
    return findStatusProblems(world, podUid(pod), mirror);
  });
  return [...missing.map((name) => `no mirror of ${name}`), ...problems];
}

async function findNodeProblems({ clock }: World, { admin }: Cluster): Promise<string[]> {
  const [node] = (await admin.list(NODES)).items.filter(({ metadata }) => metadata?.name === NODE_NAME);
  if (node === undefined) return ["no node object"];
  const leases = await admin.list(LEASES, { namespace: "kube-node-lease" });
  const lease = leases.items.find(({ metadata }) => metadata?.name === NODE_NAME);
  const renewedAt = parseTime(lease?.spec?.renewTime);
  const { leaseDurationSeconds = 40 } = lease?.spec ?? {};
  const isFresh = renewedAt !== undefined && Math.abs(clock.now() - renewedAt) < leaseDurationSeconds * 1000;
  const owner = lease?.metadata?.ownerReferences?.[0]?.uid;
  return [
    ...(isReady(node) ? [] : ["the node is not Ready"]),
    ...(isPressed(node) ? ["the node says that it is short of something"] : []),
    ...(isTaintedByPressure(node) ? ["the node has the taint of a shortage that is over"] : []),
    ...(isFresh
      ? []
      : [`the node's lease was renewed ${renewedAt === undefined ? "never" : `${clock.now() - renewedAt} ms ago`}`]),
    ...(owner === node.metadata?.uid ? [] : ["the node's lease is that of another node object"]),
  ];
}

function isReady({ status }: Node): boolean {
  return status?.conditions?.find(({ type }) => type === "Ready")?.status === "True";
}

function isTaintedByPressure({ spec }: Node): boolean {
  return (spec?.taints ?? []).some(({ key }) => key.endsWith("-pressure"));
}

function isPressed({ status }: Node): boolean {
  return (status?.conditions ?? []).some(({ type, status: is }) => type !== "Ready" && is === "True");
}
