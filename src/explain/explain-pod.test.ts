import { expect, it } from "vitest";
import type { ContainerStatus, Pod } from "../api/gen/types.ts";
import type { TimelineRecord } from "../base/timeline.ts";
import { explainPod, isInTrouble } from "./explain-pod.ts";

const container = (more: Partial<ContainerStatus>): ContainerStatus => ({
  name: "main",
  image: "demo:1",
  imageID: "",
  ready: false,
  restartCount: 0,
  ...more,
});
const pod = (status: Pod["status"], spec: Partial<Pod["spec"]> = {}, metadata: Pod["metadata"] = {}): Pod => ({
  metadata: { namespace: "default", name: "web", uid: "u", ...metadata },
  spec: { nodeName: "node-1", containers: [{ name: "main" }], ...spec },
  ...(status !== undefined && { status }),
});
const record = (reason: string, message: string, more: Partial<TimelineRecord> = {}): TimelineRecord => ({
  pod: { namespace: "default", name: "web", uid: "u" },
  at: 2_000,
  firstAt: 1_000,
  count: 1,
  type: "Warning",
  reason,
  message,
  ...more,
});
const waiting = (reason: string, message = "") => container({ state: { waiting: { reason, message } } });
const explain = (about: Pod | undefined, ...records: TimelineRecord[]) =>
  explainPod({ namespace: "default", name: "web", pod: about, records });

it.each<[string, Pod, TimelineRecord[], string, RegExp]>([
  [
    "a node",
    pod(
      {
        phase: "Pending",
        conditions: [
          {
            type: "PodScheduled",
            status: "False",
            reason: "Unschedulable",
            message: "0/1 nodes are available: 1 node(s) had untolerated taint(s) {dedicated: gpu}.",
          },
        ],
      },
      { nodeName: "" },
    ),
    [],
    "Unschedulable",
    /toleration for the taint dedicated/,
  ],
  [
    "room on a node",
    pod(
      {
        phase: "Pending",
        conditions: [
          {
            type: "PodScheduled",
            status: "False",
            reason: "Unschedulable",
            message: "0/1 nodes: 1 Insufficient memory.",
          },
        ],
      },
      { nodeName: "" },
    ),
    [],
    "Unschedulable",
    /requests of memory, or/,
  ],
  [
    "a config map",
    pod({
      phase: "Pending",
      containerStatuses: [waiting("CreateContainerConfigError", 'configmap "settings" not found')],
    }),
    [],
    "CreateContainerConfigError",
    /config map settings in the namespace default/,
  ],
  [
    "a volume's secret",
    pod({ phase: "Pending", containerStatuses: [waiting("ContainerCreating")] }),
    [record("FailedMount", 'MountVolume.SetUp failed for volume "keys": secret "keys" not found')],
    "FailedMount",
    /secret keys in the namespace default/,
  ],
  [
    "the signer of its certificate",
    pod({ phase: "Pending", containerStatuses: [waiting("ContainerCreating")] }),
    [record("FailedMount", 'MountVolume.SetUp failed for volume "v": credential bundle is not issued yet')],
    "FailedMount",
    /signer of the pod's certificate runs: kubectl get podcertificaterequests -n default/,
  ],
  [
    "a certificate that it will not get",
    pod({ phase: "Pending", containerStatuses: [waiting("ContainerCreating")] }),
    [record("FailedMount", 'PodCertificateRequest was permanently denied: reason="No" message="no"')],
    "FailedMount",
    /signer of the pod's certificate refuses for good/,
  ],
  [
    "an image",
    pod({ phase: "Pending", containerStatuses: [waiting("ImagePullBackOff", "ErrImagePull: no such host")] }),
    [],
    "ImagePullBackOff",
    /does not reach the registry/,
  ],
  [
    "its next start after too much memory",
    pod({
      phase: "Running",
      containerStatuses: [
        {
          ...waiting("CrashLoopBackOff"),
          lastState: { terminated: { exitCode: 137, reason: "OOMKilled" } },
          restartCount: 3,
        },
      ],
    }),
    [],
    "CrashLoopBackOff",
    /memory limit/,
  ],
  [
    "its next start, by the name that the message tells",
    pod({
      phase: "Running",
      containerStatuses: [
        {
          ...waiting("CrashLoopBackOff"),
          state: { waiting: { reason: "CrashLoopBackOff", message: "back-off 20s container=c pod=web_default(u)" } },
          restartCount: 3,
        },
      ],
    }),
    [],
    "CrashLoopBackOff",
    /kubectl logs --previous -n \S+ web\./,
  ],
  [
    "its readiness probe",
    pod(
      { phase: "Running", containerStatuses: [container({ started: true, state: { running: {} } })] },
      { containers: [{ name: "main", readinessProbe: {} }] },
    ),
    [record("Unhealthy", "Readiness probe failed: HTTP probe failed with statuscode: 503", { container: "main" })],
    "Unhealthy",
    /the readiness probe asks the right port/,
  ],
  [
    "its finalizers",
    pod({ phase: "Running" }, {}, { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["demo/hold"] }),
    [],
    "Finalizers",
    /that controller runs/,
  ],
])("a pod that waits for %s says so, with the mend", (_, about, records, reason, mend) => {
  const [first] = explain(about, ...records).waits;
  expect(first?.reason).toBe(reason);
  expect(first?.mend).toMatch(mend);
});

