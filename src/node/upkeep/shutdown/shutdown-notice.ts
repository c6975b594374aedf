import type { Pod } from "../../../api/gen/types.ts";

/** Whether the machine is about to go down, to whom it matters. */
export interface ShutdownNotice {
  /** Why no pod can be run, in upstream's words; empty while the machine stays. */
  errors(): readonly string[];
  /** Refuses every pod from the announcement on. */
  admit(pod: Pod): { readonly reason: string; readonly message: string } | undefined;
  isSet(): boolean;
  set(isShuttingDown: boolean): void;
  /** Called after each change. */
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
    subscribe: (listener) => void listeners.push(listener),
  };
}
