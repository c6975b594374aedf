import { describe, expect, it } from "vitest";
import type { Container, Pod, PodStatus, Probe } from "../../../api/gen/types.ts";
import { untilAborted } from "../../../base/abort.ts";
import { formatTime } from "../../../base/clock.ts";
import { createMetrics } from "../../../base/metrics.ts";
import { createTimeline } from "../../../base/timeline.ts";
import { createFakeClock } from "../../../host/fake/fake-clock.ts";
import { createProbeMetrics } from "./metrics.ts";
import { createPodProbes, type ObservedContainer, type ObservedPod } from "./pod-probes.ts";
import type { ProbeAttempt } from "./probe-attempt.ts";
import type { ProbeType } from "./probe-type.ts";

const UID = "uid-1";
const probe = (more: Partial<Probe> = {}): Probe => ({ exec: { command: ["true"] }, failureThreshold: 1, ...more });

function makePod(container: Partial<Container>, sidecar?: Partial<Container>): Pod {
  return {
    metadata: { uid: UID, name: "web", namespace: "default" },
    spec: {
      containers: [{ name: "main", ...container }],
      ...(sidecar && { initContainers: [{ name: "side", restartPolicy: "Always", ...sidecar }] }),
    },
  };
}

/** `attempt`: makes the probes, in place of what `found` says. */
function createRig(attempt?: () => Promise<ProbeAttempt>) {
  const clock = createFakeClock();
  const timeline = createTimeline(clock);
  const metrics = createMetrics();
  /** What each kind of probe finds from now on: it succeeds by itself. */
  const found = new Map<ProbeType, ProbeAttempt | "hangs">();
  /** `second kind containerId`. */
  const made: string[] = [];
  const probes = createPodProbes({
    clock,
    random: { next: () => 0.5 },
    timeline,
    metrics: createProbeMetrics(metrics),
    podIpOf: () => "10.0.0.7",
    async attempt({ kind, containerId }, signal) {
      made.push(`${clock.monotonic() / 1000} ${kind} ${containerId}`);
      if (attempt !== undefined) return await attempt();
      const result = found.get(kind) ?? { result: "success", output: "" };
      if (result === "hangs") return await untilAborted(new Promise(() => {}), signal);
      return result;
    },
  });
  const changes: string[] = [];
  probes.subscribe(({ kind, phase }) => changes.push(`${clock.monotonic() / 1000} ${kind} ${phase}`));
  const running = (id: string, name = "main", startedAgo = 0): ObservedContainer => ({
    ...{ id, name, state: "running" },
    startedAt: clock.now() - startedAgo,
  });
  const observe = (pod: Pod, containers: readonly ObservedContainer[], more: Partial<ObservedPod> = {}) =>
    probes.observe(pod, { phase: "syncing", containers, told: undefined, ...more });
  const events = () =>
    timeline
      .read(UID)
      .filter(({ reason }) => reason !== "ProbeVerdict")
      .map(({ type, reason, message, container }) => `${type} ${reason} ${container}: ${message}`);
  const verdict = (pod: Pod, id: string) => {
    const [container = { name: "" }] = pod.spec?.containers ?? [];
    const { started, ready, failed } = probes.verdictOf(container, id);
    return [started ? "started" : "", ready ? "ready" : "", failed ?? ""].filter(Boolean).join(" ") || "nothing";
  };
  return { clock, probes, found, made, changes, running, observe, events, verdict, metrics };
}

const FAILURE: ProbeAttempt = { result: "failure", output: "no" };

describe("a container that the node agent has stopped", () => {
  it("is not probed any more, though its end has not been observed", async () => {
    const { clock, probes, observe, running, made, verdict, found } = createRig();
    const pod = makePod({ readinessProbe: probe({ periodSeconds: 5 }), livenessProbe: probe() });
    found.set("readiness", FAILURE);
    observe(pod, [running("c1")]);
    await clock.advance(0);
    found.set("readiness", { result: "success", output: "" });
    probes.end("c1");
    observe(pod, [running("c1")]);
    await clock.advance(60_000);
    expect(made).toEqual(["0 readiness c1"]);
    expect(verdict(pod, "c1")).toBe("started");
  });

  it("hears nothing of a probe that was under way", async () => {
    let answer = (_attempt: ProbeAttempt): void => undefined;
    const { clock, probes, observe, running, verdict } = createRig(
      () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
    );
    const pod = makePod({ readinessProbe: probe() });
    observe(pod, [running("c1")]);
    await clock.advance(0);
    probes.end("c1");
    answer({ result: "success", output: "from its successor" });
    await clock.advance(0);
    expect(verdict(pod, "c1")).toBe("started");
    observe(pod, [running("c2")]);
    await clock.advance(0);
    answer({ result: "success", output: "" });
    await clock.advance(0);
    expect(verdict(pod, "c2")).toBe("started ready");
  });
});

