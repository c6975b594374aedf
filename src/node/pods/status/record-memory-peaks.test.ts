import { expect, it } from "vitest";
import { silentLog } from "../../../base/log.ts";
import { createTimeline } from "../../../base/timeline.ts";
import { createFakeClock } from "../../../host/fake/fake-clock.ts";
import { createPodStatuses } from "./pod-statuses.ts";
import { recordMemoryPeaks } from "./record-memory-peaks.ts";

const pod = {
  metadata: { namespace: "default", name: "web", uid: "u" },
  spec: { containers: [{ name: "main", resources: { limits: { memory: "64Mi" } } }] },
};
const ended = (containerID: string, reason: string) => ({
  phase: "Running",
  containerStatuses: [
    {
      ...{ name: "main", image: "", imageID: "", ready: false, restartCount: 0 },
      state: { terminated: { exitCode: 137, reason, containerID } },
    },
  ],
});

async function tell(readPeak: () => Promise<number | undefined>, ...statuses: ReturnType<typeof ended>[]) {
  const clock = createFakeClock();
  const timeline = createTimeline(clock);
  const published = createPodStatuses({ clock });
  const sizesOf = async () => ({ now: { details: { maxMemoryUsage: await readPeak() } } });
  recordMemoryPeaks({ statuses: published, timeline, log: silentLog, sizesOf });
  for (const status of statuses) published.set(pod, status);
  await clock.advance(0);
  return timeline.read("u").map(({ message, count }) => `${message} x${count}`);
}

it.each<[string, () => Promise<number | undefined>, RegExp]>([
  ["known", async () => 67_000_000, /^The pod's memory was at 64Mi at its peak, .*; main is limited to 64Mi\. /],
  [
    "not known",
    async () => undefined,
    /^How much memory the pod had at its peak is not known, .*; main is limited to 64Mi\. /,
  ],
])("the end by the kernel is told once with a peak that is %s", async (_, readPeak, message) => {
  const told = await tell(readPeak, ended("a", "OOMKilled"), ended("a", "OOMKilled"));
  expect(told).toEqual([expect.stringMatching(message)]);
});

it("a cgroup that cannot be read costs the record only, and other ends are not looked at", async () => {
  const refuse = async () => {
    throw new Error("EACCES");
  };
  expect(await tell(refuse, ended("a", "OOMKilled"))).toEqual([]);
  expect(await tell(async () => 1, ended("a", "Error"))).toEqual([]);
});
