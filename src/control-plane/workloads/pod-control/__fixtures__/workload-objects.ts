import type { PodStatus } from "../../../../api/gen/types.ts";
import type { KubeObject, ObjectOf } from "../../../../api/object.ts";

interface PodOptions {
  metadata?: Partial<KubeObject["metadata"]>;
  nodeName?: string;
  phase?: string;
  /** Since when the pod is ready; undefined for a pod that is not. */
  readySince?: string | undefined;
  restarts?: number;
}

/** A pod as its node reports it, by default running and ready on `n1`. */
export function workloadPod(name: string, options: PodOptions = {}): ObjectOf<"Pod"> {
  const { metadata, nodeName = "n1", phase = "Running", restarts = 0 } = options;
  const readySince = "readySince" in options ? options.readySince : "2026-01-01T00:00:00Z";
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "a", labels: { app: "web" }, uid: `uid-of-${name}`, ...metadata },
    spec: { containers: [{ name: "c", image: "i" }], ...(nodeName !== "" && { nodeName }) },
    status: {
      phase,
      conditions: readySince === undefined ? [] : [readyAt(readySince)],
      containerStatuses: [{ name: "c", image: "i", imageID: "", ready: true, restartCount: restarts }],
    },
  };
}

/** The condition of a pod that has been ready since this time. */
export function readyAt(lastTransitionTime: string): NonNullable<PodStatus["conditions"]>[number] {
  return { type: "Ready", status: "True", lastTransitionTime };
}