describe("readiness", () => {
  it("is found at once and then every period, and told only where it changes", async () => {
    const { clock, observe, running, made, changes, verdict, found } = createRig();
    const pod = makePod({ readinessProbe: probe({ periodSeconds: 5 }) });
    observe(pod, [running("c1")]);
    expect(verdict(pod, "c1")).toBe("started");
    await clock.advance(10_000);
    expect(made).toEqual(["0 readiness c1", "5 readiness c1", "10 readiness c1"]);
    expect(verdict(pod, "c1")).toBe("started ready");
    found.set("readiness", FAILURE);
    await clock.advance(5_000);
    expect(verdict(pod, "c1")).toBe("started");
    expect(changes).toEqual(["0 readiness syncing", "15 readiness syncing"]);
  });

  it("of the next run of a container begins anew", async () => {
    const { clock, observe, running, made, verdict } = createRig();
    const pod = makePod({ readinessProbe: probe({ periodSeconds: 5, initialDelaySeconds: 2 }) });
    observe(pod, [running("c1")]);
    await clock.advance(3_000);
    observe(pod, [{ ...running("c1"), state: "exited" }]);
    expect(verdict(pod, "c1")).toBe("started");
    await clock.advance(10_000);
    observe(pod, [running("c2"), { ...running("c1"), state: "exited" }]);
    expect(verdict(pod, "c2")).toBe("started");
    await clock.advance(2_000);
    expect(made).toEqual(["2 readiness c1", "15 readiness c2"]);
    expect(verdict(pod, "c2")).toBe("started ready");
  });

  it("is looked at while the pod is ending, and nothing else is", async () => {
    const { clock, observe, running, made, changes, verdict, found } = createRig();
    const each = probe({ periodSeconds: 1 });
    const pod = makePod({ readinessProbe: each, livenessProbe: each });
    observe(pod, [running("c1")]);
    await clock.advance(1_500);
    made.length = 0;
    observe(pod, [running("c1")], { phase: "terminating" });
    for (const kind of ["readiness", "liveness"] as const) found.set(kind, FAILURE);
    await clock.advance(1_000);
    expect(made).toEqual(["2 readiness c1"]);
    expect(changes.at(-1)).toBe("2 readiness terminating");
    expect(verdict(pod, "c1")).toBe("started");
    observe(pod, [], { phase: "terminated" });
    await clock.advance(10_000);
    expect(made).toHaveLength(1);
  });
});

describe("liveness", () => {
  it("is presumed for a period, and once lost it is not looked for again", async () => {
    const { clock, observe, running, made, changes, events, verdict, found } = createRig();
    const pod = makePod({ livenessProbe: probe({ periodSeconds: 10, failureThreshold: 2 }) });
    found.set("liveness", FAILURE);
    observe(pod, [running("c1")]);
    await clock.advance(19_999);
    expect(verdict(pod, "c1")).toBe("started ready");
    await clock.advance(60_000);
    expect(made).toEqual(["10 liveness c1", "20 liveness c1"]);
    expect(changes).toEqual(["20 liveness syncing"]);
    expect(verdict(pod, "c1")).toBe("started ready liveness");
    expect(events()).toEqual(["Warning Unhealthy main: Liveness probe failed: no"]);
    // Until it is stopped that stays so.
    observe(pod, [running("c1")]);
    expect(verdict(pod, "c1")).toBe("started ready liveness");
    observe(pod, [running("c2")]);
    expect(verdict(pod, "c2")).toBe("started ready");
  });
});

describe("startup", () => {
  const each = probe({ periodSeconds: 10 });
  const pod = makePod({
    startupProbe: probe({ periodSeconds: 1, failureThreshold: 5 }),
    readinessProbe: each,
    livenessProbe: each,
  });

  it("comes before the others, of which readiness follows at once", async () => {
    const { clock, observe, running, made, changes, verdict, found } = createRig();
    found.set("startup", FAILURE);
    observe(pod, [running("c1")]);
    await clock.advance(2_500);
    expect(verdict(pod, "c1")).toBe("nothing");
    found.delete("startup");
    await clock.advance(10_500);
    expect(made).toEqual([
      ...["0 startup c1", "1 startup c1", "2 startup c1", "3 startup c1"],
      ...["3 readiness c1", "13 liveness c1", "13 readiness c1"],
    ]);
    expect(changes).toEqual(["3 startup syncing", "3 readiness syncing"]);
    expect(verdict(pod, "c1")).toBe("started ready");
  });

  it("that fails ends the container, and the others never begin", async () => {
    const { clock, observe, running, made, verdict, found } = createRig();
    found.set("startup", FAILURE);
    observe(pod, [running("c1")]);
    await clock.advance(60_000);
    expect(made).toHaveLength(5);
    expect(verdict(pod, "c1")).toBe("startup");
  });

  it("of a sidecar is its own", async () => {
    const { clock, observe, running, probes, found } = createRig();
    const behind = makePod({}, { startupProbe: each });
    found.set("startup", FAILURE);
    observe(behind, [running("s1", "side")]);
    await clock.settle();
    const [sidecar = { name: "" }] = behind.spec?.initContainers ?? [];
    expect(probes.verdictOf(sidecar, "s1")).toEqual({ started: false, ready: false, failed: "startup" });
  });
});

