import type { Pod, PodStatus } from "../../../../api/gen/types.ts";
import { createTimeline } from "../../../../base/timeline.ts";
import { createFakeClock } from "../../../../host/fake/fake-clock.ts";
import type { SyncOptions, SyncOutcome } from "../../../runtime/pod-runtime/pod-runtime.ts";
import { emptyPodRuntimeStatus, type PodRuntimeStatus } from "../../../runtime/reading/pod-runtime-status.ts";
import type { ContainerVerdict } from "../../probes/container-probes.ts";
import type { ObservedPod, VerdictChange } from "../../probes/pod-probes.ts";
import { createPodStatuses } from "../../status/pod-statuses.ts";
import { createPodSync } from "../pod-sync.ts";

export const UID = "uid-1";
export const signal = new AbortController().signal;
export const reference = { uid: UID, name: "web", namespace: "default" };

interface World {
  runtime: PodRuntimeStatus;
  networkError: string | undefined;
  sync(options: SyncOptions): Promise<SyncOutcome>;
  stop(): Promise<void>;
  setUp(): Promise<void>;
  finishVolumes(): Promise<void>;
  remove(): Promise<void>;
  tearDown(): Promise<void>;
  makeCgroup(): Promise<void>;
  removeCgroup(): Promise<void>;
  /** What the probes were told last, what they say, and how they tell of a change. */
  observed: ObservedPod | undefined;
  verdict: ContainerVerdict;
  changed(change: VerdictChange): void;
}

export function createRig() {
  const clock = createFakeClock();
  const timeline = createTimeline(clock);
  const statuses = createPodStatuses({ clock });
  /** Every step in order, published statuses included: `publish Pending`. */
  const steps: string[] = [];
  statuses.subscribe(({ status }) => steps.push(`publish ${describeStatus(status)}`));
  /** What became of the pod's cgroup. */
  const cgroups: string[] = [];
  const world = createWorld(emptyPodRuntimeStatus(reference, clock.now()));
  const syncer = createPodSync({
    clock,
    timeline,
    runtime: {
      async sync(_pod, _status, options) {
        steps.push(`sync ${[...options.volumes.volumes.keys()].join()}`.trim());
        return await world.sync(options);
      },
      async stop(pod, _status, { gracePeriodSeconds }) {
        steps.push(`stop ${pod === undefined ? "orphan" : "pod"} ${gracePeriodSeconds}`);
        await world.stop();
      },
      async remove(_status, { keepLogs }) {
        steps.push(keepLogs ? "remove, keeps logs" : "remove");
        await world.remove();
      },
    },
    cache: {
      fresh: async () => world.runtime,
      invalidate: () => void steps.push("invalidate"),
      latest: () => world.runtime,
    },
    refresh: async (_pod, items) => void steps.push(items === undefined ? "refresh" : "refresh by items"),
    statuses: {
      get: statuses.get,
      set: statuses.set,
      terminate(pod) {
        steps.push("terminate");
        statuses.terminate(pod);
      },
    },
    probes: {
      observe: (_pod, observed) => {
        world.observed = observed;
      },
      verdictOf: () => world.verdict,
      subscribe(listener) {
        world.changed = listener;
        return () => {};
      },
    },
    cgroups: {
      async ensure(_pod, { isNew }) {
        await world.makeCgroup();
        cgroups.push(isNew ? "new" : "kept");
      },
      async release({ uid, qosClass }) {
        await world.removeCgroup();
        cgroups.push(
          `released ${uid} ${qosClass ?? "of any class"} after ${steps.findLast((step) => step.startsWith("volumes"))}`,
        );
      },
    },
    volumes: {
      async setUp() {
        await world.setUp();
        steps.push("volumes up");
        const data = { kind: "files", hostPath: "/data", readOnly: false, relabel: false } as const;
        return { volumes: new Map([["data", data]]), finished: world.finishVolumes() };
      },
      async tearDown() {
        await world.tearDown();
        steps.push("volumes down");
      },
    },
    directories: {
      make: async () => void steps.push("directories"),
      remove: async () => void steps.push("remove directories"),
    },
    networkError: () => world.networkError,
    hostIps: () => ["192.0.2.1"],
    runtimeName: () => "containerd",
    supportsRecursiveReadOnly: () => false,
  });
  const sync = async (pod: Pod) => await syncer.syncPod({ pod, signal });
  const events = () => timeline.read(UID).map(({ type, reason, message }) => `${type} ${reason}: ${message}`);
  return { clock, steps, cgroups, statuses, world, syncer, sync, events, records: () => timeline.read(UID) };
}

/** A world in which every step succeeds and changes nothing. */
function createWorld(runtime: PodRuntimeStatus): World {
  return {
    runtime,
    networkError: undefined,
    sync: async () => ({ failures: new Map() }),
    stop: async () => {},
    setUp: async () => {},
    finishVolumes: async () => {},
    remove: async () => {},
    tearDown: async () => {},
    makeCgroup: async () => {},
    removeCgroup: async () => {},
    observed: undefined,
    verdict: { started: true, ready: true, failed: undefined },
    changed: () => {},
  };
}

/** A promise that the test resolves or rejects. */
export function createGate() {
  let open = () => {};
  let fail = (_error: unknown) => {};
  const passed = new Promise<void>((resolve, reject) => {
    open = resolve;
    fail = reject;
  });
  return { passed, open: () => open(), fail: (error: unknown) => fail(error) };
}

/** Until nothing goes on but what waits for the test. */
export async function settle(): Promise<void> {
  await new Promise<void>((resolve) => setImmediate(resolve));
}

function describeStatus({ phase, reason, containerStatuses = [] }: PodStatus): string {
  const states = containerStatuses.map(({ state }) => state?.waiting?.reason ?? Object.keys(state ?? {})[0]);
  return [phase, reason, ...states].filter(Boolean).join(" ");
}
