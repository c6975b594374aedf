/**
 * IDs of containers and sandboxes that were seen to be gone. An ID never comes back, so the oldest may be forgotten.
 */
interface GoneIds {
  add(id: string): void;
  has(id: string): boolean;
}

/** An event may come after its container is gone, but it comes within moments: so many IDs are enough. */
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
