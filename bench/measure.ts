import type { CaseName } from "./options.ts";
import { type Summary, summarize } from "./stats.ts";

/** One thing that was measured: a line of the report. */
export interface Measure {
  case: CaseName;
  name: string;
  /** Where it is one point of several: of how much. */
  at?: Point;
  unit: Unit;
  summary: Summary;
  /** The same done with bare CRI calls in the same run. */
  floor?: Summary;
  target?: Target;
  /** What else did the same, or a part of it, in the same run. */
  beside?: readonly Beside[];
  /** The median of each round, where the case took turns with those beside it. */
  rounds?: readonly number[];
}

/** A place on the axis of a curve: so many of something. */
interface Point {
  of: string;
  value: number;
}

/** The name with the point. */
export function fullNameOf({ name, at }: Pick<Measure, "name" | "at">): string {
  return at === undefined ? name : `${name}, ${at.value} ${at.of}`;
}

/** Something that a measure is compared with, on a line of its own. */
export interface Beside {
  name: string;
  summary: Summary;
  rounds?: readonly number[];
}

export type Unit = "ms" | "MiB" | "% of a core" | "calls" | "writes/s" | "answers/s" | "×";

/** What is to be reached: at most these values, or these ratios to the floor's or to the Go kubelet's. */
export type Target = { of: "value" | "ratio" | "kubelet"; median?: number; p99?: number };

/** How the reports call the programs of Kubernetes' own, all of them written in Go. */
export const GO_KUBELET = "Go kubelet";
export const GO_PROXY = "Go kube-proxy";
export const GO_CONTROLLERS = "Go kube-controller-manager";
export const CORE_DNS = "CoreDNS";
const GO_PROGRAMS = [GO_KUBELET, GO_PROXY, GO_CONTROLLERS, CORE_DNS];

/** Undefined for a measure without a target, and where what it is to be compared with was not there. */
export function isMet(measure: Measure): boolean | undefined {
  const { summary, floor, target } = measure;
  if (target === undefined) return undefined;
  const { median = Number.POSITIVE_INFINITY, p99 = Number.POSITIVE_INFINITY } = target;
  if (target.of === "value") return summary.median <= median && summary.p99 <= p99;
  const ratio = computeRatio(summary, target.of === "ratio" ? floor : findKubelet(measure));
  return ratio && ratio.median <= median && ratio.p99 <= p99;
}

/** The Go kubelet's, where it was measured beside. */
function findKubelet({ beside = [] }: Measure): Summary | undefined {
  return beside.find(({ name }) => name === GO_KUBELET)?.summary;
}

/** What was measured beside of programs of Kubernetes' own, one or several together. */
export function findGoPrograms({ beside = [] }: Measure): Beside | undefined {
  return beside.find(({ name }) => name.split(NAME_SEPARATOR).every((one) => GO_PROGRAMS.includes(one)));
}

/** Between the names of programs that do something together. */
export const NAME_SEPARATOR = ", ";

/** The ratios of the medians and of the p99s; undefined where there is nothing to compare with, or only zero. */
export function computeRatio(
  summary: Summary,
  floor: Summary | undefined,
): { median: number; p99: number } | undefined {
  if (floor === undefined || floor.median === 0) return undefined;
  return { median: summary.median / floor.median, p99: summary.p99 / floor.p99 };
}

/** A measure in milliseconds. */
export function timed(
  of: Pick<Measure, "case" | "name"> & Partial<Pick<Measure, "target">>,
  values: readonly number[],
  floor?: readonly number[],
): Measure {
  return { ...of, unit: "ms", summary: summarize(values), ...(floor === undefined ? {} : { floor: summarize(floor) }) };
}
