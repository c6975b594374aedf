import { expect, it } from "vitest";
import { silentLog } from "./log.ts";
import { createMetrics } from "./metrics.ts";
import { type Stall, startStallMeter } from "./stall-meter.ts";

function start() {
  const lines: string[] = [];
  const state: { now: number; leastMs: number; isStopped: boolean; tell(stall: Stall): void } = {
    now: 0,
    leastMs: 0,
    isStopped: false,
    tell: () => undefined,
  };
  const metrics = createMetrics();
  const meter = startStallMeter({
    loop: {
      watch(leastMs, tell) {
        Object.assign(state, { leastMs, tell });
        return {
          expectWork: () => undefined,
          stop() {
            state.isStopped = true;
          },
        };
      },
    },
    metrics,
    log: { ...silentLog, warn: (message, fields) => void lines.push(`${message} ${JSON.stringify(fields)}`) },
    monotonic: () => state.now,
    lastWork: () => "POST /api/v1/pods",
  });
  return { lines, state, metrics, meter };
}

it("counts what held the loop, and logs what others notice, at a bounded rate", async () => {
  const { lines, state, metrics } = start();
  expect(state.leastMs).toBe(100);
  for (const heldMs of [100, 300.4, 900]) state.tell({ heldMs, cpuMs: heldMs / 2 });
  expect(lines).toEqual([
    'one piece of work kept everything else waiting {"heldMs":300,"cpuMs":150,"during":"POST /api/v1/pods"}',
  ]);
  state.now = 10_000;
  state.tell({ heldMs: 400, cpuMs: 1 });
  expect(lines).toHaveLength(2);
  const text = await metrics.render();
  expect(text).toContain('nodelet_event_loop_stall_seconds_bucket{le="0.1"} 1');
  expect(text).toContain("nodelet_event_loop_stall_seconds_count 4");
});

it("ends with its watch", () => {
  const { state, meter } = start();
  meter.stop();
  expect(state.isStopped).toBe(true);
});
