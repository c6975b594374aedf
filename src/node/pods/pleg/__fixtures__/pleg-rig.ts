import type { PodReference } from "../../../../api/pods.ts";
import { silentLog } from "../../../../base/log.ts";
import { createMetrics } from "../../../../base/metrics.ts";
import { createFakeClock } from "../../../../host/fake/fake-clock.ts";
import { makeRuntimeStatus } from "../../../runtime/plan/__fixtures__/runtime-status.ts";
import type { PodItems, PodRuntimeStatus, RuntimePod } from "../../../runtime/reading/pod-runtime-status.ts";
import { snapshotOf } from "../lifecycle-events.ts";
import { createPleg } from "../pleg.ts";
import { createPodCache } from "../pod-cache.ts";

export const podName = (uid: string): PodReference => ({ uid, name: "web", namespace: "default" });

/** A PLEG over a runtime that is a map from UID to the pod's containers, e.g. `main running`. */
export function createPlegRig() {
  const clock = createFakeClock();
  const cache = createPodCache(() => clock.now());
  const pods = new Map<string, string[]>();
  const trace: string[] = [];
  /** Waited for before a list, and before the answer of a reading is given. */
  const hooks = { list: async () => {}, read: async (_uid: string) => {} };
  let lists = 0;
  const reads: string[] = [];
  /** What was known of the pod at each of these readings. */
  const known: Array<PodItems | undefined> = [];

  const statusOf = (uid: string): PodRuntimeStatus => {
    const containers = pods.get(uid);
    const status = makeRuntimeStatus(containers ?? [], containers === undefined ? [] : undefined);
    return { ...status, ...podName(uid), observedAt: clock.now() };
  };
  const pleg = createPleg({
    clock,
    log: silentLog,
    metrics: createMetrics(),
    cache,
    async listPods() {
      lists++;
      await hooks.list();
      return [...pods.keys()]
        .map((uid) => snapshotOf(statusOf(uid)))
        .filter((pod): pod is RuntimePod => pod !== undefined);
    },
    async readPodStatus({ pod: { uid }, items }) {
      known.push(items);
      reads.push(items === undefined ? uid : `${uid} by its items`);
      const status = statusOf(uid);
      await hooks.read(uid);
      return status;
    },
    onEvent: ({ uid, type, id }) => void trace.push(`${uid} ${id} ${type}`),
  });
  pleg.subscribe(() => void trace.push("relisted"));
  const stopping = new AbortController();
  const ended = (async () => await pleg.run(stopping.signal))().catch(() => undefined);
  return {
    clock,
    cache,
    pods,
    pleg,
    hooks,
    reads,
    items: known,
    lists: () => lists,
    /** What was told since the last call. */
    told: () => trace.splice(0),
    async stop() {
      stopping.abort();
      await ended;
    },
  };
}

/** A promise that the test resolves or rejects. */
export function createGate(): { passed: Promise<void>; open(): void; fail(error: unknown): void } {
  let open = () => {};
  let fail = (_error: unknown) => {};
  const passed = new Promise<void>((resolve, reject) => {
    open = resolve;
    fail = reject;
  });
  return { passed, open: () => open(), fail: (error) => fail(error) };
}
