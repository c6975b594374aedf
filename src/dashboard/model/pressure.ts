import type { NodeUse, UsageThreshold } from "./node-use.ts";

/** What is left of a resource over time, and the amount below which pods are evicted. */
export interface PressureCurve {
  readonly signal: string;
  readonly label: string;
  readonly unit: "bytes" | "count";
  /** Seconds since the epoch, and what was left then. */
  readonly times: readonly number[];
  readonly left: ReadonlyArray<number | null>;
  readonly capacity: number | undefined;
  readonly limits: ReadonlyArray<{ readonly amount: number; readonly isHard: boolean }>;
  /** True while less is left than a threshold allows. */
  readonly isMet: boolean;
}

/** A sample an interval of ten seconds for four hours. */
const MAX_SAMPLES = 1_440;

interface Signal {
  readonly signal: string;
  readonly label: string;
  readonly unit: PressureCurve["unit"];
  left(usage: NodeUse): number | undefined;
  capacity(usage: NodeUse): number | undefined;
}

const SIGNALS: readonly Signal[] = [
  {
    signal: "memory.available",
    label: "Memory left",
    unit: "bytes",
    left: ({ memory }) => memory.availableBytes,
    capacity: ({ memory }) => sum(memory.availableBytes, memory.workingSetBytes),
  },
  {
    signal: "nodefs.available",
    label: "Disk of the node left",
    unit: "bytes",
    left: ({ nodeFs }) => nodeFs.availableBytes,
    capacity: ({ nodeFs }) => nodeFs.capacityBytes,
  },
  {
    signal: "nodefs.inodesFree",
    label: "Inodes of the node left",
    unit: "count",
    left: ({ nodeFs }) => nodeFs.inodesFree,
    capacity: ({ nodeFs }) => nodeFs.inodes,
  },
  {
    signal: "imagefs.available",
    label: "Disk of images left",
    unit: "bytes",
    left: ({ imageFs }) => imageFs.availableBytes,
    capacity: ({ imageFs }) => imageFs.capacityBytes,
  },
  {
    signal: "pid.available",
    label: "Process numbers left",
    unit: "count",
    left: ({ pids }) => (pids.most === undefined || pids.used === undefined ? undefined : pids.most - pids.used),
    capacity: ({ pids }) => pids.most,
  },
];

/** Makes a curve for each resource that the samples tell of. Samples are of one node, oldest first. */
export function computePressure(samples: readonly NodeUse[]): PressureCurve[] {
  const last = samples.at(-1);
  if (last === undefined) return [];
  return SIGNALS.flatMap(({ signal, label, unit, left, capacity }) => {
    const now = left(last);
    if (now === undefined) return [];
    const whole = capacity(last);
    const limits = last.thresholds
      .filter((threshold) => threshold.signal === signal)
      .flatMap((threshold) => {
        const amount = amountOf(threshold, whole);
        return amount === undefined ? [] : [{ amount, isHard: threshold.isHard }];
      });
    return [
      {
        ...{ signal, label, unit, limits, capacity: whole },
        times: samples.map(({ at }) => at / 1_000),
        left: samples.map((sample) => left(sample) ?? null),
        isMet: limits.some(({ amount }) => now < amount),
      },
    ];
  });
}

/** Adds a sample; the oldest go, and so do those of another node. */
export function addSample(samples: readonly NodeUse[], sample: NodeUse): NodeUse[] {
  return [...samples.filter(({ node }) => node === sample.node), sample].slice(-MAX_SAMPLES);
}

function amountOf({ amount, share }: UsageThreshold, whole: number | undefined): number | undefined {
  return amount ?? (share === undefined || whole === undefined ? undefined : share * whole);
}

function sum(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? undefined : a + b;
}
