import type { Pod } from "../../../api/gen/types.ts";
import { isRestartableInitContainer } from "../../../api/pods.ts";

/**
 * Who waits for whom when a pod stops: a sidecar for all main containers and for the sidecars after it, everybody else
 * for nobody (upstream: pkg/kubelet/kuberuntime/kuberuntime_termination_order.go).
 */
interface StopOrder {
  /** Undefined when the container need not wait; else resolves when it need not wait any longer. */
  turnOf(name: string): Promise<void> | undefined;
  /** The container has stopped, or could not be stopped: nobody waits for it any more. */
  leave(name: string): void;
}

/** `running`: names of the containers that are to be stopped now. */
export function createStopOrder(pod: Pod | undefined, running: readonly string[]): StopOrder {
  const { containers = [], initContainers = [] } = pod?.spec ?? {};
  const mains = containers.map(({ name }) => name);
  const sidecars = initContainers.filter(isRestartableInitContainer).map(({ name }) => name);
  const gates = new Map(running.map((name) => [name, createGate()]));

  return {
    turnOf(name) {
      const place = sidecars.indexOf(name);
      if (place < 0) return undefined;
      const before = [...mains, ...sidecars.slice(place + 1)].flatMap((other) => gates.get(other)?.opened ?? []);
      return Promise.all(before).then(() => undefined);
    },
    leave: (name) => gates.get(name)?.open(),
  };
}

function createGate(): { opened: Promise<void>; open(): void } {
  let open = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = () => void resolve();
  });
  return { opened, open: () => open() };
}
