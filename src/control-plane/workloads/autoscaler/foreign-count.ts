import type { Pod } from "../../../api/gen/types.ts";
import { isPodReady } from "../../../api/pods.ts";
import { isWithin, type Tolerances } from "./replica-count.ts";

interface TotalInput {
  /** What is used in all, in thousandths. */
  readonly milliValue: bigint;
  /** What may be used, in thousandths: in all, or by each pod. */
  readonly target: { readonly kind: "total" | "each"; readonly milliValue: bigint };
  readonly currentReplicas: number;
  /** How many replicas the target says there are. */
  readonly statusReplicas: number;
  /** All pods of the scaled object. */
  readonly pods: readonly Pod[];
  readonly tolerances: Tolerances;
}

type TotalCount =
  | {
      readonly kind: "count";
      readonly replicas: number;
      /** What is used in all, or by each pod on average, as the target is meant; in thousandths. */
      readonly milliValue: bigint;
    }
  | { readonly kind: "failed"; readonly message: string };

const MAX_INT32 = 2 ** 31 - 1;

/** The number of replicas for what is used by all of them together (`podautoscaler/replica_calculator.go`). */
export function countByTotal(input: TotalInput): TotalCount {
  return input.target.kind === "total" ? countByShare(input) : countByAverage(input);
}

function countByShare({ milliValue, target, currentReplicas, pods, tolerances }: TotalInput): TotalCount {
  const ratio = Number(milliValue) / Number(target.milliValue);
  if (isWithin(ratio, tolerances)) return { kind: "count", replicas: currentReplicas, milliValue };
  if (pods.length === 0) {
    const why = "no pods returned by selector while calculating replica count";
    return { kind: "failed", message: `unable to calculate ready pods: ${why}` };
  }
  const ready = pods.filter((pod) => pod.status?.phase === "Running" && isPodReady(pod)).length;
  return { kind: "count", replicas: atMostInt32(ratio * ready), milliValue };
}

function countByAverage({ milliValue, target, statusReplicas, tolerances }: TotalInput): TotalCount {
  const wanted = Number(milliValue) / Number(target.milliValue);
  const replicas = isWithin(wanted / statusReplicas, tolerances) ? statusReplicas : atMostInt32(wanted);
  // Before there is a first replica, all of it is one's.
  const sharers = BigInt(Math.max(statusReplicas, 1));
  return { kind: "count", replicas, milliValue: divideUp(milliValue, sharers) };
}

const atMostInt32 = (count: number) => Math.min(Math.ceil(count), MAX_INT32);

function divideUp(value: bigint, by: bigint): bigint {
  return value > 0n ? (value + by - 1n) / by : value / by;
}
