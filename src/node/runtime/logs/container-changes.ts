/** Tells of containers with which something happened in the runtime, to whoever reads their logs. */
export interface ContainerChanges {
  tell(containerId: string): void;
  /** Returns how to stop it. */
  subscribe(listener: (containerId: string) => void): () => void;
}

export function createContainerChanges(): ContainerChanges {
  const listeners = new Set<(containerId: string) => void>();
  return {
    tell(containerId) {
      for (const listener of [...listeners]) listener(containerId);
    },
    subscribe(listener) {
      // A function of its own, so that whoever subscribes twice is told twice.
      const own = (containerId: string) => listener(containerId);
      listeners.add(own);
      return () => void listeners.delete(own);
    },
  };
}
