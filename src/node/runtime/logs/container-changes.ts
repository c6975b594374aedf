/** Tells the readers of logs of containers with which something happened in the runtime. */
export interface ContainerChanges {
  tell(containerId: string): void;
  /** Adds a listener; returns a function that removes it. */
  subscribe(listener: (containerId: string) => void): () => void;
}

export function createContainerChanges(): ContainerChanges {
  const listeners = new Set<(containerId: string) => void>();
  return {
    tell(containerId) {
      for (const listener of [...listeners]) listener(containerId);
    },
    subscribe(listener) {
      // Each subscription has its own function, so that a listener which subscribes twice is told twice.
      const own = (containerId: string) => listener(containerId);
      listeners.add(own);
      return () => listeners.delete(own);
    },
  };
}
