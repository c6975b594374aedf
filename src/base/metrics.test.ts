import { expect, it } from "vitest";
import { createMetrics } from "./metrics.ts";

it("renders what was counted, set and observed, as Prometheus reads it", async () => {
  const metrics = createMetrics();
  const counter = metrics.counter("pods_total", "Pods.", ["code"]);
  counter.add({ code: "ok" });
  counter.add({ code: "ok" }, 2);
  metrics.counter("plain_total", "Plain.").add();
  metrics.gauge("running", "Running.").set(3);
  metrics.histogram("took_seconds", "Took.", { buckets: [1, 2] }).observe(1.5);
  metrics.histogram("labelled_seconds", "Labelled.", { labels: ["kind"] }).observe(0.2, { kind: "sync" });
  const text = await metrics.render();
  const lines = text.split("\n");
  for (const line of [
    "# TYPE pods_total counter",
    'pods_total{code="ok"} 3',
    "plain_total 1",
    "running 3",
    'took_seconds_bucket{le="1"} 0',
    'took_seconds_bucket{le="2"} 1',
    'took_seconds_bucket{le="+Inf"} 1',
    "took_seconds_sum 1.5",
    'labelled_seconds_count{kind="sync"} 1',
  ]) {
    expect(lines).toContain(line);
  }
  expect(metrics.contentType).toContain("text/plain");
});

it("a gauge forgets what is gone", async () => {
  const metrics = createMetrics();
  const gauge = metrics.gauge("volumes", "Volumes.", ["plugin"]);
  gauge.set(1, { plugin: "nfs" });
  gauge.reset();
  gauge.set(2, { plugin: "csi" });
  const lines = (await metrics.render()).split("\n").filter((line) => line.startsWith("volumes"));
  expect(lines).toEqual(['volumes{plugin="csi"} 2']);
});

it("two registries know nothing of each other", async () => {
  const [one, other] = [createMetrics(), createMetrics()];
  one.counter("pods_total", "Pods.").add();
  expect(await other.render()).not.toContain("pods_total");
});

it("sets what is only worth knowing then before each page", async () => {
  const metrics = createMetrics();
  const gauge = metrics.gauge("asked_total", "Asked.");
  let asked = 0;
  metrics.beforeRender(() => gauge.set(++asked));
  await metrics.render();
  expect(await metrics.render()).toContain("asked_total 2");
});
