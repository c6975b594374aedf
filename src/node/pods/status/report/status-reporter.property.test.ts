import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ApiError } from "../../../../api/api-error.ts";
import type { ContainerState, Pod, PodStatus } from "../../../../api/gen/types.ts";
import { isTerminalPhase, podUid } from "../../../../api/pods.ts";
import type { Fault } from "./__fixtures__/fake-pod-api.ts";
import { apiPod, createReporterRig } from "./__fixtures__/reporter-rig.ts";
import { computeApiStatus } from "./api-status.ts";
import { computeStatusPatch } from "./status-patch.ts";

const NAMES = ["a", "b", "c"] as const;
type Rig = ReturnType<typeof createReporterRig>;

/** One thing that happens, on the node or in the API, and how long nothing else does. */
interface Happening {
  readonly name: (typeof NAMES)[number];
  readonly act: (rig: Rig, name: string, model: Model) => void;
  readonly thenMs: number;
}

/** What must have come of it in the end. */
interface Model {
  /** By pod and type. */
  readonly gates: Map<string, string>;
  readonly finished: Set<string>;
  readonly replaced: Set<string>;
}

const states: readonly ContainerState[] = [
  { waiting: { reason: "ContainerCreating" } },
  { running: { startedAt: "2026-01-01T00:00:00Z" } },
  { terminated: { exitCode: 1, finishedAt: "2026-01-01T00:00:00.5Z" } },
];

function withStatus(pod: Pod, more: PodStatus): Pod {
  return { ...pod, status: { ...pod.status, ...more } };
}

const publish = fc
  .record({
    phase: fc.constantFrom("Pending", "Running", "Succeeded"),
    state: fc.constantFrom(...states),
    podIP: fc.constantFrom(undefined, "10.0.0.1", "10.0.0.2"),
    ready: fc.constantFrom("True", "False"),
    message: fc.constantFrom("", "m"),
  })
  .map((drawn) => (rig: Rig, name: string, { finished }: Model) => {
    const { podIP, state, ready, ...rest } = drawn;
    if (finished.has(name)) return;
    const main = { name: "main", image: "", imageID: "", restartCount: 0, ready: ready === "True", state };
    rig.statuses.set(apiPod(name), {
      ...rest,
      containerStatuses: [main],
      conditions: [
        { type: "PodScheduled", status: "True" },
        { type: "Ready", status: ready },
      ],
      ...(podIP && { podIP, podIPs: [{ ip: podIP }] }),
    });
  });

const gate = fc.record({ type: fc.constantFrom("x", "y"), status: fc.constantFrom("True", "False") }).map((drawn) => {
  return (rig: Rig, name: string, { gates }: Model) => {
    if (rig.api.get(name) === undefined) return;
    gates.set(`${name}/${drawn.type}`, drawn.status);
    rig.api.change(name, (pod) => {
      const others = (pod.status?.conditions ?? []).filter(({ type }) => type !== drawn.type);
      return withStatus(pod, { conditions: [drawn, ...others] });
    });
  };
});

const overwrite = fc
  .constantFrom<PodStatus>(
    { phase: "Unknown" },
    { podIPs: [{ ip: "10.9.9.9" }], podIP: "10.9.9.9" },
    { reason: "NodeLost" },
    { containerStatuses: [] },
  )
  .map((status) => (rig: Rig, name: string) => {
    rig.api.change(name, (pod) => (isTerminalPhase(pod.status?.phase) ? pod : withStatus(pod, status)));
  });

const fail = fc.constant((rig: Rig, name: string) => {
  rig.api.change(name, (pod) => {
    return isTerminalPhase(pod.status?.phase) ? pod : withStatus(pod, { phase: "Failed", reason: "PodGC" });
  });
});

const finish = fc.constant((rig: Rig, name: string, { finished }: Model) => {
  if (finished.has(name)) return;
  finished.add(name);
  const pod = apiPod(name, { deleted: true });
  rig.statuses.terminate(pod);
  rig.reporter.finished(pod);
  rig.statuses.remove(podUid(pod));
});

