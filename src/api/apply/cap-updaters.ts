import { EMPTY, type FieldSet, union } from "./field-set.ts";
import { type Ownership, ownerIdentifier, secondsOf } from "./managed-entries.ts";

const MAX_UPDATERS = 10;
const BUCKET_NAME = "ancient-changes";

/**
 * Keeps the number of updaters bounded by joining the oldest ones of a version. Their fields stay owned, by a manager
 * of another name. Appliers are never joined, because each must find again what it applied.
 */
export function capUpdaters(managed: Map<string, Ownership>): void {
  const updaters = [...managed].filter(([, { operation }]) => operation === "Update");
  let excess = updaters.length - MAX_UPDATERS;
  if (excess <= 0) return;
  updaters.sort(([a, left], [b, right]) => secondsOf(left) - secondsOf(right) || (a < b ? -1 : 1));
  const oldestByVersion = new Map<string, string>();
  const joined: Joined = new Map();
  for (const [identifier, ownership] of updaters) {
    if (excess <= 0) break;
    const oldest = oldestByVersion.get(ownership.apiVersion);
    if (oldest === undefined) oldestByVersion.set(ownership.apiVersion, identifier);
    else {
      join({ managed, joined }, oldest, identifier);
      excess--;
    }
  }
  for (const [identifier, sets] of joined) {
    const bucket = managed.get(identifier);
    if (bucket) managed.set(identifier, { ...bucket, set: unionOf(sets) });
  }
}

/** The sets of the owners that were joined, by the bucket's identifier. */
type Joined = Map<string, FieldSet[]>;

/**
 * Joins an updater into the bucket of its version. The oldest updater becomes the bucket if there is none yet. The
 * bucket is as old as its youngest member. Its set is made when all members are known, because a thousand unions with
 * an ever larger set would take seconds.
 */
function join(
  { managed, joined }: { managed: Map<string, Ownership>; joined: Joined },
  oldest: string,
  identifier: string,
): void {
  const ownership = managed.get(identifier);
  if (!ownership) return;
  const bucket = { ...ownership, manager: BUCKET_NAME, operation: "Update", subresource: "" } as const;
  const bucketIdentifier = ownerIdentifier(bucket);
  // The bucket itself may come up as the one to join, when it is as old as others; then the oldest is joined into it.
  const target = managed.has(bucketIdentifier) && bucketIdentifier !== identifier ? bucketIdentifier : oldest;
  const sets = takeSets(target);
  if (target !== identifier) for (const set of takeSets(identifier)) sets.push(set);
  managed.set(bucketIdentifier, bucket);
  joined.set(bucketIdentifier, sets);

  function takeSets(owner: string): FieldSet[] {
    const set = managed.get(owner)?.set;
    const taken = joined.get(owner) ?? (set ? [set] : []);
    managed.delete(owner);
    joined.delete(owner);
    return taken;
  }
}

/** The union of many sets, by halves: each path is copied a few times, and not once for each set. */
function unionOf(sets: readonly FieldSet[]): FieldSet {
  const [first = EMPTY, second = EMPTY] = sets;
  if (sets.length <= 2) return union(first, second);
  const half = sets.length >> 1;
  return union(unionOf(sets.slice(0, half)), unionOf(sets.slice(half)));
}