describe("a container that an agent before this one has told of", () => {
  const told = (id: string, { started, ready }: { started: boolean; ready: boolean }): PodStatus => ({
    containerStatuses: [
      {
        ...{ name: "main", containerID: `containerd://${id}`, started, ready },
        ...{ image: "", imageID: "", restartCount: 0, state: { running: { startedAt: formatTime(0) } } },
      },
    ],
  });
  const each = probe({ periodSeconds: 10 });
  const pod = makePod({ startupProbe: each, readinessProbe: each, livenessProbe: each });

  it("goes on being ready, and is looked at within a period", async () => {
    const { clock, observe, running, made, changes, verdict } = createRig();
    observe(pod, [running("c1", "main", 60_000)], { told: told("c1", { started: true, ready: true }) });
    expect(verdict(pod, "c1")).toBe("started ready");
    await clock.advance(5_000);
    expect(made).toEqual(["5 readiness c1", "5 liveness c1"]);
    expect(changes).toEqual([]);
  });

  it("is looked at once where it was not ready", async () => {
    const { clock, observe, running, made, verdict } = createRig();
    observe(pod, [running("c1", "main", 60_000)], { told: told("c1", { started: true, ready: false }) });
    expect(verdict(pod, "c1")).toBe("started");
    await clock.settle();
    expect(made).toEqual(["0 readiness c1"]);
    expect(verdict(pod, "c1")).toBe("started ready");
  });

  it("has started only if it was told so, and is another one if its id is", async () => {
    const { clock, observe, running, made, verdict } = createRig();
    observe(pod, [running("c1", "main", 60_000)], { told: told("c1", { started: false, ready: false }) });
    expect(verdict(pod, "c1")).toBe("nothing");
    observe(pod, [running("c2")], { told: told("c1", { started: true, ready: true }) });
    expect(verdict(pod, "c2")).toBe("nothing");
    await clock.settle();
    expect(made).toEqual(["0 startup c2", "0 readiness c2"]);
  });
});

describe("a probe", () => {
  it("that says nothing of the container is told of and not counted", async () => {
    const { clock, observe, running, events, verdict, found, metrics } = createRig();
    const pod = makePod({ readinessProbe: probe({ periodSeconds: 1, failureThreshold: 2 }) });
    observe(pod, [running("c1")]);
    await clock.settle();
    for (const attempt of [FAILURE, { result: "error", state: "unknown", message: "odd" }] as const) {
      found.set("readiness", attempt);
      await clock.advance(1_000);
    }
    expect(verdict(pod, "c1")).toBe("started ready");
    expect(events()).toEqual([
      "Warning Unhealthy main: Readiness probe failed: no",
      "Warning Unhealthy main: Readiness probe errored and resulted in unknown state: odd",
    ]);
    const labels = 'probe_type="Readiness",container="main",pod="web",namespace="default",result=';
    expect(await metrics.render()).toContain(`prober_probe_total{${labels}"successful",pod_uid="uid-1"} 1`);
    expect(await metrics.render()).toContain(`prober_probe_total{${labels}"failed",pod_uid="uid-1"} 1`);
  });

  it("that warns has succeeded", async () => {
    const { clock, observe, running, events, verdict, found } = createRig();
    found.set("readiness", { result: "warning", output: "moved" });
    const pod = makePod({ readinessProbe: probe() });
    observe(pod, [running("c1")]);
    await clock.settle();
    expect(verdict(pod, "c1")).toBe("started ready");
    expect(events()).toEqual(["Warning ProbeWarning main: Readiness probe warning: moved"]);
  });

  it("is not made of a container that has none, nor of an init container that ends", async () => {
    const { clock, observe, running, made, probes, verdict } = createRig();
    const pod = makePod({}, { restartPolicy: "Never", readinessProbe: probe() });
    observe(pod, [running("c1"), running("s1", "side")]);
    await clock.advance(60_000);
    expect(made).toEqual([]);
    expect(probes.podUids()).toEqual([]);
    expect(verdict(pod, "c1")).toBe("started ready");
  });
});

it("when it ends nothing is probed any more, what hangs is given up, and what was found stays", async () => {
  const { clock, probes, observe, running, made, verdict, found, metrics } = createRig();
  found.set("liveness", "hangs");
  const pod = makePod({ readinessProbe: probe(), livenessProbe: probe({ initialDelaySeconds: 1 }) });
  const stop = new AbortController();
  const ended = probes.run(stop.signal);
  observe(pod, [running("c1")]);
  await clock.advance(5_000);
  stop.abort();
  await ended;
  expect(clock.pendingTimers).toBe(0);
  expect(made).toEqual(["0 readiness c1", "1 liveness c1"]);
  expect(verdict(pod, "c1")).toBe("started ready");
  observe(pod, [running("c2")]);
  expect(verdict(pod, "c2")).toBe("started");
  await clock.advance(60_000);
  expect(made).toHaveLength(2);
  probes.forget(UID);
  expect(probes.podUids()).toEqual([]);
  expect(await metrics.render()).not.toContain("uid-1");
});
