import type { Pod } from "../../../api/gen/types.ts";
import { isRestartableInitContainer } from "../../../api/pods.ts";

/**
 * The order in which a pod's containers stop: a sidecar waits for all main containers and for the sidecars after it, and no
 * other container waits (upstream: pkg/kubelet/kuberuntime/kuberuntime_termination_order.go).
 */
interface StopOrder {
  /** Resolves when the container need not wait any longer; undefined where it need not wait at all. */
  turnOf(name: string): Promise<void> | undefined;
  /** The container has stopped, or could not be stopped. No other container waits for it any more. */
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
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = () => resolve();
  });
  return { opened, open: () => open() };
}
