/** Counts by key, such as the connections of each address; a key whose count is 0 takes no memory. */
interface Tally {
  /** How many there are of the key. */
  count(key: string): number;
  /** Adds as many, or takes them away where `change` is negative. */
  add(key: string, change: number): void;
  /** The key with the highest count; undefined where nothing is counted. */
  highest(): string | undefined;
}

export function createTally(): Tally {
  const counts = new Map<string, number>();
  const count = (key: string) => counts.get(key) ?? 0;
  return {
    count,
    add(key, change) {
      const left = count(key) + change;
      if (left > 0) counts.set(key, left);
      else counts.delete(key);
    },
    highest() {
      let [highest, most]: [string | undefined, number] = [undefined, 0];
      for (const [key, found] of counts) if (found > most) [highest, most] = [key, found];
      return highest;
    },
  };
}
