import type { World } from "../world.ts";
import { DATA_DIRECTORY, handleOf, LOCAL_DIRECTORY, type PlannedClaim } from "./storage-plan.ts";

const PODS = "/var/lib/kubelet/pods";

/** The UID of the pod whose directory the path is or lies in; empty for any other path. */
export function podOfPath(path: string): string {
  return path.startsWith(`${PODS}/`) ? (path.slice(PODS.length + 1).split("/")[0] ?? "") : "";
}

/** Where the volume of a claim is mounted for a pod. */
export function pathOfClaim(podUid: string, { kind, name }: PlannedClaim): string {
  const volumes = `${PODS}/${podUid}/volumes`;
  return kind === "csi"
    ? `${volumes}/kubernetes.io~csi/${name}/mount`
    : `${volumes}/kubernetes.io~local-volume/${name}`;
}

interface PodVolumeQuestion {
  podUid: string;
  claim: PlannedClaim;
  /** Where a container finds it; undefined where it finds it nowhere. */
  at: string | undefined;
  /** What of it. */
  part: string | undefined;
}

/** What is wrong with a claim's volume in a pod; undefined when nothing is. */
export function findPodVolume(world: World, { podUid, claim, at, part }: PodVolumeQuestion): string | undefined {
  const own = pathOfClaim(podUid, claim);
  if (at === undefined) return "not mounted in the container";
  if (part === undefined && at !== own) return `${at} instead of ${own}`;
  const entries = world.host.mounts.mounted();
  const content = claim.kind === "csi" ? `${DATA_DIRECTORY}/${handleOf(claim.name)}` : LOCAL_DIRECTORY;
  for (const [path, root] of [
    [own, content] as const,
    [at, part === undefined ? content : `${content}/${part}`] as const,
  ]) {
    const mounted = entries.filter((entry) => entry.path === path);
    const [entry] = mounted;
    if (entry === undefined) return `nothing is mounted at ${path}`;
    if (mounted.length > 1) return `${mounted.length} mounts over each other at ${path}`;
    if (entry.root !== root) return `${entry.root} is mounted at ${path} instead of ${root}`;
  }
  const isPublished = claim.kind === "local" || world.cluster?.storage?.driver.published.has(own) === true;
  return isPublished ? undefined : `${own} is not published`;
}
