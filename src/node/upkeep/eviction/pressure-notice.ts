import type { NodePressure } from "../../cluster/node-status/node-conditions.ts";

/** What the node is short of, to whom it matters: its status, and who lets pods in. */
export interface PressureNotice {
  pressure(): NodePressure;
  set(pressure: NodePressure): void;
  /** Called after each change. */
  subscribe(listener: () => void): void;
}

/** At first of nothing: whoever measures it has not looked yet. */
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
    subscribe: (listener) => void listeners.push(listener),
  };
}
