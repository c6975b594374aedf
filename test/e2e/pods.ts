import type { ContainerStatus, Pod } from "../../src/api/gen/types.ts";
import { DEMO_IMAGE } from "../../src/cluster/images/image-references.ts";

/** The status of a container of any kind. */
export function containerOf(pod: Pod, name: string): ContainerStatus | undefined {
  const { containerStatuses = [], initContainerStatuses = [] } = pod.status ?? {};
  return [...initContainerStatuses, ...containerStatuses].find((status) => status.name === name);
}

/** Looks at the pod's phase, whatever its containers do. */
export const isRunning = (pod: Pod): boolean => pod.status?.phase === "Running";

/** A pod of one container of the demo image that runs a shell script. */
export function shellPod(name: string, script: string, spec: object = {}, container: object = {}): object {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name },
    spec: {
      terminationGracePeriodSeconds: 1,
      containers: [{ name: "main", image: DEMO_IMAGE, command: ["sh", "-c", script], ...container }],
      ...spec,
    },
  };
}

/** Runs until it is told to stop, and then stops at once. */
export const RUN_FOR_EVER = "trap 'exit 0' TERM; sleep 100000 & wait";
