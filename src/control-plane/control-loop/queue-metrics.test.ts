import { expect, test } from "vitest";
import { ApiError } from "../../api/api-error.ts";
import { silentLog } from "../../base/log.ts";
import { createMetrics } from "../../base/metrics.ts";
import { createFakeClock } from "../../host/fake/fake-clock.ts";
import { createQueueMetrics } from "./queue-metrics.ts";
import { createWorkQueue } from "./work-queue.ts";

test("a queue tells what waits, how long, and what was tried again", async () => {
  const clock = createFakeClock();
  const metrics = createMetrics();
  const queueMetrics = createQueueMetrics(metrics, clock);
  const ends: Array<() => void> = [];
  let runs = 0;
  const queue = createWorkQueue(
    { clock, log: silentLog, queueMetrics },
    {
      name: "test",
      workers: 1,
      async reconcile() {
        await new Promise<void>((resolve) => ends.push(resolve));
        if (runs++ === 0) throw new ApiError("ServiceUnavailable", "not now");
        return undefined;
      },
    },
  );
  const read = async (series: string) => {
    const line = (await metrics.render()).split("\n").find((text) => text.startsWith(`${series}{name="test"}`));
    return line === undefined ? undefined : Number(line.split(" ")[1]);
  };
  const abort = new AbortController();
  const done = queue.run(abort.signal);
  for (const key of ["a", "b", "b"]) queue.add(key);
  await clock.advance(2_000);
  queue.add("a");
  expect(await read("workqueue_adds_total")).toBe(3);
  expect(await read("workqueue_depth")).toBe(1);
  expect(await read("workqueue_unfinished_work_seconds")).toBe(2);
  expect(await read("workqueue_longest_running_processor_seconds")).toBe(2);
  ends.pop()?.();
  await clock.settle();
  expect(await read("workqueue_retries_total")).toBe(1);
  expect(await read("workqueue_work_duration_seconds_sum")).toBe(2);
  expect(await read("workqueue_queue_duration_seconds_sum")).toBe(2);
  abort.abort();
  for (const end of ends) end();
  await done;
});
