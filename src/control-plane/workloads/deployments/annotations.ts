import type { KubeObject } from "../../../api/object.ts";

const PREFIX = "deployment.kubernetes.io/";
export const REVISION_ANNOTATION = `${PREFIX}revision`;
const HISTORY_ANNOTATION = `${PREFIX}revision-history`;
const DESIRED_ANNOTATION = `${PREFIX}desired-replicas`;
const MAX_ANNOTATION = `${PREFIX}max-replicas`;

/** The annotations that a deployment does not hand on to its replica sets. */
const OWN_ANNOTATIONS: ReadonlySet<string> = new Set([
  "kubectl.kubernetes.io/last-applied-configuration",
  "deprecated.deployment.rollback.to",
  REVISION_ANNOTATION,
  HISTORY_ANNOTATION,
  DESIRED_ANNOTATION,
  MAX_ANNOTATION,
]);

/** The history of a set's revisions is no longer than this, in characters. */
const MAX_HISTORY = 2_000;
const MAX_INT32 = 2 ** 31 - 1;
const MAX_INT64 = 2n ** 63n - 1n;

type Annotations = Readonly<Record<string, string>>;

/** The size of a deployment that its sets remember, by which a change of it is told from a rollout. */
interface RememberedSize {
  readonly desired: number;
  /** The replicas wanted and the surge. */
  readonly max: number;
}

/** The number of the revision; 0 for an object without one, or with one that is no number. */
export function revisionOf({ metadata }: KubeObject): bigint {
  const value = metadata.annotations?.[REVISION_ANNOTATION] ?? "";
  const revision = /^\d{1,19}$/.test(value) ? BigInt(value) : 0n;
  return revision > MAX_INT64 ? 0n : revision;
}

/** The replicas that the deployment wanted when it last changed the set; undefined where that is not known. */
export function desiredReplicasOf({ metadata }: KubeObject): number | undefined {
  return countIn(metadata.annotations, DESIRED_ANNOTATION);
}

/** The most replicas that the deployment could have when it last changed the set; undefined where that is not known. */
export function maxReplicasOf({ metadata }: KubeObject): number | undefined {
  return countIn(metadata.annotations, MAX_ANNOTATION);
}

function countIn(annotations: Annotations = {}, name: string): number | undefined {
  const value = annotations[name] ?? "";
  const count = /^\d{1,10}$/.test(value) ? Number(value) : undefined;
  return count === undefined || count > MAX_INT32 ? undefined : count;
}

/** The annotations with the size. */
export function withSize(annotations: Annotations = {}, { desired, max }: RememberedSize): Annotations {
  return { ...annotations, [DESIRED_ANNOTATION]: String(desired), [MAX_ANNOTATION]: String(max) };
}

/**
 * The annotations of the deployment's new set: its own, those of the deployment, and the revision. The revision never
 * falls. A set that has been the newest before, to which the deployment was rolled back, keeps a list of its former
 * revisions (`SetNewReplicaSetAnnotations`).
 */
export function newSetAnnotations(own: Annotations = {}, deployment: KubeObject, revision: bigint): Annotations {
  const handedOn = Object.entries(deployment.metadata.annotations ?? {}).filter(([name]) => !OWN_ANNOTATIONS.has(name));
  const annotations = { ...own, ...Object.fromEntries(handedOn) };
  const before = own[REVISION_ANNOTATION];
  // A revision that somebody has made unreadable is left alone.
  if (before !== undefined && before !== "" && !/^\d{1,19}$/.test(before)) return annotations;
  if (BigInt(before ?? 0) >= revision) return annotations;
  const history = before === undefined ? undefined : withRevision(own[HISTORY_ANNOTATION], before);
  return {
    ...annotations,
    [REVISION_ANNOTATION]: String(revision),
    ...(history !== undefined && { [HISTORY_ANNOTATION]: history }),
  };
}

/** The list with one more revision. The oldest go when it becomes too long. */
function withRevision(history: string | undefined, revision: string): string {
  const revisions = [...(history ?? "").split(",").filter((text) => text !== ""), revision];
  while (revisions.length > 1 && revisions.join(",").length > MAX_HISTORY) revisions.shift();
  return revisions.join(",");
}
