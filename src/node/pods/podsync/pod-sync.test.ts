import { describe, expect, it } from "vitest";
import type { Pod, PodStatus } from "../../../api/gen/types.ts";
import { CONFIG_SOURCE_ANNOTATION } from "../../../api/well-known.ts";
import { makeRuntimeStatus, makePod as makeShape } from "../../runtime/plan/__fixtures__/runtime-status.ts";
import type { StartFailure } from "../../runtime/pod-runtime/start-failure.ts";
import { VolumeOperationError, volumeError } from "../../storage/volumes/volume-error.ts";
import { IncompleteSyncError, RetryError } from "../workers/pod-syncer.ts";
import { createGate, createRig, reference, settle, signal, UID } from "./__fixtures__/pod-sync-rig.ts";

function makePod(spec: Partial<NonNullable<Pod["spec"]>> = {}, source?: string): Pod {
  const pod = makeShape({});
  const annotations = source === undefined ? {} : { annotations: { [CONFIG_SOURCE_ANNOTATION]: source } };
  return { ...pod, metadata: { ...pod.metadata, ...annotations }, spec: { containers: [], ...pod.spec, ...spec } };
}

const running = () => makeRuntimeStatus(["main running"]);
const exited = () => makeRuntimeStatus(["main exited:0"]);