it.each([
  ["PodResizePending", "Deferred", /granted by itself/],
  ["PodResizePending", "Infeasible", /can never grant/],
  ["PodResizeInProgress", "Error", /tries the resize again/],
])("tells of a running pod that its resize is not done: %s %s", (type, reason, mend) => {
  const lastProbeTime = "2026-01-01T00:00:00Z";
  const message = "Node didn't have enough resource: cpu, requested: 2000, used: 3000, capacity: 4000";
  const about = pod({
    phase: "Running",
    conditions: [
      { type: "Ready", status: "True" },
      { type, status: "True", reason, message, lastProbeTime },
    ],
    containerStatuses: [container({ ready: true, started: true, state: { running: {} } })],
  });
  expect(explain(about).waits).toEqual([
    { reason: `Resize${reason}`, message, at: lastProbeTime, mend: expect.stringMatching(mend) },
  ]);
});

it("links an eviction to the pressure and the reading, by whatever is asked for it", () => {
  const message = "The node was low on resource: memory.";
  const causes = ["EvictionRank", "MemoryPressure", "Reading"].map((reason, at) => ({ reason, message: reason, at }));
  const evicted = record("Evicted", message, { causes });
  const exited = record("Exited", "Container ended with exit code 137", { container: "main" });
  const killing = record("Killing", "Stopping container main", { container: "main" });
  const records = [record("EvictionRank", "EvictionRank"), evicted, killing, exited];
  const about = pod({
    phase: "Failed",
    reason: "Evicted",
    message,
    containerStatuses: [container({ state: { terminated: { exitCode: 137 } } })],
  });
  const chains = explain(about, ...records).ends.map(({ reason, causes: of = [] }) => [
    reason,
    ...of.map((cause) => cause.reason),
  ]);
  expect(chains).toEqual([
    ["Evicted", "EvictionRank", "MemoryPressure", "Reading"],
    ["Terminated", "Killing", "Evicted", "EvictionRank", "MemoryPressure", "Reading"],
  ]);
  const gone = explain(undefined, ...records).ends.find(({ reason }) => reason === "Exited");
  expect(gone?.causes?.at(-1)?.reason).toBe("Reading");
});

it("tells since when a container waits", () => {
  const about = pod({ phase: "Pending", containerStatuses: [waiting("ImagePullBackOff", "no")] });
  const found = explain(about, record("BackOff", 'Back-off pulling image "demo:1"', { container: "main" }));
  expect(found.waits[0]?.at).toBe("1970-01-01T00:00:01.000Z");
});

it("says what ended an evicted pod, with the rank and the reading that decided", () => {
  const message = "The node was low on resource: memory. Threshold quantity: 100Mi, available: 90Mi.";
  const about = pod({ phase: "Failed", reason: "Evicted", message });
  const { ends, waits } = explain(
    about,
    record("EvictionRank", "it used most above its request"),
    record("Evicted", message),
  );
  expect(waits).toEqual([]);
  expect(ends.map(({ reason }) => reason)).toEqual(["Evicted", "EvictionRank"]);
  expect(ends[0]?.mend).toMatch(/request of memory/);
});

it("says that a container ended at its memory limit, and at which", () => {
  const about = pod(
    {
      phase: "Running",
      containerStatuses: [
        container({
          ready: true,
          restartCount: 2,
          state: { running: {} },
          lastState: { terminated: { exitCode: 137, reason: "OOMKilled" } },
        }),
      ],
    },
    { containers: [{ name: "main", resources: { limits: { memory: "64Mi" } } }] },
  );
  expect(explain(about).ends[0]?.message).toBe(
    "It ended with exit code 137; its memory limit is 64Mi; it was started again 2 times",
  );
});

it("tells of a pod that is gone what its records tell, and keeps those of an earlier one apart", () => {
  const earlier = record("Evicted", "of another", { pod: { namespace: "default", name: "web", uid: "before" } });
  const { state, ends, steps } = explain(
    undefined,
    earlier,
    record("Killing", "Stopping container main", { type: "Normal" }),
  );
  expect(state).toBe("Gone");
  expect(ends.map(({ reason }) => reason)).toEqual(["Killing"]);
  expect(steps.map(({ uid }) => uid)).toEqual(["before", "u"]);
});

