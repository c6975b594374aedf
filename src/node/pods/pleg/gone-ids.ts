/** IDs of containers and sandboxes that were seen to be gone. They never come back, so the oldest may be forgotten. */
interface GoneIds {
  add(id: string): void;
  has(id: string): boolean;
}

/** An exit may be told of after all that it was of is gone: such events come within moments. */
const MAX_IDS = 1_000;

export function createGoneIds(): GoneIds {
  const ids = new Set<string>();
  return {
    add(id) {
      ids.add(id);
      const [oldest] = ids;
      if (ids.size > MAX_IDS && oldest !== undefined) ids.delete(oldest);
    },
    has: (id) => ids.has(id),
  };
}