describe("syncPod", () => {
  it("publishes what is known, makes it so, and publishes what came of it", async () => {
    const { steps, world, sync } = createRig();
    world.sync = async ({ beforeChange }) => {
      beforeChange();
      world.runtime = running();
      return { failures: new Map() };
    };
    expect(await sync(makePod())).toEqual({ terminal: false });
    expect(steps).toEqual([
      "publish Pending ContainerCreating",
      "directories",
      "volumes up",
      "sync data",
      "invalidate",
      "invalidate",
      "refresh",
      "publish Running running",
    ]);
  });

  it("tells of a sandbox that is ready while its containers start for more than a second", async () => {
    const { steps, world, sync, statuses, clock, syncer } = createRig();
    const pulled = createGate();
    world.sync = async ({ beforeChange, onSandboxReady }) => {
      beforeChange();
      onSandboxReady?.();
      await pulled.passed;
      world.runtime = running();
      return { failures: new Map() };
    };
    const isReady = () =>
      statuses.get(UID)?.conditions?.find(({ type }) => type === "PodReadyToStartContainers")?.status;
    const ended = sync(makePod());
    await settle();
    expect(isReady()).toBe("False");
    await clock.advance(1_000);
    expect(isReady()).toBe("True");
    // What others tell of the pod meanwhile is computed without the sandbox.
    syncer.reportPod(makePod());
    expect(isReady()).toBe("True");
    pulled.open();
    await ended;
    expect(isReady()).toBe("True");
    expect(steps.filter((step) => step.startsWith("publish"))).toEqual([
      "publish Pending ContainerCreating",
      "publish Pending ContainerCreating",
      "publish Running running",
    ]);
    expect(clock.pendingTimers).toBe(0);
  });

  it("does not read again what it did not change", async () => {
    const { steps, world, sync } = createRig();
    world.runtime = running();
    await sync(makePod());
    expect(steps).toEqual(["publish Running running", "directories", "volumes up", "sync data"]);
  });

  it("gives the pod its sandbox while volumes are being made, and tells of one that fails then", async () => {
    const { steps, world, sync, events } = createRig();
    const volumes = createGate();
    world.finishVolumes = async () => await volumes.passed;
    world.sync = async (options) => {
      options.beforeChange();
      await options.volumes.finished;
      steps.push("containers");
      return { failures: new Map() };
    };
    const ended = sync(makePod());
    ended.catch(() => undefined);
    await settle();
    expect(steps.slice(-2)).toEqual(["sync data", "invalidate"]);
    volumes.fail(new Error("no room"));
    await expect(ended).rejects.toThrow("no room");
    expect(steps.at(-1)).toBe("refresh");
    expect(steps).not.toContain("containers");
    expect(events().at(-1)).toBe("Warning FailedMount: no room");
  });

  it("does not end before its volumes have, though the sandbox failed", async () => {
    const { world, sync } = createRig();
    const volumes = createGate();
    world.finishVolumes = async () => await volumes.passed;
    world.sync = async () => {
      throw new Error("no sandbox");
    };
    let failure: unknown;
    const ended = sync(makePod()).catch((error: unknown) => {
      failure = error;
    });
    await settle();
    expect(failure).toBeUndefined();
    volumes.open();
    await ended;
    expect(failure).toMatchObject({ message: "no sandbox" });
  });

  it("reads what it made without asking the lists, and asks them where a start or a volume failed", async () => {
    const made = { sandboxes: [{ id: "s" }], containers: [{ id: "c", sandboxId: "s" }] };
    const whole = createRig();
    whole.world.sync = async ({ beforeChange }) => {
      beforeChange();
      return { failures: new Map(), made };
    };
    await whole.sync(makePod());
    expect(whole.steps).toContain("refresh by items");

    const failing = createRig();
    failing.world.sync = async ({ beforeChange }) => {
      beforeChange();
      return { failures: new Map([["main", { reason: "RunContainerError", message: "no" }]]), made };
    };
    await expect(failing.sync(makePod())).rejects.toThrow("RunContainerError");
    expect(failing.steps).toContain("refresh");

    const torn = createRig();
    torn.world.finishVolumes = async () => await Promise.reject(new Error("no room"));
    torn.world.sync = whole.world.sync;
    await expect(torn.sync(makePod())).rejects.toThrow("no room");
    expect(torn.steps).toContain("refresh");
  });

  it("reads what a failed change has left behind", async () => {
    const { steps, world, sync } = createRig();
    world.sync = async ({ beforeChange }) => {
      beforeChange();
      throw new Error("no sandbox");
    };
    await expect(sync(makePod())).rejects.toThrow("no sandbox");
    expect(steps.slice(-3)).toEqual(["invalidate", "invalidate", "refresh"]);
  });

  it.each([
    ["Never", "exited:0", "publish Succeeded terminated"],
    ["OnFailure", "exited:0", "publish Succeeded terminated"],
    ["Never", "exited:1", "publish Failed terminated"],
  ])("finds the end of a pod with restart policy %s that %s", async (restartPolicy, state, published) => {
    const { steps, world, sync } = createRig();
    world.runtime = makeRuntimeStatus([`main ${state}`]);
    expect(await sync(makePod({ restartPolicy }))).toEqual({ terminal: true });
    expect(steps).toEqual([published]);
  });

  it("finds the end also when it comes while the pod is synced", async () => {
    const { world, sync } = createRig();
    world.sync = async () => {
      world.runtime = exited();
      return { failures: new Map() };
    };
    expect(await sync(makePod({ restartPolicy: "Never" }))).toEqual({ terminal: true });
  });

  it("waits a second for the network, and says so", async () => {
    const { clock, steps, world, sync, events } = createRig();
    world.networkError = "cni plugin not initialized";
    const failure = await sync(makePod()).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(RetryError);
    expect(failure).toMatchObject({ retryAt: clock.now() + 1_000 });
    expect(steps).toEqual(["publish Pending ContainerCreating"]);
    expect(events()).toEqual(["Warning NetworkNotReady: network is not ready: cni plugin not initialized"]);
  });

  it("does not make a pod on the host network wait for the network", async () => {
    const { steps, world, sync } = createRig();
    world.networkError = "cni plugin not initialized";
    await sync(makePod({ hostNetwork: true }));
    expect(steps).toContain("sync data");
  });

  it("fails, and says why, when a volume cannot be had", async () => {
    const { steps, world, sync, events } = createRig();
    world.setUp = async () => {
      throw new Error('volume "data": no such directory');
    };
    await expect(sync(makePod())).rejects.toThrow("no such directory");
    expect(steps).not.toContain("sync data");
    expect(events().at(-1)).toBe('Warning FailedMount: volume "data": no such directory');
  });

  it("tells of each volume that cannot be had in an event of its own, and looks again when one may be there", async () => {
    const { clock, world, sync, events } = createRig();
    const attach = new VolumeOperationError("AttachVolume.Attach failed", {
      reason: "FailedAttachVolume",
      retryAfterMs: 500,
    });
    world.setUp = async () => {
      throw volumeError([
        { volumeName: "a", error: attach },
        { volumeName: "b", error: new Error("no room") },
      ]);
    };
    await expect(sync(makePod())).rejects.toMatchObject({ name: "RetryError", retryAt: clock.now() + 500 });
    expect(events()).toEqual([
      "Normal CgroupMade: Cgroup of the pod is made",
      "Warning FailedAttachVolume: AttachVolume.Attach failed",
      'Warning FailedMount: MountVolume.SetUp failed for volume "b" : no room',
    ]);
  });
});

