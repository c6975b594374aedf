import { union } from "./field-set.ts";
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
  for (const [identifier, ownership] of updaters) {
    if (excess <= 0) return;
    const oldest = oldestByVersion.get(ownership.apiVersion);
    if (oldest === undefined) oldestByVersion.set(ownership.apiVersion, identifier);
    else {
      join(managed, oldest, identifier);
      excess--;
    }
  }
}

/**
 * Joins an updater into the bucket of its version. The oldest updater becomes the bucket if there is none yet. The
 * bucket is as old as its youngest member.
 */
function join(managed: Map<string, Ownership>, oldest: string, identifier: string): void {
  const ownership = managed.get(identifier);
  if (!ownership) return;
  const bucket = { ...ownership, manager: BUCKET_NAME, operation: "Update", subresource: "" } as const;
  const bucketIdentifier = ownerIdentifier(bucket);
  // The bucket itself may come up as the one to join, when it is as old as others; then the oldest is joined into it.
  const target = managed.has(bucketIdentifier) && bucketIdentifier !== identifier ? bucketIdentifier : oldest;
  const previous = managed.get(target);
  managed.delete(target);
  managed.delete(identifier);
  managed.set(bucketIdentifier, { ...bucket, set: previous ? union(previous.set, ownership.set) : ownership.set });
}
