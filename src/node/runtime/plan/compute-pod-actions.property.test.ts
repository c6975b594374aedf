import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Container, Pod } from "../../../api/gen/types.ts";
import { isRestartableInitContainer } from "../../../api/pods.ts";
import { findContainer, type PodRuntimeStatus } from "../reading/pod-runtime-status.ts";
import { describeActions, makeContainer, makeRuntimeStatus, makeSandbox } from "./__fixtures__/runtime-status.ts";
import { INIT_NAMES, MAIN_NAMES, worlds } from "./__fixtures__/worlds.ts";
import { computePodActions } from "./compute-pod-actions.ts";
import type { PlanInput } from "./plan-input.ts";
import type { PodActions } from "./pod-actions.ts";

const NO_WAIT: Omit<PlanInput, "pod" | "status"> = {
  now: 1_000_000,
  waitUntil: () => undefined,
  isSameContainer: (_container, hash) => hash === "same",
  verdictOf: () => ({ started: true, failed: undefined }),
};

/** What the runtime holds after the plan was executed without a fault. */
function apply(status: PodRuntimeStatus, actions: PodActions): PodRuntimeStatus {
  const killed = new Set(actions.containersToKill.map(({ id }) => id));
  const isStopped = ({ id, state }: { id: string; state: string }) =>
    killed.has(id) || (actions.killPod !== undefined && (state === "running" || state === "unknown"));
  const left = status.containers.map((container) =>
    isStopped(container) ? { ...container, state: "exited" as const, exitCode: 137 } : container,
  );
  const boxes = status.sandboxes.map((box) =>
    actions.killPod === undefined ? box : { ...box, state: "notready" as const },
  );
  const { createSandbox } = actions;
  const made = createSandbox === undefined ? [] : [makeSandbox({ attempt: createSandbox.attempt })];
  const sandboxId = made[0]?.id ?? actions.sandboxId ?? "";
  const started = actions.containersToStart.map(({ container, restartCount }) =>
    makeContainer(`${container.name} running`, { restartCount, sandboxId }),
  );
  return makeRuntimeStatus([...started.reverse(), ...left], [...made, ...boxes]);
}

function plan(pod: Pod, status: PodRuntimeStatus, overrides: Partial<PlanInput> = {}): PodActions {
  return computePodActions({ ...NO_WAIT, pod, status, ...overrides });
}

const startNames = (actions: PodActions) => actions.containersToStart.map(({ container }) => container.name);
const isMain = (pod: Pod, container: Container) => pod.spec?.containers.includes(container) === true;