describe("a container that does not start", () => {
  const failWith =
    (...failures: StartFailure[]) =>
    async () => ({
      failures: new Map(failures.map((failure, index) => [index === 0 ? "main" : `other-${index}`, failure])),
    });

  it("shows why, and is looked at again when it is due", async () => {
    const { steps, clock, world, sync } = createRig();
    const retryAt = clock.now() + 20_000;
    world.sync = failWith(
      { reason: "ErrImagePull", message: "no", retryAt },
      { reason: "RunContainerError", message: "", retryAt: retryAt + 1 },
    );
    expect(await sync(makePod())).toEqual({ terminal: false, retryAt });
    expect(steps.at(-1)).toBe("publish Pending ErrImagePull");
    world.sync = failWith();
    await sync(makePod());
    expect(steps.at(-1)).toBe("publish Pending ContainerCreating");
  });

  it("is a failure when nobody knows when it may be tried again", async () => {
    const { steps, world, sync } = createRig();
    world.sync = failWith({ reason: "CreateContainerError", message: "no" });
    const message = 'failed to start container "main" with CreateContainerError: no';
    await expect(sync(makePod())).rejects.toThrow(message);
    expect(steps.at(-1)).toBe("publish Pending CreateContainerError");
  });

  it("does not make another wait for longer than it must", async () => {
    const { clock, world, sync } = createRig();
    const retryAt = clock.now() + 3_000;
    world.sync = failWith(
      { reason: "CreateContainerError", message: "no" },
      { reason: "CrashLoopBackOff", message: "later", retryAt },
    );
    const failure = await sync(makePod()).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(IncompleteSyncError);
    expect(failure).toMatchObject({ retryBy: retryAt });
  });
});

describe("a pod with a deadline", () => {
  it("is looked at again at its deadline, and fails then", async () => {
    const { clock, steps, world, sync, events } = createRig();
    const pod = makePod({ activeDeadlineSeconds: 60 });
    world.runtime = running();
    expect(await sync(pod)).toEqual({ terminal: false, retryAt: clock.now() + 60_000 });
    await clock.advance(59_999);
    expect(await sync(pod)).toMatchObject({ terminal: false });
    await clock.advance(1);
    expect(await sync(pod)).toEqual({ terminal: true });
    expect(steps.at(-1)).toBe("publish Failed DeadlineExceeded running");
    expect(events()).toEqual([
      "Normal DeadlineExceeded: Pod was active on the node longer than the specified deadline",
    ]);
  });
});

