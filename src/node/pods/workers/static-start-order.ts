/**
 * Static pods of one full name start in the order in which they arrived, one at a time: when a manifest changes, the
 * new pod has another UID but the same name, and must not run beside the old one.
 */
interface StaticStartOrder {
  /** Adds the UID to the queue of its full name; a UID that is in it keeps its place. */
  arrive(fullName: string, uid: string): void;
  /** True when it is this UID's turn, or it has started already; from then on it counts as started. */
  mayStart(fullName: string, uid: string): boolean;
  /** Removes the UID, started or not; returns the UID whose turn it may be now. */
  leave(fullName: string, uid: string): string | undefined;
}

export function createStaticStartOrder(): StaticStartOrder {
  const lines = new Map<string, { started: string | undefined; waiting: string[] }>();
  return {
    arrive(fullName, uid) {
      const line = lines.get(fullName) ?? { started: undefined, waiting: [] };
      lines.set(fullName, line);
      if (line.started !== uid && !line.waiting.includes(uid)) line.waiting.push(uid);
    },
    mayStart(fullName, uid) {
      const line = lines.get(fullName);
      if (line === undefined || line.started === uid) return true;
      if (line.started !== undefined || line.waiting[0] !== uid) return false;
      line.started = line.waiting.shift();
      return true;
    },
    leave(fullName, uid) {
      const line = lines.get(fullName);
      if (line === undefined) return undefined;
      if (line.started === uid) line.started = undefined;
      line.waiting = line.waiting.filter((waiting) => waiting !== uid);
      if (line.started === undefined && line.waiting.length === 0) lines.delete(fullName);
      return line.started === undefined ? line.waiting[0] : undefined;
    },
  };
}
