import { addQuantities, compareQuantities, parseQuantity } from "../api/quantity.ts";
import { parseDuration } from "./duration.ts";
import type { KubeletConfiguration } from "./kubelet-configuration.ts";

/** Signals of resources that a node may run out of, under upstream's names (pkg/kubelet/eviction/api/types.go). */
export type EvictionSignal =
  | "memory.available"
  | "allocatableMemory.available"
  | "nodefs.available"
  | "nodefs.inodesFree"
  | "imagefs.available"
  | "imagefs.inodesFree"
  | "containerfs.available"
  | "containerfs.inodesFree"
  | "pid.available";

/** An amount, or a share of the capacity. */
export type ThresholdValue =
  | { readonly kind: "quantity"; readonly quantity: string }
  | { readonly kind: "share"; readonly share: number };

/** The threshold is met when less than `value` is left. */
export interface EvictionThreshold {
  readonly signal: EvictionSignal;
  readonly value: ThresholdValue;
  /** The time that the threshold has to be met before a pod is evicted for it. 0 makes it a hard one. */
  readonly gracePeriodMs: number;
  /** The amount that must be left beyond `value` before the threshold counts as resolved. */
  readonly minReclaim: ThresholdValue | undefined;
}

/** The problem of one field, in upstream's words where it has some. */
interface ThresholdProblem {
  readonly path: string;
  readonly message: string;
}

/** The fields that thresholds are made of. */
export type EvictionSettings = Pick<
  KubeletConfiguration,
  "evictionHard" | "evictionSoft" | "evictionSoftGracePeriod" | "evictionMinimumReclaim" | "enforceNodeAllocatable"
>;

const SIGNALS: ReadonlySet<string> = new Set<EvictionSignal>([
  "memory.available",
  "allocatableMemory.available",
  "nodefs.available",
  "nodefs.inodesFree",
  "imagefs.available",
  "imagefs.inodesFree",
  "containerfs.available",
  "containerfs.inodesFree",
  "pid.available",
]);

type Tell = (path: string, message: string) => void;

/**
 * Parses the thresholds of a configuration: first the hard ones, then the soft ones, then the hard one of memory once
 * more for what pods may use together, where that is enforced. Follows `ParseThresholdConfig`
 * (pkg/kubelet/eviction/helpers.go), which stops at the first problem; this function reports all.
 */
export function parseEvictionThresholds(settings: EvictionSettings): {
  readonly thresholds: readonly EvictionThreshold[];
  readonly problems: readonly ThresholdProblem[];
} {
  const problems: ThresholdProblem[] = [];
  const tell: Tell = (path, message) => problems.push({ path, message });
  const { evictionHard, evictionSoft, evictionSoftGracePeriod, evictionMinimumReclaim } = settings;
  const hard = parseEach("evictionHard", evictionHard, { parse: parseThreshold, tell });
  const soft = parseEach("evictionSoft", evictionSoft, { parse: parseThreshold, tell });
  const graces = parseEach("evictionSoftGracePeriod", evictionSoftGracePeriod, { parse: parseGracePeriod, tell });
  const reclaims = parseEach("evictionMinimumReclaim", evictionMinimumReclaim, { parse: parseMinReclaim, tell });
  for (const signal of soft.keys()) {
    if (Object.hasOwn(evictionSoftGracePeriod ?? {}, signal)) continue;
    const message = `grace period must be specified for the soft eviction threshold ${signal} (evictionSoftGracePeriod)`;
    tell(`evictionSoft[${signal}]`, message);
  }
  const make = ([signal, value]: [EvictionSignal, ThresholdValue], gracePeriodMs: number): EvictionThreshold => {
    return { signal, value, gracePeriodMs, minReclaim: reclaims.get(signal) };
  };
  const thresholds = [
    ...[...hard].map((entry) => make(entry, 0)),
    ...[...soft].map((entry) => make(entry, graces.get(entry[0]) ?? 0)),
  ];
  const isEnforced = settings.enforceNodeAllocatable?.includes("pods") === true;
  const ofPods = thresholds.filter(({ signal, gracePeriodMs }) => signal === "memory.available" && gracePeriodMs === 0);
  const allocatable = isEnforced
    ? ofPods.map((threshold) => ({ ...threshold, signal: "allocatableMemory.available" as const }))
    : [];
  return { thresholds: [...thresholds, ...allocatable], problems };
}

interface EachOptions<T> {
  /** Undefined for a threshold that is left out. */
  parse(signal: EvictionSignal, text: string, tell: (message: string) => void): T | undefined;
  readonly tell: Tell;
}

function parseEach<T>(
  field: string,
  statements: Readonly<Record<string, string>> | undefined,
  { parse, tell }: EachOptions<T>,
): Map<EvictionSignal, T> {
  const parsed = new Map<EvictionSignal, T>();
  for (const [signal, text] of Object.entries(statements ?? {})) {
    const path = `${field}[${signal}]`;
    if (!isSignal(signal)) {
      tell(path, `unsupported eviction signal ${signal}`);
      continue;
    }
    const value = parse(signal, text, (message) =>
      tell(path, message === "" ? describeUnreadable(path, text) : message),
    );
    if (value !== undefined) parsed.set(signal, value);
  }
  return parsed;
}

function isSignal(text: string): text is EvictionSignal {
  return SIGNALS.has(text);
}

function describeUnreadable(path: string, text: string): string {
  return `${path} "${text}" must be a quantity like 100Mi or a percentage like 10%`;
}

const UNREADABLE = "";

function parseThreshold(
  signal: EvictionSignal,
  text: string,
  tell: (message: string) => void,
): ThresholdValue | undefined {
  // Both values turn a threshold off.
  if (text === "0%" || text === "100%") return undefined;
  const value = parseValue(text);
  if (value === undefined) {
    tell(UNREADABLE);
    return undefined;
  }
  if (value.kind === "share") {
    if (value.share < 0) tell(`eviction percentage threshold ${signal} must be >= 0%: ${text}`);
    if (value.share > 1) tell(`eviction percentage threshold ${signal} must be <= 100%: ${text}`);
  } else if (compareQuantities(value.quantity, "0") <= 0) {
    tell(`eviction threshold ${signal} must be positive: ${value.quantity}`);
  }
  return value;
}

function parseMinReclaim(
  signal: EvictionSignal,
  text: string,
  tell: (message: string) => void,
): ThresholdValue | undefined {
  const value = parseValue(text);
  if (value === undefined) tell(UNREADABLE);
  else if (value.kind === "share" && value.share <= 0) {
    tell(`eviction percentage minimum reclaim ${signal} must be positive: ${text}`);
  } else if (value.kind === "quantity" && compareQuantities(value.quantity, "0") < 0) {
    tell(`negative eviction minimum reclaim specified for ${signal}`);
  }
  return value;
}

function parseGracePeriod(signal: EvictionSignal, text: string, tell: (message: string) => void): number | undefined {
  const ms = parseDuration(text);
  if (ms === undefined) {
    tell(`evictionSoftGracePeriod[${signal}] "${text}" must be a duration like 1m30s that is not negative`);
  } else if (ms < 0) {
    tell(`invalid eviction grace period specified: ${text}, must be a positive value`);
  }
  return ms;
}

/** A percentage is a 32-bit float upstream, and users compare the digits that result from that. */
function parseValue(text: string): ThresholdValue | undefined {
  const percent = /^([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)%+$/.exec(text)?.[1];
  if (percent !== undefined) return { kind: "share", share: Math.fround(Math.fround(Number(percent)) / 100) };
  return parseQuantity(text) && { kind: "quantity", quantity: addQuantities("0", text) };
}
