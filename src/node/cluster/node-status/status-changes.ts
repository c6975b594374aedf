/** Tells that something has changed that the node's object says; what it is, the next look finds out. */
export interface StatusChanges {
  tell(): void;
  subscribe(listener: () => void): void;
}

export function createStatusChanges(): StatusChanges {
  const listeners = new Set<() => void>();
  return {
    tell() {
      for (const listener of listeners) listener();
    },
    subscribe: (listener) => void listeners.add(listener),
  };
}