describe("syncTerminatingPod", () => {
  const terminating = { gracePeriodSeconds: 7, evicted: false, signal };

  it("publishes the reason, stops everything, sees for itself that nothing runs, and leaves the end to be told", async () => {
    const { steps, world, syncer } = createRig();
    world.runtime = running();
    world.stop = async () => {
      world.runtime = makeRuntimeStatus(["main exited:1"]);
    };
    const statusOverride = { phase: "Failed" as const, reason: "Evicted", message: "no memory" };
    await syncer.syncTerminatingPod({ ...terminating, subject: { kind: "pod", pod: makePod() }, statusOverride });
    expect(steps).toEqual(["publish Failed Evicted running", "invalidate", "stop pod 7", "invalidate", "refresh"]);
    await syncer.syncTerminatedPod({ subject: { kind: "pod", pod: makePod() }, deleted: false, signal });
    expect(steps).toContain("publish Failed Evicted terminated");
  });

  it("rejects while something of the pod still runs", async () => {
    const { steps, world, syncer } = createRig();
    world.runtime = running();
    const work = { ...terminating, subject: { kind: "pod" as const, pod: makePod() }, statusOverride: undefined };
    await expect(syncer.syncTerminatingPod(work)).rejects.toThrow("still run");
    expect(steps.at(-1)).toBe("refresh");
  });

  it("reads the pod again when the stop failed", async () => {
    const { steps, world, syncer } = createRig();
    world.stop = async () => {
      throw new Error("unavailable");
    };
    const work = { ...terminating, subject: { kind: "pod" as const, pod: makePod() }, statusOverride: undefined };
    await expect(syncer.syncTerminatingPod(work)).rejects.toThrow("unavailable");
    expect(steps.slice(-2)).toEqual(["invalidate", "refresh"]);
  });

  it("stops an orphan without a word about its status", async () => {
    const { steps, syncer } = createRig();
    const pod = { ...reference, sandboxes: [], containers: [] };
    await syncer.syncTerminatingPod({ ...terminating, subject: { kind: "orphan", pod }, statusOverride: undefined });
    expect(steps).toEqual(["invalidate", "stop orphan 7", "invalidate", "refresh"]);
  });
});

it("reportPod publishes what was read last and does nothing else", () => {
  const { syncer, steps } = createRig();
  syncer.reportPod(makePod());
  expect(steps).toEqual(["publish Pending ContainerCreating"]);
});

