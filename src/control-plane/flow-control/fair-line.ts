/** Those who wait, each in the line of its flow; flows are served in turns. */
export interface FairLine<T> {
  add(flow: string, waiting: T): void;
  /** Takes it out of the line before its turn. */
  remove(flow: string, waiting: T): void;
  readonly isEmpty: boolean;
  /** How many wait in a flow. */
  lengthOf(flow: string): number;
  /** Offers the first of each flow, in turns, until no flow's first is taken. */
  offer(take: (first: T) => boolean): void;
  /** All that wait, flow by flow. */
  flows(): Iterable<readonly [flow: string, waiting: readonly T[]]>;
}

export function createFairLine<T>(): FairLine<T> {
  // In the order of turns: a flow that was served goes to the end.
  const lines = new Map<string, T[]>();
  return {
    add(flow, waiting) {
      const line = lines.get(flow);
      if (line === undefined) lines.set(flow, [waiting]);
      else line.push(waiting);
    },
    remove(flow, waiting) {
      const line = lines.get(flow) ?? [];
      const place = line.indexOf(waiting);
      if (place >= 0) line.splice(place, 1);
      if (line.length === 0) lines.delete(flow);
    },
    get isEmpty() {
      return lines.size === 0;
    },
    lengthOf: (flow) => lines.get(flow)?.length ?? 0,
    offer(take) {
      // A flow that is set again is met again, behind the others.
      for (const [flow, line] of lines) {
        const [first] = line;
        if (first === undefined || !take(first)) continue;
        line.shift();
        lines.delete(flow);
        if (line.length > 0) lines.set(flow, line);
      }
    },
    flows: () => lines,
  };
}