const replace = fc.constant((rig: Rig, name: string, { gates, replaced, finished }: Model) => {
  if (finished.has(name) || replaced.has(name)) return;
  replaced.add(name);
  for (const type of ["x", "y"]) gates.delete(`${name}/${type}`);
  rig.api.remove(name);
  rig.api.put(apiPod(name, { uid: "another" }));
});

const happening: fc.Arbitrary<Happening> = fc.record({
  name: fc.constantFrom(...NAMES),
  act: fc.oneof(
    { arbitrary: publish, weight: 8 },
    { arbitrary: gate, weight: 4 },
    { arbitrary: overwrite, weight: 3 },
    { arbitrary: fail, weight: 1 },
    { arbitrary: finish, weight: 1 },
    { arbitrary: replace, weight: 1 },
  ),
  thenMs: fc.constantFrom(0, 1, 4, 7, 12, 50, 2_000, 45_000),
});

const faults: fc.Arbitrary<Array<Fault | undefined>> = fc.array(
  fc.constantFrom<Fault | undefined>(
    undefined,
    undefined,
    "lost",
    "unheard",
    "timed-out",
    new ApiError("Conflict", "the object has been modified"),
    new ApiError("InternalError", "etcdserver: request timed out"),
    new ApiError("TooManyRequests", "please try again later"),
  ),
  { maxLength: 30 },
);

describe("whatever happens on the node, in the API and between them", () => {
  it("the API says in the end what the node says, with what others own, and nothing final is taken back", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(happening, { minLength: 1, maxLength: 40 }),
        faults,
        fc.record({ latencyMs: fc.constantFrom(0, 2, 10, 400), watchDelayMs: fc.constantFrom(1, 5, 30, 3_000) }),
        async (happenings, drawnFaults, delays) => {
          const rig = createReporterRig();
          await rig.add(...NAMES.map((name) => apiPod(name)));
          Object.assign(rig.api, delays);
          const pending = [...drawnFaults];
          rig.api.fault = () => pending.shift();
          const run = rig.start();
          const model: Model = { gates: new Map(), finished: new Set(), replaced: new Set() };
          for (const { name, act, thenMs } of happenings) {
            act(rig, name, model);
            await rig.clock.advance(thenMs);
          }
          rig.api.fault = () => undefined;
          await rig.clock.advance(300_000);
          check(rig, model);
          rig.stop();
          await run;
          expect(rig.clock.pendingTimers).toBe(0);
        },
      ),
      { numRuns: 300 },
    );
  });
});

function check(rig: Rig, { gates, finished, replaced }: Model): void {
  expect(rig.api.violations).toEqual([]);
  for (const name of NAMES) {
    const pod = rig.api.get(name);
    if (replaced.has(name)) {
      expect(pod?.metadata?.uid).toBe("another");
      for (const { type } of pod?.status?.conditions ?? []) expect(["x", "y"]).toContain(type);
      continue;
    }
    if (finished.has(name)) {
      expect(pod).toBeUndefined();
      continue;
    }
    for (const { type, status } of pod?.status?.conditions ?? []) {
      if (type === "x" || type === "y") expect(status).toBe(gates.get(`${name}/${type}`));
    }
    expect((pod?.status?.conditions ?? []).filter(({ type }) => type === "x" || type === "y")).toHaveLength(
      [...gates.keys()].filter((key) => key.startsWith(`${name}/`)).length,
    );
    checkOwn(rig, pod, `uid-${name}`);
  }
}

function checkOwn(rig: Rig, pod: Pod | undefined, uid: string): void {
  const own = rig.statuses.get(uid);
  if (own === undefined || pod === undefined) return;
  const { status = {} } = pod;
  if (status.reason !== "PodGC") {
    expect(status.phase).toBe(own.phase);
    expect(status.conditions).toEqual(
      expect.arrayContaining(
        (own.conditions ?? []).map(({ type, status: verdict }) => {
          return expect.objectContaining({ type, status: verdict });
        }),
      ),
    );
  }
  expect(status.podIP).toBe(own.podIP);
  expect(status.message ?? "").toBe(status.reason === "PodGC" ? (status.message ?? "") : (own.message ?? ""));
  expect(computeStatusPatch(status, computeApiStatus({ pod: apiPod("x"), status: own }, pod, 0))).toBeUndefined();
}
