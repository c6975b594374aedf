import type { NodePressure } from "../../cluster/node-status/node-conditions.ts";

/** Passes on what the node is short of to the node's status and to the code that admits pods. */
export interface PressureNotice {
  pressure(): NodePressure;
  set(pressure: NodePressure): void;
  /** The listener is called after each change. */
  subscribe(listener: () => void): void;
}

/** Creates a notice that starts without any pressure, because no measurement has been made yet. */
export function createPressureNotice(): PressureNotice {
  const listeners: (() => void)[] = [];
  let known: NodePressure = { memory: false, disk: false, pid: false };
  return {
    pressure: () => known,
    set(pressure) {
      const { memory, disk, pid } = known;
      const isSame = memory === pressure.memory && disk === pressure.disk && pid === pressure.pid;
      known = pressure;
      if (isSame) return;
      for (const listener of listeners) listener();
    },
    subscribe: (listener) => listeners.push(listener),
  };
}
