import type { Pod } from "../../../api/gen/types.ts";
import type { KubeObject } from "../../../api/object.ts";
import type { AutoscalerSettings } from "./autoscaler-settings.ts";
import { groupPods } from "./group-pods.ts";
import { type MeasuredResource, measurePods, type PodMeasures } from "./pod-measures.ts";
import { computeRequestedAmounts } from "./requested-amounts.ts";

/** How far from 1 the share of what is used and what is wanted may be, before anything is scaled. */
export interface Tolerances {
  readonly scaleDown: number;
  readonly scaleUp: number;
}

/** What the number of replicas is computed of. */
export interface UsageInput {
  readonly resource: MeasuredResource;
  /** A share of what pods ask for in percent, or what each may use in thousandths. */
  readonly target:
    | { readonly kind: "utilization"; readonly percent: number }
    | { readonly kind: "value"; readonly milliValue: bigint };
  readonly currentReplicas: number;
  /** All pods of the scaled object. */
  readonly pods: readonly Pod[];
  /** The PodMetrics of these pods. */
  readonly podMetrics: readonly KubeObject[];
  readonly tolerances: Tolerances;
  readonly settings: AutoscalerSettings;
  /** In milliseconds since the epoch. */
  readonly now: number;
}

type MeasuredInput = Omit<UsageInput, "podMetrics"> & { readonly measures: PodMeasures };

type ReplicaCount =
  | {
      readonly kind: "count";
      readonly replicas: number;
      /** What a pod uses on average, in thousandths. */
      readonly averageMilliValue: bigint;
      /** The same as a share of what pods ask for, in percent; undefined for a target in amounts. */
      readonly utilization: number | undefined;
    }
  | { readonly kind: "failed"; readonly message: string };

interface Usage {
  /** What is used, as a share of what is wanted. */
  readonly ratio: number;
  readonly averageMilliValue: bigint;
  readonly utilization: number | undefined;
}

/** The values that are counted, in thousandths, by the pods' names. */
type Values = ReadonlyMap<string, bigint>;

/**
 * The number of replicas by which pods would use what is wanted (`podautoscaler/replica_calculator.go`). Pods that are
 * not measured, or that have not begun to work, count in the way that changes least.
 */
export function computeReplicaCount(input: UsageInput): ReplicaCount {
  const { resource, podMetrics } = input;
  if (podMetrics.length === 0) return failedMetrics(resource, "no metrics returned from resource metrics API");
  return countByMeasures({ ...input, measures: measurePods(podMetrics, resource) });
}

/** The same, where it is known already what the pods use. */
export function countByMeasures(input: MeasuredInput): ReplicaCount {
  const { resource, measures, target, currentReplicas, pods, tolerances } = input;
  if (pods.length === 0) return failed("no pods returned by selector while calculating replica count");
  const groups = groupPods(pods, { ...input, resource: resource.name, measures });
  const values = valuesOf(measures, [...groups.ignored, ...groups.unready]);
  if (values.size === 0) return failed("did not receive metrics for targeted pods (pods might be unready)");
  const amounts = target.kind === "utilization" ? computeRequestedAmounts(pods, resource) : undefined;
  if (amounts?.kind === "failed") return amounts;
  const requests = amounts?.requests ?? new Map<string, bigint>();

  const usage = computeUsage(values, target, requests);
  if (usage === undefined) return failed("no metrics returned matched known pods");
  const { ratio, averageMilliValue, utilization } = usage;
  const counted = (replicas: number): ReplicaCount => ({ kind: "count", replicas, averageMilliValue, utilization });

  const scalesUpDespiteUnready = groups.unready.size > 0 && ratio > 1;
  if (!scalesUpDespiteUnready && groups.missing.size === 0) {
    return counted(isWithin(ratio, tolerances) ? currentReplicas : Math.ceil(ratio * groups.readyCount));
  }
  const assumed = new Map(values);
  for (const name of ratio === 1 ? [] : groups.missing) {
    assumed.set(name, ratio > 1 ? 0n : fullValue(target, requests.get(name) ?? 0n));
  }
  if (scalesUpDespiteUnready) for (const name of groups.unready) assumed.set(name, 0n);
  const second = computeUsage(assumed, target, requests)?.ratio;
  if (second === undefined) return failed("no metrics returned matched known pods");
  const turns = (ratio < 1 && second > 1) || (ratio > 1 && second < 1);
  if (turns || isWithin(second, tolerances)) return counted(currentReplicas);
  const replicas = Math.ceil(second * assumed.size);
  const countTurns = (second < 1 && replicas > currentReplicas) || (second > 1 && replicas < currentReplicas);
  return counted(countTurns ? currentReplicas : replicas);
}

const failed = (message: string): ReplicaCount => ({ kind: "failed", message });

const failedMetrics = ({ name }: MeasuredResource, message: string) => {
  return failed(`unable to get metrics for resource ${name}: ${message}`);
};

/** Whether nothing is scaled for such a share. */
export function isWithin(ratio: number, { scaleDown, scaleUp }: Tolerances): boolean {
  return 1 - scaleDown <= ratio && ratio <= 1 + scaleUp;
}

function valuesOf(measures: PodMeasures, without: readonly string[]): Map<string, bigint> {
  const values = new Map([...measures].map(([name, { milliValue }]) => [name, milliValue]));
  for (const name of without) values.delete(name);
  return values;
}

/** What a pod that is not measured is taken to use where fewer replicas seem enough: all that it may. */
function fullValue(target: UsageInput["target"], request: bigint): bigint {
  return target.kind === "value" ? target.milliValue : (request * BigInt(Math.max(100, target.percent))) / 100n;
}

/** Undefined where none of the pods that are counted asks for anything. */
function computeUsage(
  values: Values,
  target: UsageInput["target"],
  requests: ReadonlyMap<string, bigint>,
): Usage | undefined {
  if (target.kind === "value") {
    const averageMilliValue = sumOf([...values.values()]) / BigInt(values.size);
    const ratio = Number(averageMilliValue) / Number(target.milliValue);
    return { ratio, averageMilliValue, utilization: undefined };
  }
  const known = [...values].filter(([name]) => requests.has(name));
  const requested = sumOf(known.map(([name]) => requests.get(name) ?? 0n));
  if (requested === 0n) return undefined;
  const used = sumOf(known.map(([, value]) => value));
  const utilization = Number((used * 100n) / requested);
  return { ratio: utilization / target.percent, averageMilliValue: used / BigInt(known.length), utilization };
}

const sumOf = (values: readonly bigint[]) => values.reduce((sum, value) => sum + value, 0n);
