import type { Pod } from "../../../api/gen/types.ts";

/** Tells the rest of the node agent whether the machine is about to go down. */
export interface ShutdownNotice {
  /** The reasons why no pod can run, in upstream's words. Empty while the machine stays up. */
  errors(): readonly string[];
  /** Refuses every pod once the shutdown is announced. */
  admit(pod: Pod): { readonly reason: string; readonly message: string } | undefined;
  isSet(): boolean;
  set(isShuttingDown: boolean): void;
  /** The listener is called after each change. */
  subscribe(listener: () => void): void;
}

export function createShutdownNotice(): ShutdownNotice {
  const listeners: (() => void)[] = [];
  let isShuttingDown = false;
  return {
    errors: () => (isShuttingDown ? ["node is shutting down"] : []),
    admit: () =>
      isShuttingDown
        ? { reason: "NodeShutdown", message: "Pod was rejected as the node is shutting down." }
        : undefined,
    isSet: () => isShuttingDown,
    set(value) {
      if (value === isShuttingDown) return;
      isShuttingDown = value;
      for (const listener of listeners) listener();
    },
    subscribe: (listener) => listeners.push(listener),
  };
}