it("has nothing to complain about a pod that is as it should be", () => {
  const about = pod({
    phase: "Running",
    conditions: [{ type: "Ready", status: "True" }],
    containerStatuses: [container({ ready: true, started: true, state: { running: {} } })],
  });
  expect(explain(about, record("Started", "Container started", { type: "Normal" }))).toMatchObject({
    isReady: true,
    waits: [],
    ends: [],
  });
});

it("tells which init container the others wait for", () => {
  const running = { running: { startedAt: "2026-01-01T00:00:00Z" } };
  const status = {
    phase: "Pending",
    initContainerStatuses: [container({ name: "proxy", state: running }), container({ name: "wait", state: running })],
    containerStatuses: [waiting("PodInitializing")],
  };
  const initContainers = [{ name: "proxy", restartPolicy: "Always" }, { name: "wait" }];
  expect(explain(pod(status, { initContainers })).waits[0]).toMatchObject({
    ...{ reason: "InitContainerRunning", container: "wait", at: "2026-01-01T00:00:00Z" },
    mend: expect.stringContaining("kubectl logs -n default web -c wait"),
  });
});

it("tells since when a pod is deleted, and that a hook comes before its end", () => {
  const metadata = { deletionTimestamp: "2026-01-01T00:05:00Z", deletionGracePeriodSeconds: 300 };
  const status = { phase: "Running", containerStatuses: [container({ state: { running: {} } })] };
  const spec = { containers: [{ name: "main", lifecycle: { preStop: { sleep: { seconds: 200 } } } }] };
  const [reason] = explain(pod(status, spec, metadata)).waits;
  expect(reason).toMatchObject({ reason: "Terminating", at: "2026-01-01T00:00:00.000Z" });
  expect(reason?.mend).toContain("preStop hook of main comes first");
});

it("tells the finalizers that hold a pod which has ended", () => {
  const metadata = { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["example.com/nobody"] };
  const found = explain(pod({ phase: "Succeeded" }, {}, metadata));
  expect(found.waits).toMatchObject([{ reason: "Finalizers", message: expect.stringContaining("example.com/nobody") }]);
  expect(isInTrouble(found)).toBe(true);
  expect(isInTrouble(explain(pod({ phase: "Succeeded" })))).toBe(false);
});

it.each<[string, string, TimelineRecord[], RegExp]>([
  ["was never started", "StartError", [], /command and args/],
  [
    "a probe ends",
    "Completed",
    [backOffBy("ProbeVerdict", "Liveness probe failed 3 times in a row")],
    /liveness probe/,
  ],
  [
    "a hook ends",
    "Completed",
    [backOffBy("FailedPostStartHook", "PostStartHook failed: it exited with 9")],
    /postStart/,
  ],
  ["ends by itself", "Error", [], /kubectl logs --previous -n default web\.$/],
])("the mend of a container that %s again and again is about what ends it", (_what, reason, records, mend) => {
  const message = 'exec: "/none": stat /none: no such file or directory: unknown';
  const state = { waiting: { reason: "CrashLoopBackOff", message: "back-off 10s container=main pod=web_default(u)" } };
  const lastState = { terminated: { reason, exitCode: 1, ...(reason === "StartError" && { message }) } };
  const status = { phase: "Running", containerStatuses: [container({ state, lastState, restartCount: 1 })] };
  expect(explain(pod(status), ...records).waits[0]?.mend).toMatch(mend);
});

function backOffBy(reason: string, message: string): TimelineRecord {
  return record("BackOff", "", { container: "main", causes: [{ reason, message, at: 1 }] });
}

it("names a scheduler that does not look at the pod", () => {
  const [reason] = explain(pod({ phase: "Pending" }, { nodeName: "", schedulerName: "mine" })).waits;
  expect(reason).toMatchObject({ message: "Its scheduler, mine, has not looked at it yet" });
  expect(reason?.mend).toContain("scheduler mine runs");
});

it("names the node that has not taken the pod, and the log of a program that failed", () => {
  const [reason] = explain(pod({ phase: "Pending" })).waits;
  expect(reason).toMatchObject({ reason: "NotTaken", message: "The node node-1 has not taken it yet" });
  const state = { terminated: { reason: "Error", exitCode: 7 } };
  const [ended] = explain(pod({ phase: "Failed", containerStatuses: [container({ state })] })).ends;
  expect(ended?.mend).toBe("See what the program last said: kubectl logs -n default web -c main.");
});
