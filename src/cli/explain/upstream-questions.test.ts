import { describe, expect, it } from "vitest";
import type { ContainerStatus, Pod } from "../../api/gen/types.ts";
import { silentLog } from "../../base/log.ts";
import { createTimeline, type Decision } from "../../base/timeline.ts";
import { explainPod } from "../../explain/explain-pod.ts";
import { addDecisions, toPodDecisions } from "../../explain/pod-decisions.ts";
import { createPodHistory } from "../../history/pod-history.ts";
import { readHistory } from "../../history/read-history.ts";
import { createFakeHost } from "../../host/fake/create-fake-host.ts";
import { formatPodExplanation } from "./format-explanation.ts";

const WEB = { namespace: "default", name: "web" };
const REFERENCE = { ...WEB, uid: "u" };
const DIRECTORY = "/var/lib/kubelet/nodelet/history";
const HOUR = 3_600_000;
const main: ContainerStatus = { name: "main", image: "demo:1", imageID: "", ready: false, restartCount: 0 };
const pod = (status: Pod["status"]): Pod => ({
  metadata: REFERENCE,
  spec: { nodeName: "n", containers: [{ name: "main", resources: { limits: { memory: "24Mi" } } }] },
  ...(status && { status }),
});
const KILL = { type: "Normal", reason: "Killing", message: "Stopping container main", container: "main" } as const;
const OOM = [
  {
    ...{ type: "Warning", reason: "Exited", container: "main" },
    message: "Container ended with exit code 137 by signal 9: OOMKilled",
  },
  {
    ...{ type: "Normal", reason: "MemoryPeak", container: "main" },
    message: "The pod's memory was at 24Mi at its peak, all its containers together; main is limited to 24Mi",
  },
] as const satisfies readonly Decision[];

/** A node that records decisions, and answers for as long afterwards as is asked. */
async function answer(decisions: readonly Decision[], { about, afterMs = 0 }: { about?: Pod; afterMs?: number } = {}) {
  const { files, clock } = createFakeHost();
  const timeline = createTimeline(clock);
  const options = { directory: DIRECTORY, maxBytes: 1024 * 1024, maxAgeMs: 168 * HOUR };
  const history = createPodHistory({ files, clock, log: silentLog, timeline, present: () => () => false }, options);
  const stopping = new AbortController();
  const running = history.run(stopping.signal);
  for (const decision of decisions) {
    timeline.record(REFERENCE, decision);
    await clock.advance(1_000);
  }
  stopping.abort();
  await running;
  await clock.advance(afterMs);
  const { records } = await readHistory(files, DIRECTORY, WEB);
  const found = explainPod({ ...WEB, pod: about, records });
  return { found, words: formatPodExplanation(found, clock.now()), now: clock.now() };
}

describe("what users ask upstream", () => {
  it("kubernetes#81723: the proper reason why a pod was killed, by the node and by whoever deleted it", async () => {
    const causes = [{ reason: "Reading", message: "memory.available was read as 50Mi", at: 0 }];
    const evicted = {
      type: "Warning",
      reason: "Evicted",
      message: "The node was low on resource: memory.",
      causes,
    } as const;
    const { found, words } = await answer([evicted, KILL]);
    expect(found.ends.map(({ reason }) => reason)).toContain("Evicted");
    expect(words).toMatch(
      /Killing: Stopping container main\n +because Evicted: .*\n +because Reading: memory.available/,
    );
    const probe: Decision = {
      ...{ type: "Warning", reason: "ProbeVerdict", container: "main" },
      message: 'Liveness probe failed 3 times in a row; its last answers: "dead"',
    };
    const stop = { ...KILL, message: "Container main failed liveness probe, will be restarted" };
    expect((await answer([probe, stop])).words).toMatch(/because ProbeVerdict: .*its last answers: "dead"/);
    const message = "alice asked for it with kubectl/v1.36.0, within 30 s";
    const deletion = {
      pod: REFERENCE,
      at: 1,
      firstAt: 1,
      count: 1,
      type: "Normal",
      reason: "DeletionRequested",
      message,
    } as const;
    const gone = addDecisions((await answer([KILL])).found, toPodDecisions([deletion], []));
    expect(gone.ends[0]).toMatchObject({ reason: "DeletionRequested", message });
  });

  it("kubernetes#69676: that a container was OOMKilled is told, with limit and peak, also when the pod is gone", async () => {
    const { found, words } = await answer(OOM);
    expect(found).toMatchObject({ state: "Gone", ends: [{ reason: "Exited", container: "main" }] });
    expect(found.ends[0]?.causes).toMatchObject([{ reason: "MemoryPeak" }]);
    expect(words).toMatch(/ended main .*OOMKilled\n +because .*MemoryPeak: .* 24Mi at its peak.*limited to 24Mi/);
  });

  it("kubernetes#22322: a container that waits for its restart says that it was OOMKilled, and what to do", async () => {
    const back = { type: "Warning", reason: "BackOff", message: "Back-off restarting", container: "main" } as const;
    const terminated = { exitCode: 137, signal: 9, reason: "OOMKilled" };
    const waiting = { reason: "CrashLoopBackOff", message: "back-off 20s" };
    const status = { ...main, restartCount: 2, state: { waiting }, lastState: { terminated } };
    const about = pod({ phase: "Running", containerStatuses: [status] });
    const { found } = await answer([...OOM, back], { about });
    expect(found.waits).toMatchObject([
      {
        causes: [{ reason: "Exited" }, { reason: "MemoryPeak" }],
        mend: expect.stringContaining("Raise the container's memory limit"),
      },
    ]);
    expect(found.ends).toMatchObject([
      { reason: "OOMKilled", message: expect.stringContaining("its memory limit is 24Mi") },
    ]);
  });

  it("kubernetes#52521: what was decided is known when the events of the first hour are gone", async () => {
    const { words } = await answer([OOM[0], KILL], { afterMs: 150 * HOUR });
    expect(words).toContain("OOMKilled");
    expect(words).toContain("Killing: Stopping container main");
  });

  it("kubernetes#19077: how much of an image is pulled", async () => {
    const progress = (message: string) =>
      ({ type: "Normal", reason: "PullProgress", message, isProgress: true, container: "main" }) as const;
    const pulling = {
      type: "Normal",
      reason: "Pulling",
      message: 'Pulling image "demo:1"',
      container: "main",
    } as const;
    const decisions = [pulling, progress("10MiB of 40MiB"), progress("30MiB of 40MiB")];
    const status = { ...main, state: { waiting: { reason: "ContainerCreating" } } };
    const { words } = await answer(decisions, { about: pod({ phase: "Pending", containerStatuses: [status] }) });
    expect(words).toMatch(/waits main for \S+ {2}ContainerCreating: 30MiB of 40MiB/);
    expect(words).not.toContain("10MiB");
  });
});
