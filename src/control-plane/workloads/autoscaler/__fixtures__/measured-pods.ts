import type { Pod } from "../../../../api/gen/types.ts";
import type { KubeObject } from "../../../../api/object.ts";
import { formatTime } from "../../../../base/clock.ts";

/** When the pods are looked at. */
export const NOW = Date.parse("2026-01-01T12:00:00Z");
const LONG_AGO = "2000-01-01T00:00:00Z";
const CONTAINERS = ["container1", "container2"];

/** A pod of two containers, each of which asks for as much. */
export interface MeasuredPod {
  /** Default true. */
  readonly ready?: boolean;
  /** When it started and became ready or unready, in milliseconds before now. Default: long ago. */
  readonly age?: number;
  /** Default "Running". */
  readonly phase?: string;
  readonly deleted?: boolean;
  /** What each container asks for. Default 1; "" for nothing. */
  readonly cpu?: string;
}

export function measuredPod(index: number, options: MeasuredPod = {}): Pod {
  const { ready = true, age, phase = "Running", deleted = false, cpu = "1" } = options;
  const since = age === undefined ? LONG_AGO : formatTime(NOW - age);
  const resources = cpu === "" ? {} : { requests: { cpu } };
  return {
    metadata: { name: `pod-${index}`, namespace: "a", ...(deleted && { deletionTimestamp: formatTime(NOW) }) },
    spec: { containers: CONTAINERS.map((name) => ({ name, resources })) },
    status: {
      phase,
      startTime: since,
      conditions: [{ type: "Ready", status: ready ? "True" : "False", lastTransitionTime: since }],
    },
  };
}

/** The PodMetrics of pods by what each of their containers uses, in thousandths of a processor. */
export function podMetrics(levels: ReadonlyArray<readonly number[]>, at = LONG_AGO): KubeObject[] {
  return levels.map((milliValues, index) => ({
    kind: "PodMetrics",
    apiVersion: "metrics.k8s.io/v1beta1",
    metadata: { name: `pod-${index}`, namespace: "a" },
    timestamp: at,
    window: "15s",
    containers: milliValues.map((value, container) => ({ name: CONTAINERS[container], usage: { cpu: `${value}m` } })),
  }));
}
