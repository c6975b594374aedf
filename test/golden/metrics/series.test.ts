import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { isRecord } from "../../../src/api/object.ts";
import { readServedSeries } from "./served-series.ts";
import { UNSERVED } from "./unserved-series.ts";

interface UpstreamSeries {
  readonly name: string;
  readonly type: string;
  readonly labels: readonly string[];
}

/** What a kubelet 1.36.2 served, and what its documentation says that it serves; without those of Go itself. */
const UPSTREAM = readUpstream(new URL("upstream-series.json", import.meta.url));
const SERVED = await readServedSeries();
/** What only this node agent has to tell. */
const OWN: Readonly<Record<string, readonly string[]>> = {
  // Go runs many goroutines at once, and one that computes holds nobody up.
  "/metrics": ["nodelet_event_loop_stall_seconds"],
  "/metrics/cadvisor": [
    // A kubelet has them, too, where containers have limits, and where the kernel counts what waits.
    ...["container_cpu_cfs_periods_total", "container_cpu_cfs_throttled_periods_total"],
    ...["container_cpu_cfs_throttled_seconds_total", "container_cpu_cfs_burst_periods_total"],
    ...["container_cpu_cfs_burst_seconds_total", "container_spec_cpu_quota"],
    // And these, where the kernel counts bytes of a device.
    ...["container_blkio_device_usage_total", "container_fs_reads_bytes_total", "container_fs_writes_bytes_total"],
    // And these, where it divides the device by a model of its cost, or shows the modules of its memory.
    ...["debt", "delay"].map((what) => `container_fs_io_cost_in${what}_seconds_total`),
    ...["usage", "wait"].map((what) => `container_fs_io_cost_${what}_seconds_total`),
    ...["machine_dimm_capacity_bytes", "machine_dimm_count"],
    ...["cpu", "io", "memory"].flatMap((resource) => [
      `container_pressure_${resource}_stalled_seconds_total`,
      `container_pressure_${resource}_waiting_seconds_total`,
    ]),
  ],
};

describe.each(Object.keys(UPSTREAM))("%s", (page) => {
  const upstream = UPSTREAM[page] ?? [];
  const served = SERVED[page] ?? new Map();
  const reasons = UNSERVED.filter((entry) => entry.page === page);
  const isExplained = (name: string) => reasons.some(({ names }) => names.some((pattern) => isNamed(name, pattern)));

  it("serves each series of a Go kubelet, or says why not", () => {
    const missing = upstream.filter(({ name }) => !served.has(name) && !isExplained(name));
    expect(missing.map(({ name }) => name)).toEqual([]);
  });

  it("serves them with the same type and the same labels", () => {
    const both = upstream.filter(({ name }) => served.has(name));
    expect(both.length).toBeGreaterThan(0);
    const ours = both.map(({ name, labels }) => ({
      name,
      type: served.get(name)?.type,
      labels: served.get(name)?.labels ?? labels,
    }));
    expect(ours).toEqual(both);
  });

  it("has nothing that a Go kubelet has not", () => {
    const names = new Set(upstream.map(({ name }) => name));
    expect([...served.keys()].filter((name) => !names.has(name)).sort()).toEqual([...(OWN[page] ?? [])].sort());
  });

  it("says of nothing why it is not served that is, or that nobody serves", () => {
    const unserved = upstream.map(({ name }) => name).filter((name) => !served.has(name));
    const stale = reasons
      .flatMap(({ names }) => names)
      .filter((pattern) => !unserved.some((name) => isNamed(name, pattern)));
    expect(stale).toEqual([]);
    expect([...served.keys()].filter(isExplained)).toEqual([]);
  });
});

it("gives the reasons as a table, for whoever misses one", async () => {
  const rows = UNSERVED.map(({ page, names, reason }) => [
    `\`${page}\``,
    names.map((name) => `\`${name}\``).join(", "),
    reason,
  ]);
  await expect(formatTable(["page", "series", "why it is not served"], rows)).toMatchFileSnapshot("unserved-series.md");
});

/** As the formatter of this project writes it. */
function formatTable(head: readonly string[], rows: ReadonlyArray<readonly string[]>): string {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |\n`;
  return [head, widths.map((width) => "-".repeat(width)), ...rows].map(line).join("");
}

function isNamed(name: string, pattern: string): boolean {
  return pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}

/** The rows of each page are `[name, type, …labels]`. */
function readUpstream(file: URL): Record<string, UpstreamSeries[]> {
  const pages: unknown = JSON.parse(readFileSync(file, "utf8"));
  if (!isRecord(pages)) throw new Error("no pages");
  const read = (row: unknown): UpstreamSeries => {
    const [name = "", type = "", ...labels] = Array.isArray(row) ? row.map(String) : [];
    return { name, type, labels: labels.sort() };
  };
  return Object.fromEntries(
    Object.entries(pages).map(([page, rows]) => [page, Array.isArray(rows) ? rows.map(read) : []]),
  );
}
