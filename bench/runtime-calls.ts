/** What a node agent's `/metrics` says of its calls of the runtime. */
export interface RuntimeCalls {
  count: number;
  /** How many, by operation. */
  counts: ReadonlyMap<string, number>;
  /** Milliseconds in all, by operation (`run_podsandbox`, …). */
  durationsMs: ReadonlyMap<string, number>;
}

export function readRuntimeCalls(metrics: string): RuntimeCalls {
  const counts = readSeries(metrics, "kubelet_runtime_operations_total");
  const seconds = readSeries(metrics, "kubelet_runtime_operations_duration_seconds_sum");
  return {
    count: [...counts.values()].reduce((sum, count) => sum + count, 0),
    counts,
    durationsMs: new Map([...seconds].map(([operation, value]) => [operation, value * 1_000])),
  };
}

function readSeries(metrics: string, name: string): Map<string, number> {
  const lines = metrics.matchAll(new RegExp(`^${name}\\{operation_type="([^"]+)"\\} (\\S+)`, "gm"));
  return new Map([...lines].map(([, operation = "", value]) => [operation, Number(value)]));
}
