/** Returns what tells an item apart: the item itself, or the value of its merge key. */
export type KeyOf = (item: unknown) => unknown;

/**
 * Orders the items of a merged list as upstream does. The items that the patch lists come in its order, and the others
 * in the order that they had. Both are interleaved so that each of the others stays before the items it stood before.
 * An item that had no place comes before the others that are left.
 */
export function orderItems(
  items: readonly unknown[],
  { listed, live, keyOf }: { listed: readonly unknown[]; live: readonly unknown[]; keyOf: KeyOf },
): unknown[] {
  const [listedAt, liveAt] = [positionsOf(listed), positionsOf(live)];
  const isListed = (item: unknown) => listedAt.has(keyOf(item));
  const byPosition = (positions: ReadonlyMap<unknown, number>) => (left: unknown, right: unknown) => {
    return positionIn(positions, keyOf(left)) - positionIn(positions, keyOf(right));
  };
  const ofPatch = items.filter(isListed).sort(byPosition(listedAt));
  const others = items.filter((item) => !isListed(item)).sort(byPosition(liveAt));
  return interleave(others, ofPatch, (left, right) => {
    const [before, after] = [liveAt.get(keyOf(left)), liveAt.get(keyOf(right))];
    return before !== undefined && after !== undefined && before < after;
  });
}

/** Returns the first position of each key. */
function positionsOf(keys: readonly unknown[]): ReadonlyMap<unknown, number> {
  const positions = new Map<unknown, number>();
  for (const [index, key] of keys.entries()) if (!positions.has(key)) positions.set(key, index);
  return positions;
}

/**
 * A key without a position comes last, in the order that it has. The number is finite, so that two such keys compare as
 * equal.
 */
function positionIn(positions: ReadonlyMap<unknown, number>, key: unknown): number {
  return positions.get(key) ?? Number.MAX_SAFE_INTEGER;
}

function interleave(
  others: readonly unknown[],
  ofPatch: readonly unknown[],
  isBefore: (other: unknown, ofPatch: unknown) => boolean,
): unknown[] {
  const merged: unknown[] = [];
  let next = 0;
  for (const item of ofPatch) {
    while (next < others.length && isBefore(others[next], item)) merged.push(others[next++]);
    merged.push(item);
  }
  return [...merged, ...others.slice(next)];
}