describe("syncTerminatedPod", () => {
  it("gives volumes back and makes the status final, and keeps the rest for who looks", async () => {
    const { steps, world, syncer, statuses } = createRig();
    world.runtime = makeRuntimeStatus(["main exited:1"]);
    await syncer.syncTerminatedPod({ subject: { kind: "pod", pod: makePod() }, deleted: false, signal });
    expect(steps).toEqual(["publish Failed terminated", "volumes down", "terminate"]);
    expect(statuses.get(UID)?.phase).toBe("Failed");
  });

  it.each([
    ["api", "Failed"],
    ["file", "Pending"],
  ])("makes the phase of a pod from %s that never ran %s", async (source, phase) => {
    const { syncer, statuses } = createRig();
    await syncer.syncTerminatedPod({ subject: { kind: "pod", pod: makePod({}, source) }, deleted: false, signal });
    expect(statuses.get(UID)?.phase).toBe(phase);
  });

  it("keeps logs and directories of a pod that begins anew", async () => {
    const { steps, world, syncer } = createRig();
    world.runtime = makeRuntimeStatus(["main exited:0"]);
    await syncer.syncTerminatedPod({
      subject: { kind: "pod", pod: makePod() },
      deleted: true,
      beginsAnew: true,
      signal,
    });
    expect(steps).toContain("remove, keeps logs");
    expect(steps).not.toContain("remove directories");
  });

  it("removes everything of a pod that nobody names any more, its directory last", async () => {
    const { steps, world, syncer } = createRig();
    world.runtime = makeRuntimeStatus(["main exited:0"]);
    await syncer.syncTerminatedPod({ subject: { kind: "pod", pod: makePod() }, deleted: true, signal });
    expect(steps.at(-1)).toBe("remove directories");
    const isOfVolumes = (step: string) => ["volumes down", "terminate"].includes(step);
    expect(steps.filter(isOfVolumes)).toEqual(["volumes down", "terminate"]);
    expect(steps.slice(1, -1).filter((step) => !isOfVolumes(step))).toEqual([
      "invalidate",
      "remove",
      "invalidate",
      "refresh",
    ]);
  });

  it("makes the status final without waiting for the runtime's removal", async () => {
    const { steps, world, syncer } = createRig();
    world.runtime = makeRuntimeStatus(["main exited:0"]);
    const removal = createGate();
    world.remove = async () => await removal.passed;
    const ended = syncer.syncTerminatedPod({ subject: { kind: "pod", pod: makePod() }, deleted: true, signal });
    await settle();
    expect(steps.at(-1)).toBe("terminate");
    removal.open();
    await ended;
    expect(steps.at(-1)).toBe("remove directories");
  });

  it("does not end before the removal has, though the volumes cannot be given back", async () => {
    const { steps, world, syncer } = createRig();
    const removal = createGate();
    world.tearDown = async () => {
      throw new Error("busy");
    };
    world.remove = async () => await removal.passed;
    let failure: unknown;
    const work = { subject: { kind: "pod" as const, pod: makePod() }, deleted: true, signal };
    const ended = syncer.syncTerminatedPod(work).catch((error: unknown) => {
      failure = error;
    });
    await settle();
    expect(failure).toBeUndefined();
    removal.open();
    await ended;
    expect(failure).toMatchObject({ message: "busy" });
    expect(steps).not.toContain("terminate");
    expect(steps).not.toContain("remove directories");
  });

  it("keeps the directory while the runtime could not remove the pod", async () => {
    const { steps, world, syncer } = createRig();
    world.remove = async () => {
      throw new Error("unavailable");
    };
    const work = { subject: { kind: "pod" as const, pod: makePod() }, deleted: true, signal };
    await expect(syncer.syncTerminatedPod(work)).rejects.toThrow("unavailable");
    expect(steps).not.toContain("remove directories");
  });
});

describe("probes", () => {
  const verdict = { started: true, ready: false, failed: undefined };
  const readyOf = ({ containerStatuses = [] }: PodStatus) => containerStatuses.map(({ ready }) => ready);

  it("are told of the pod before its status is computed, and what they say stands in it", async () => {
    const { world, sync, statuses } = createRig();
    world.runtime = running();
    world.verdict = verdict;
    await sync(makeShape({}));
    expect(world.observed).toMatchObject({
      phase: "syncing",
      containers: world.runtime.containers,
      told: { phase: "Running" },
    });
    expect(readyOf(statuses.get(UID) ?? {})).toEqual([false]);
  });

  it("are told of the end in its phases", async () => {
    const { world, syncer } = createRig();
    const subject = { kind: "pod" as const, pod: makeShape({}) };
    const work = { gracePeriodSeconds: 3, statusOverride: undefined, evicted: false, signal };
    await syncer.syncTerminatingPod({ subject, ...work });
    expect(world.observed?.phase).toBe("terminating");
    await syncer.syncTerminatedPod({ subject, deleted: false, signal });
    expect(world.observed?.phase).toBe("terminated");
  });

  it("are heard while the pod is being worked on", async () => {
    const { world, sync, statuses } = createRig();
    const gate = createGate();
    world.runtime = running();
    world.verdict = verdict;
    world.sync = async () => {
      await gate.passed;
      return { failures: new Map() };
    };
    const pod = makeShape({});
    const synced = sync(pod);
    await settle();
    expect(readyOf(statuses.get(UID) ?? {})).toEqual([false]);
    world.verdict = { ...verdict, ready: true };
    world.changed({ pod, phase: "syncing", kind: "readiness" });
    expect(readyOf(statuses.get(UID) ?? {})).toEqual([true]);
    gate.open();
    await synced;
  });
});
