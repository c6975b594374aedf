import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ContainerStatus, PodStatus } from "../../../api/gen/types.ts";
import { isTerminalPhase } from "../../../api/pods.ts";
import { INIT_NAMES, MAIN_NAMES, statuses, worlds } from "../../runtime/plan/__fixtures__/worlds.ts";
import { makeStatusInput, NOW } from "./__fixtures__/status-input.ts";
import { computePodStatus } from "./compute-pod-status.ts";
import { createPodStatuses } from "./pod-statuses.ts";

const waitings = fc
  .subarray([...INIT_NAMES, ...MAIN_NAMES])
  .map((names) => new Map(names.map((name) => [name, { reason: "CrashLoopBackOff", message: "" }])));
const workerPhases = fc.constantFrom("syncing" as const, "terminating" as const, "terminated" as const);

const all = (status: PodStatus): ContainerStatus[] => [
  ...(status.initContainerStatuses ?? []),
  ...(status.containerStatuses ?? []),
];

describe("computePodStatus, for any pod and any state of the runtime", () => {
  test("a status that is fed back does not change", () => {
    fc.assert(
      fc.property(worlds, statuses, waitings, workerPhases, ({ pod, status }, before, waiting, workerPhase) => {
        const previous = computePodStatus(makeStatusInput(pod, before));
        const input = makeStatusInput(pod, status, { waiting, workerPhase, previous });
        const first = computePodStatus(input);
        expect(computePodStatus({ ...input, previous: first, now: NOW + 60_000 })).toEqual(first);
      }),
    );
  });

  test("every container is in exactly one state, and only one that runs has started", () => {
    fc.assert(
      fc.property(worlds, waitings, workerPhases, ({ pod, status }, waiting, workerPhase) => {
        const computed = computePodStatus(makeStatusInput(pod, status, { waiting, workerPhase }));
        for (const { state = {}, started } of all(computed)) {
          expect(Object.keys(state)).toHaveLength(1);
          if (started) expect(state.running).toBeDefined();
        }
        expect(computed.conditions).toHaveLength(5);
      }),
    );
  });

  test("published one after the other, phases stay terminal and restart counts never fall", () => {
    fc.assert(
      fc.property(worlds, fc.array(statuses, { maxLength: 6 }), ({ pod, status }, later) => {
        const store = createPodStatuses({ clock: { now: () => NOW } });
        let last: PodStatus | undefined;
        for (const runtime of [status, ...later]) {
          store.set(pod, computePodStatus(makeStatusInput(pod, runtime, { previous: last })));
          const next = store.get("uid-1") ?? {};
          if (isTerminalPhase(last?.phase)) expect(next.phase).toBe(last?.phase);
          for (const before of last === undefined ? [] : all(last)) {
            const after = all(next).find(({ name }) => name === before.name);
            expect(after?.restartCount).toBeGreaterThanOrEqual(before.restartCount);
          }
          last = next;
        }
      }),
    );
  });
});
