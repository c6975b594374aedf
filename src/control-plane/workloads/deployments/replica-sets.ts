import type { PodTemplateSpec } from "../../../api/gen/types.ts";
import type { KubeObject, ObjectOf } from "../../../api/object.ts";
import { isSame } from "../../kinds/rules/semantic-changes.ts";
import { revisionOf } from "./annotations.ts";
import { HASH_LABEL } from "./template-hash.ts";

export type StoredDeployment = ObjectOf<"Deployment">;
export type StoredSet = ObjectOf<"ReplicaSet">;

/** The replica sets of a deployment: the one of its present template, if there is one yet, and those of templates before. */
export interface SetsOfDeployment {
  readonly newSet: StoredSet | undefined;
  /** The oldest first. */
  readonly oldSets: readonly StoredSet[];
}

/** Finds the set of the present template. Of several, the oldest is it. */
export function splitSets({ spec }: StoredDeployment, sets: readonly StoredSet[]): SetsOfDeployment {
  const byAge = sets.toSorted(compareAge);
  const newSet = byAge.find((set) => isSameTemplate(set.spec?.template, spec?.template));
  return { newSet, oldSets: byAge.filter((set) => set !== newSet) };
}

/** True for templates that differ in the label of their hash at most. */
export function isSameTemplate(left: PodTemplateSpec | undefined, right: PodTemplateSpec | undefined): boolean {
  return isSame(withoutHash(left ?? {}), withoutHash(right ?? {}));
}

function withoutHash({ metadata, ...template }: PodTemplateSpec): PodTemplateSpec {
  const { [HASH_LABEL]: _hash, ...labels } = metadata?.labels ?? {};
  return { ...template, metadata: { ...metadata, labels } };
}

/** All sets, the new one last. */
export function allSets({ newSet, oldSets }: SetsOfDeployment): readonly StoredSet[] {
  return newSet === undefined ? oldSets : [...oldSets, newSet];
}

/** How many replicas the object asks for. */
export function wantedReplicas({ spec }: Pick<StoredDeployment | StoredSet, "spec">): number {
  return spec?.replicas ?? 1;
}

/** How many pods the set may have at most: those that it is to have, and those that it still has. */
export function occupiedReplicas(set: Pick<StoredSet, "spec" | "status">): number {
  return Math.max(wantedReplicas(set), set.status?.replicas ?? 0);
}

/** How many replicas of the set are available, as its status tells. */
export function availableReplicas({ status }: Pick<StoredSet, "status">): number {
  return status?.availableReplicas ?? 0;
}

/** The sum of what is counted of each item. */
export function sumOf<T>(items: readonly T[], count: (item: T) => number): number {
  return items.reduce((sum, item) => sum + count(item), 0);
}

/** Compares by the time of creation, then by name: the older comes first. */
export function compareAge(left: KubeObject, right: KubeObject): number {
  const [a, b] = [left.metadata.creationTimestamp ?? "", right.metadata.creationTimestamp ?? ""];
  if (a !== b) return a < b ? -1 : 1;
  return (left.metadata.name ?? "") < (right.metadata.name ?? "") ? -1 : 1;
}

/** Compares by revision, then by age: the older comes first. */
export function compareRevision(left: KubeObject, right: KubeObject): number {
  const [a, b] = [revisionOf(left), revisionOf(right)];
  if (a !== b) return a < b ? -1 : 1;
  return compareAge(left, right);
}
