import { isKubeObject, type KubeObject } from "../object.ts";
import type { SchemaNode } from "../schema-node.ts";
import type { VersionViews } from "./changes.ts";
import { claimedSet } from "./extract-set.ts";
import { difference, EMPTY, intersection, union } from "./field-set.ts";
import type { Ownership } from "./managed-entries.ts";
import { pruneDisowned } from "./prune.ts";

type Claim = Pick<Ownership, "apiVersion" | "set">;

interface VersionedClaims {
  readonly node: SchemaNode;
  /** The version of the request, in which the merged object is, and the result. */
  readonly apiVersion: string;
  /** Default: the fields of all versions are the same. */
  readonly versions?: VersionViews | undefined;
  /** The fields that the applier claimed the last time, in the version of that time. */
  readonly last: Claim;
  /** The fields that the applier claims now, and those of all other owners. */
  readonly owners: readonly Claim[];
  /** The configuration that was merged. */
  readonly applied: unknown;
}

/**
 * Removes what the applier claimed the last time and no manager claims now. Where versions have other fields, it is removed
 * in the version in which it was claimed, and comes back in each version in which somebody owns a part of it. What was
 * claimed in a version that is not served any more stays.
 */
export function pruneInVersions(merged: KubeObject, claims: VersionedClaims): KubeObject {
  const { node, apiVersion, versions, last, owners, applied } = claims;
  if (versions === undefined) return prune(node, merged, { last: last.set, owned: unionOf(owners), applied });
  const ownedIn = (version: string) => unionOf(owners.filter((owner) => owner.apiVersion === version));
  const appliedIn = (version: string) => (version === apiVersion ? applied : undefined);

  const first = versions(last.apiVersion);
  if (first === undefined) return merged;
  const claimsThere = { last: last.set, owned: ownedIn(last.apiVersion), applied: appliedIn(last.apiVersion) };
  let pruned = prune(first.node, first.show(merged), claimsThere);
  for (const version of new Set(owners.map((owner) => owner.apiVersion))) {
    const view = version === last.apiVersion ? undefined : versions(version);
    if (view === undefined) continue;
    const [before, after] = [view.show(merged), view.show(pruned)];
    const removed = difference(claimedSet(view.node, before), claimedSet(view.node, after));
    const owned = ownedIn(version);
    if (intersection(removed, owned).size === 0) continue;
    pruned = prune(view.node, before, { last: removed, owned, applied: appliedIn(version) });
  }
  return versions(apiVersion)?.show(pruned) ?? merged;
}

function prune(node: SchemaNode, merged: KubeObject, claims: Parameters<typeof pruneDisowned>[2]): KubeObject {
  const pruned = pruneDisowned(node, merged, claims);
  if (isKubeObject(pruned)) return pruned;
  throw new TypeError("pruning an object did not give an object");
}

const unionOf = (claims: readonly Claim[]) => claims.reduce((all, { set }) => union(all, set), EMPTY);
