import { expect, it } from "vitest";
import type { Pod, PodStatus } from "../../api/gen/types.ts";
import { createMetrics } from "../../base/metrics.ts";
import type { PodState } from "../pods/workers/pod-state.ts";
import type { RuntimePod } from "../runtime/reading/pod-runtime-status.ts";
import { declarePodGauges } from "./pod-gauges.ts";

const pod = (uid: string, source: "api" | "file", spec: object = {}): Pod => ({
  metadata: { uid, name: uid, namespace: "default", annotations: { "kubernetes.io/config.source": source } },
  spec: { containers: [], ...spec },
});

const runtimePod = (
  uid: string,
  states: Array<RuntimePod["containers"][number]["state"]>,
  isReady = true,
): RuntimePod => ({
  uid,
  name: uid,
  namespace: "default",
  sandboxes: [{ id: `sandbox-${uid}`, attempt: 0, state: isReady ? "ready" : "notready", createdAt: 0 }],
  containers: states.map((state, index) => ({
    id: `${uid}-${index}`,
    sandboxId: `sandbox-${uid}`,
    name: `c${index}`,
    attempt: 0,
    state,
    createdAt: 0,
  })),
});

const common = { fullName: "", restartRequested: false };
const ending = { ...common, deleted: true, evicted: false, gracePeriodSeconds: 1, statusOverride: undefined };

it("tells how many pods there are, as upstream does", async () => {
  const metrics = createMetrics();
  const staticPod = pod("static", "file");
  const apiPod = pod("api", "api", { ephemeralContainers: [{ name: "debug" }] });
  const [done, refused, removed] = [pod("done", "api"), pod("refused", "api"), pod("removed", "file")];
  const orphan = runtimePod("orphan", ["exited"], false);
  const states: Array<[string, PodState]> = [
    ["static", { ...common, phase: "syncing", subject: { kind: "pod", pod: staticPod } }],
    ["api", { ...common, phase: "syncing", subject: { kind: "pod", pod: apiPod } }],
    ["done", { ...ending, phase: "finished", subject: { kind: "pod", pod: done } }],
    ["removed", { ...ending, phase: "terminating", subject: { kind: "pod", pod: removed } }],
    ["orphan", { ...ending, phase: "terminating", subject: { kind: "orphan", pod: orphan } }],
  ];
  const statuses = new Map<string, PodStatus>([["refused", { phase: "Failed" }]]);
  const set = declarePodGauges(metrics, {
    desiredPods: () => [staticPod, apiPod, done, refused],
    mirrorPods: () => [staticPod],
    states: () => new Map(states),
    runtimePods: () => new Map([orphan, runtimePod("api", ["running", "exited"])].map((one) => [one.uid, one])),
    statusOf: (uid) => statuses.get(uid),
  });
  set();
  const lines = (await metrics.render())
    .split("\n")
    .filter((line) => line.startsWith("kubelet_") && !line.endsWith(" 0"));
  expect(lines).toEqual([
    "kubelet_running_pods 1",
    'kubelet_running_containers{container_state="running"} 1',
    'kubelet_running_containers{container_state="exited"} 2',
    'kubelet_desired_pods{static="true"} 1',
    'kubelet_desired_pods{static=""} 3',
    'kubelet_active_pods{static="true"} 1',
    'kubelet_active_pods{static=""} 1',
    "kubelet_mirror_pods 1",
    "kubelet_managed_ephemeral_containers 1",
    'kubelet_working_pods{lifecycle="sync",config="desired",static="true"} 1',
    'kubelet_working_pods{lifecycle="sync",config="desired",static=""} 1',
    'kubelet_working_pods{lifecycle="terminating",config="orphan",static="true"} 1',
    'kubelet_working_pods{lifecycle="terminating",config="runtime_only",static="unknown"} 1',
    'kubelet_working_pods{lifecycle="terminated",config="desired",static=""} 1',
  ]);
});

it("shows every combination that there may be, so that none is taken for missing", async () => {
  const metrics = createMetrics();
  const none = new Map<string, never>();
  const nobody = { desiredPods: () => [], mirrorPods: () => [], statusOf: () => undefined };
  declarePodGauges(metrics, { ...nobody, states: () => none, runtimePods: () => none })();
  const working = (await metrics.render()).split("\n").filter((line) => line.startsWith("kubelet_working_pods{"));
  expect(working).toHaveLength(15);
});