describe("computePodActions, for any pod and any state of the runtime", () => {
  test("settles: executed again and again it soon has nothing left to do", () => {
    fc.assert(
      fc.property(worlds, ({ pod, status }) => {
        let now = status;
        const trail: string[] = [];
        // One round for the sandbox, one for each init container (sidecars let the next one start), one for main.
        for (let round = 0; round < INIT_NAMES.length + 3; round++) {
          const actions = plan(pod, now);
          trail.push(describeActions(actions));
          if (describeActions(actions) === "") return;
          now = apply(now, actions);
        }
        expect.fail(`does not settle: ${trail.join(" | ")}`);
      }),
    );
  });

  test("brings a pod to run whose init containers succeed, unless its policy says that it is over", () => {
    fc.assert(
      fc.property(worlds, ({ pod, status }) => {
        const always: Pod = { ...pod, spec: { containers: [], ...pod.spec, restartPolicy: "Always" } };
        let now = status;
        for (let round = 0; round < 3 * INIT_NAMES.length + 4; round++) {
          now = apply(now, plan(always, now));
          now = finishInits(always, now);
        }
        expect(describeActions(plan(always, now))).toBe("");
        const sandbox = now.sandboxes[0]?.id;
        expect(now.sandboxes.filter(({ state }) => state === "ready")).toHaveLength(1);
        for (const main of always.spec?.containers ?? []) {
          expect(findContainer(now, main.name)?.state).toBe("running");
        }
        const sidecars = (always.spec?.initContainers ?? []).filter(isRestartableInitContainer);
        for (const sidecar of sidecars) {
          const here = now.containers.find(({ name, sandboxId }) => name === sidecar.name && sandboxId === sandbox);
          expect(here?.state).toBe("running");
        }
      }),
    );
  });

  test("starts no container that runs, unless it stops it first", () => {
    fc.assert(
      fc.property(worlds, ({ pod, status }) => {
        const actions = plan(pod, status);
        if (actions.killPod !== undefined) return;
        const killed = actions.containersToKill.map(({ name }) => name);
        for (const { container, kind } of actions.containersToStart) {
          const inSandbox = status.containers.find(
            ({ name, sandboxId }) => name === container.name && (kind !== "init" || sandboxId === actions.sandboxId),
          );
          if (inSandbox?.state === "running") expect(killed).toContain(container.name);
        }
        expect(new Set(startNames(actions)).size).toBe(actions.containersToStart.length);
      }),
    );
  });

  test("starts no main container before the init containers are done in this sandbox", () => {
    fc.assert(
      fc.property(worlds, ({ pod, status }) => {
        const last = pod.spec?.initContainers?.at(-1);
        const actions = plan(pod, status);
        const mains = actions.containersToStart.filter(({ container }) => isMain(pod, container));
        if (last === undefined || mains.length === 0) return;
        const here = status.containers.filter(({ sandboxId }) => sandboxId === actions.sandboxId);
        const mainWasHere = here.some(({ name }) => MAIN_NAMES.includes(name));
        const init = here.find(({ name }) => name === last.name);
        const passed = isRestartableInitContainer(last)
          ? init?.state === "running"
          : init?.state === "exited" && init.exitCode === 0;
        expect(mainWasHere || passed).toBe(true);
      }),
    );
  });

  test("never restarts what ended under Never, nor what succeeded under OnFailure", () => {
    fc.assert(
      fc.property(worlds, ({ pod, status }) => {
        const policy = pod.spec?.restartPolicy;
        for (const { container } of plan(pod, status).containersToStart) {
          const last = findContainer(status, container.name);
          if (!isMain(pod, container) || last?.state !== "exited") continue;
          expect(policy).not.toBe("Never");
          if (policy === "OnFailure") expect(last.exitCode).not.toBe(0);
        }
      }),
    );
  });

  test("a back-off delays starts and changes nothing else", () => {
    fc.assert(
      fc.property(worlds, ({ pod, status }) => {
        const free = plan(pod, status);
        const held = plan(pod, status, { waitUntil: (_container, endedAt) => endedAt + NO_WAIT.now });
        const names = [...startNames(held), ...held.backingOff.map(({ container }) => container.name)];
        expect(names.sort()).toEqual(startNames(free).sort());
        const { killPod, createSandbox, sandboxId, containersToKill } = free;
        expect(held).toMatchObject({ killPod, createSandbox, sandboxId, containersToKill });
        for (const name of startNames(held)) {
          expect(status.containers.some((each) => each.name === name && each.state === "exited")).toBe(false);
        }
      }),
    );
  });

  test("a restart count is one more than that of the container before", () => {
    fc.assert(
      fc.property(worlds, ({ pod, status }) => {
        for (const { container, restartCount } of plan(pod, status).containersToStart) {
          const last = findContainer(status, container.name);
          expect(restartCount).toBe(last === undefined ? 0 : last.restartCount + 1);
        }
      }),
    );
  });
});

function finishInits(pod: Pod, status: PodRuntimeStatus): PodRuntimeStatus {
  const regular = (pod.spec?.initContainers ?? []).filter((container) => !isRestartableInitContainer(container));
  const names = regular.map(({ name }) => name);
  const finished = status.containers.map((container) =>
    names.includes(container.name) && container.state === "running"
      ? { ...container, state: "exited" as const, exitCode: 0 }
      : container,
  );
  return { ...status, containers: finished };
}
