import type { OwnerReference, PodDisruptionBudgetSpec } from "../../../api/gen/types.ts";
import type { KubeObject } from "../../../api/object.ts";
import { controllerRefOf } from "../pod-control/controller-ref.ts";
import { scaledCount } from "../pod-control/scaled-count.ts";

/** How many replicas the controller of a pod is to have. */
type ScaleReading =
  /** The UID is that of the object that has the number: of a replica set's deployment, where there is one. */
  | { readonly kind: "scale"; readonly uid: string; readonly replicas: number }
  /** There is no such object any more. */
  | { readonly kind: "gone" }
  /** The kind is not served, or has no number of replicas. */
  | { readonly kind: "unscalable"; readonly message: string };

/** Reads the scale of what a reference in this namespace names, of any kind that has the subresource `scale`. */
export type ReadScale = (reference: OwnerReference, namespace: string) => ScaleReading;

/** What a budget asks for. */
type Expectation =
  | {
      readonly kind: "expected";
      /** The number of pods that there should be. */
      readonly pods: number;
      /** How many of them have to be healthy. */
      readonly healthy: number;
      /** The names of pods that nobody controls, so that nobody knows how many of them there should be. */
      readonly unmanaged: readonly string[];
    }
  | { readonly kind: "failed"; readonly message: string };

/**
 * How many pods a budget expects, and how many of them it wants healthy. A number of pods that have to be available is
 * meant as it is; a part, and a number that may be missing, are of what the pods' controllers are to have
 * (`getExpectedPodCount`).
 */
export function computeExpectation(
  { minAvailable, maxUnavailable }: PodDisruptionBudgetSpec,
  pods: readonly KubeObject[],
  readScale: ReadScale,
): Expectation {
  if (maxUnavailable === undefined && typeof minAvailable !== "string") {
    const isUnsaid = minAvailable === undefined;
    return { kind: "expected", pods: isUnsaid ? 0 : pods.length, healthy: minAvailable ?? 0, unmanaged: [] };
  }
  const scale = sumScales(pods, readScale);
  if (scale.kind === "failed") return scale;
  const { total, unmanaged } = scale;
  const healthy =
    maxUnavailable === undefined
      ? (scaledCount(minAvailable, total, "up") ?? 0)
      : Math.max(0, total - (scaledCount(maxUnavailable, total, "up") ?? 0));
  return { kind: "expected", pods: total, healthy, unmanaged };
}

type ScaleSum =
  | { readonly kind: "sum"; readonly total: number; readonly unmanaged: readonly string[] }
  | { readonly kind: "failed"; readonly message: string };

/** The replicas of all controllers of the pods, each counted once. */
function sumScales(pods: readonly KubeObject[], readScale: ReadScale): ScaleSum {
  const seen = new Set<string>();
  const scales = new Map<string, number>();
  const unmanaged: string[] = [];
  for (const pod of pods) {
    const { name = "", namespace = "" } = pod.metadata;
    const controller = controllerRefOf(pod);
    if (controller === undefined) unmanaged.push(name);
    if (controller === undefined || seen.has(controller.uid)) continue;
    seen.add(controller.uid);
    const reading = readScale(controller, namespace);
    if (reading.kind === "unscalable") return { kind: "failed", message: reading.message };
    if (reading.kind === "gone") return { kind: "failed", message: `found no controllers for pod "${name}"` };
    scales.set(reading.uid, reading.replicas);
  }
  return { kind: "sum", total: [...scales.values()].reduce((sum, count) => sum + count, 0), unmanaged };
}
