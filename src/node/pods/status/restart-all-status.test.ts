import { expect, test } from "vitest";
import type { Pod, PodStatus } from "../../../api/gen/types.ts";
import { makeContainer, makePod, makeRuntimeStatus } from "../../runtime/plan/__fixtures__/runtime-status.ts";
import type { ContainerRuntimeStatus } from "../../runtime/reading/pod-runtime-status.ts";
import { makeStatusInput } from "./__fixtures__/status-input.ts";
import { computePodStatus } from "./compute-pod-status.ts";
import { mergePodStatus } from "./merge-pod-status.ts";

const bare = makePod({ restartPolicy: "Never", init: ["i"], main: ["main", "w"] });
const rule = { action: "RestartAllContainers", exitCodes: { operator: "In", values: [88] } };
const pod: Pod = {
  ...bare,
  spec: {
    ...bare.spec,
    containers: [
      { name: "main", image: "main:1" },
      { name: "w", image: "w:1", restartPolicy: "Never", restartPolicyRules: [rule] },
    ],
  },
};

function next(previous: PodStatus | undefined, containers: Array<ContainerRuntimeStatus | string>): PodStatus {
  const input = makeStatusInput(pod, makeRuntimeStatus(containers), { ...(previous && { previous }) });
  const computed = computePodStatus(input);
  return previous === undefined ? computed : mergePodStatus(pod, previous, computed, input.now);
}

const conditionOf = (status: PodStatus, type: string) => status.conditions?.find((each) => each.type === type);
const running = next(undefined, ["i exited:0", "main running", "w running"]);
const ended = next(running, ["i exited:0", "main running", "w exited:88"]);
const emptied = next(ended, []);

test("the condition tells that all containers restart, from the exit until the containers are gone", () => {
  expect(conditionOf(running, "AllContainersRestarting")).toMatchObject({ status: "False" });
  expect(conditionOf(ended, "AllContainersRestarting")).toMatchObject({
    status: "True",
    reason: "RestartAllContainersStarted",
    message: "container exited with restart policy rule",
  });
  expect(conditionOf(emptied, "AllContainersRestarting")).toMatchObject({ status: "False" });
  expect(conditionOf(computePodStatus(makeStatusInput(bare, makeRuntimeStatus([]))), "AllContainersRestarting")).toBe(
    undefined,
  );
});

test("a container that was removed waits, with its own end or that of the restart", () => {
  const [init] = emptied.initContainerStatuses ?? [];
  const [main, watcher] = emptied.containerStatuses ?? [];
  for (const each of [init, main, watcher]) {
    expect(each).toMatchObject({ restartCount: 1, state: { waiting: { reason: "RestartingAllContainers" } } });
  }
  expect(main?.lastState?.terminated).toMatchObject({ exitCode: 137, reason: "RestartingAllContainers" });
  expect(watcher?.lastState?.terminated).toMatchObject({ exitCode: 88 });
  expect(init?.lastState?.terminated).toMatchObject({ exitCode: 0 });
  expect(conditionOf(emptied, "Initialized")).toMatchObject({ status: "True" });
  expect(next(emptied, [])).toEqual(emptied);
});

test("no restart makes the pod fail, and the containers that come after it count on", () => {
  const one = { restartCount: 1, sandboxId: "sandbox-0" };
  const again = next(emptied, [makeContainer("i exited:0", one)]);
  expect([ended, emptied, again].map(({ phase }) => phase)).not.toContain("Failed");
  const back = next(
    again,
    ["i exited:0", "main running", "w running"].map((text) => makeContainer(text, one)),
  );
  expect(back.phase).toBe("Running");
  expect(back.containerStatuses?.map(({ restartCount }) => restartCount)).toEqual([1, 1]);
  expect(back.containerStatuses?.[0]?.lastState?.terminated).toMatchObject({ reason: "RestartingAllContainers" });
});
