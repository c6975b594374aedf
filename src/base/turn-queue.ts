/** Waiting items of several owners, who have turns. */
interface TurnQueue<Item> {
  /** Adds an item behind the owner's others, or drops it where there is no room. */
  push(owner: string, item: Item): void;
  /** Removes the oldest item of the owner whose turn it is; undefined where nothing waits. */
  take(): Item | undefined;
  readonly length: number;
}

interface TurnQueueLimits {
  readonly maxItems: number;
  readonly maxPerOwner: number;
}

/**
 * Creates a line in which an owner of many items waits longer than an owner of one. In a full line an owner who has none
 * takes the place of the newest item of one who has several.
 */
export function createTurnQueue<Item>({ maxItems, maxPerOwner }: TurnQueueLimits): TurnQueue<Item> {
  /** In the order of their turns; each has an item at least. */
  const owners = new Map<string, Item[]>();
  let length = 0;

  const makeRoom = (): boolean => {
    for (const items of owners.values()) {
      if (items.length === 1) continue;
      items.pop();
      length--;
      return true;
    }
    return false;
  };

  return {
    push(owner, item) {
      const own = owners.get(owner);
      if (own !== undefined && own.length >= maxPerOwner) return;
      if (length >= maxItems && (own !== undefined || !makeRoom())) return;
      if (own === undefined) owners.set(owner, [item]);
      else own.push(item);
      length++;
    },
    take() {
      const [next] = owners;
      if (next === undefined) return undefined;
      const [owner, items] = next;
      const item = items.shift();
      owners.delete(owner);
      if (items.length > 0) owners.set(owner, items);
      length--;
      return item;
    },
    get length() {
      return length;
    },
  };
}
