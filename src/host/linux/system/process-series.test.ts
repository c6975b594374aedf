import { expect, it } from "vitest";
import { createMetrics } from "../../../base/metrics.ts";
import { declareProcessSeries } from "./process-series.ts";

async function read(metrics: ReturnType<typeof createMetrics>) {
  const lines = (await metrics.render()).split("\n").filter((line) => line.startsWith("process_"));
  const values = lines
    .map((line) => line.split(" "))
    .map(([name = "", value]) => [name.slice("process_".length), Number(value)]);
  return Object.fromEntries(values);
}

it.skipIf(process.platform !== "linux")("tells what the kernel and Node.js say of this process", async () => {
  const metrics = createMetrics();
  declareProcessSeries(metrics);
  const first = await read(metrics);
  const { rss } = process.memoryUsage();
  expect(first["resident_memory_bytes"]).toBeGreaterThan(rss / 2);
  expect(first["resident_memory_bytes"]).toBeLessThan(rss * 2);
  expect(first["virtual_memory_bytes"]).toBeGreaterThan(first["resident_memory_bytes"]);
  expect(first["virtual_memory_max_bytes"]).toBeGreaterThanOrEqual(first["virtual_memory_bytes"]);
  expect(first["open_fds"]).toBeGreaterThan(3);
  expect(first["max_fds"]).toBeGreaterThan(first["open_fds"]);
  expect(Math.abs(first["start_time_seconds"] - (Date.now() / 1000 - process.uptime()))).toBeLessThan(5);
  const { user, system } = process.cpuUsage();
  expect(first["cpu_seconds_total"]).toBeLessThanOrEqual((user + system) / 1e6);
  const second = await read(metrics);
  for (const total of ["cpu_seconds_total", "network_receive_bytes_total", "network_transmit_bytes_total"]) {
    expect(second[total]).toBeGreaterThanOrEqual(first[total]);
  }
});
