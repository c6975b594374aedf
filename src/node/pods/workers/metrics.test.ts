import { expect, it } from "vitest";
import type { Pod } from "../../../api/gen/types.ts";
import { CONFIG_SEEN_ANNOTATION, CONFIG_SOURCE_ANNOTATION } from "../../../api/well-known.ts";
import { formatTime } from "../../../base/clock.ts";
import { silentLog } from "../../../base/log.ts";
import { createMetrics } from "../../../base/metrics.ts";
import { createFakeClock } from "../../../host/fake/fake-clock.ts";
import { createScriptedSyncer } from "./__fixtures__/scripted-syncer.ts";
import { measureSyncer } from "./measured-syncer.ts";
import { createWorkerMetrics } from "./metrics.ts";
import { createPodWorkers } from "./pod-workers.ts";

function setUp() {
  const clock = createFakeClock();
  const metrics = createMetrics();
  const syncer = createScriptedSyncer();
  const workers = createPodWorkers(
    {
      ...{ clock, random: { next: () => 0 }, log: silentLog },
      syncer: measureSyncer(syncer, { clock, metrics }),
      metrics: createWorkerMetrics(metrics),
      onFailure: () => undefined,
      onGone: () => undefined,
    },
    { resyncMs: 60_000, backOffMs: 10_000 },
  );
  const seenAt = formatTime(clock.now());
  const makePod = (uid: string, source = "file"): Pod => {
    const annotations = { [CONFIG_SOURCE_ANNOTATION]: source, [CONFIG_SEEN_ANNOTATION]: seenAt };
    const containers = [{ name: "main" }, { name: "other" }];
    return { metadata: { uid, name: uid, namespace: "default", annotations }, spec: { containers } };
  };
  const tell = (type: "create" | "update" | "sync", pod: Pod) =>
    workers.update({ type, subject: { kind: "pod", pod } });
  const remove = (pod: Pod) => workers.update({ type: "kill", subject: { kind: "pod", pod }, kill: { deleted: true } });
  /** Ends the work that is under way, after so long. */
  const end = async (seconds = 0) => {
    await clock.advance(seconds * 1_000);
    syncer.current().succeed();
    await clock.settle();
  };
  const values = async (name: string) => {
    const lines = (await metrics.render()).split("\n").filter((line) => line.startsWith(`kubelet_${name}`));
    return Object.fromEntries(lines.map((line) => line.replace(`kubelet_${name}`, "").split(" ")));
  };
  return { clock, workers, makePod, tell, remove, end, values };
}

it("tells works by what they follow from, and the last of a pod by what it is", async () => {
  const { clock, makePod, tell, remove, end, values } = setUp();
  const pod = makePod("a");
  tell("create", pod);
  await end(1);
  tell("update", pod);
  await end(2);
  tell("sync", pod);
  await end(4);
  // Nobody asked for this one.
  await clock.advance(60_000);
  await end(8);
  remove(pod);
  await end(16);
  await end(32);
  expect(await values("pod_worker_duration_seconds_sum")).toEqual({
    '{operation_type="create"}': "1",
    '{operation_type="update"}': "2",
    '{operation_type="sync"}': "12",
    '{operation_type="kill"}': "16",
    '{operation_type="terminated"}': "32",
  });
});

it("observes a pod's start once, by when the node first saw it", async () => {
  const { clock, makePod, tell, end, values } = setUp();
  await clock.advance(3_000);
  const pod = makePod("a");
  tell("create", pod);
  await end();
  tell("update", pod);
  await end();
  expect(await values("pod_worker_start_duration_seconds_")).toMatchObject({ sum: "3", count: "1" });
  expect(await values("containers_per_pod_count_")).toMatchObject({ sum: "2", count: "1" });
});

it.each([
  ["file", { '{static="true"}': "1", '{static=""}': "0" }],
  ["api", { '{static="true"}': "0", '{static=""}': "1" }],
])("counts a pod of %s that comes back while it goes", async (source, expected) => {
  const { makePod, tell, remove, end, values } = setUp();
  const pod = makePod("a", source);
  tell("create", pod);
  await end();
  remove(pod);
  tell("create", pod);
  await end();
  await end();
  expect(await values("restarted_pods_total")).toEqual(expected);
  expect(await values("orphaned_runtime_pods_total")).toEqual({ "": "0" });
});

it("counts a pod that only the runtime knows, once", async () => {
  const { clock, workers, values } = setUp();
  const pod = { uid: "o", name: "o", namespace: "default", sandboxes: [], containers: [] };
  for (let times = 0; times < 2; times++) workers.update({ type: "kill", subject: { kind: "orphan", pod } });
  await clock.settle();
  expect(await values("orphaned_runtime_pods_total")).toEqual({ "": "1" });
});
