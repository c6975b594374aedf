/** Tells that something in the node's object has changed. The next look finds out what it is. */
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
    subscribe: (listener) => listeners.add(listener),
  };
}
