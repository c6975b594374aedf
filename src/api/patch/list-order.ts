/** Tells items apart: the item itself, or the value of its merge key. */
export type KeyOf = (item: unknown) => unknown;

/**
 * The items of a merged list in the order that upstream gives them: those that the patch lists, in its order; the
 * others, in the order that they had; and both interleaved so that each of the others keeps its place before what it
 * stood before. An item that had no place comes before the others that are left.
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

/** Where each key stands first. */
function positionsOf(keys: readonly unknown[]): ReadonlyMap<unknown, number> {
  const positions = new Map<unknown, number>();
  for (const [index, key] of keys.entries()) if (!positions.has(key)) positions.set(key, index);
  return positions;
}

/** What has no position comes last, in the order that it has. A finite number, so that two of them compare as equal. */
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
