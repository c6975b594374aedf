import { describe, expect, it } from "vitest";
import type { Pod } from "../../../api/gen/types.ts";
import {
  CONTAINER_HASH_ANNOTATION,
  CONTAINER_PRESTOP_HANDLER_ANNOTATION,
  POD_DELETION_GRACE_PERIOD_ANNOTATION,
  POD_NAME_LABEL,
  POD_NAMESPACE_LABEL,
  POD_TERMINATION_GRACE_PERIOD_ANNOTATION,
  POD_UID_LABEL,
} from "../../../api/well-known.ts";
import { RunPodSandboxRequest } from "../../../cri/gen/cri-v1.ts";
import { createFakeNode, NEVER, STUBBORN } from "./__fixtures__/fake-node.ts";
import { listRuntimePods, readPodItems } from "./read-pods.ts";

const makePod = (uid: string): Pod => ({ metadata: { uid, name: `pod-${uid}`, namespace: "default" } });

describe("the lists", () => {
  it("show every pod with its sandboxes and containers", async () => {
    const { cri, clock, makePod: run } = createFakeNode();
    await run(makePod("a"), { main: { command: STUBBORN, attempt: 2 }, done: { command: ["false"] } });
    await run(makePod("b"), {});
    await clock.settle();
    const pods = await listRuntimePods(cri.runtime, NEVER);
    expect(pods).toMatchObject([
      {
        uid: "a",
        name: "pod-a",
        namespace: "default",
        sandboxes: [{ attempt: 0, state: "ready" }],
        containers: [
          { name: "main", attempt: 2, state: "running" },
          { name: "done", attempt: 0, state: "exited" },
        ],
      },
      { uid: "b", containers: [] },
    ]);
  });

  const identity = { [POD_UID_LABEL]: "a", [POD_NAME_LABEL]: "web", [POD_NAMESPACE_LABEL]: "default" };
  it.each([
    ["without labels", {}],
    ["without a name", { [POD_UID_LABEL]: "a", [POD_NAMESPACE_LABEL]: "default" }],
    ["with an empty UID, which would name the directory of all pods", { ...identity, [POD_UID_LABEL]: "" }],
    ["whose UID leads out of its directory", { ...identity, [POD_UID_LABEL]: ".." }],
    ["whose UID leads elsewhere", { ...identity, [POD_UID_LABEL]: "../../etc" }],
    ["whose name leads elsewhere", { ...identity, [POD_NAME_LABEL]: "../x" }],
  ])("leave out what is no pod of Kubernetes: %s", async (_name, labels) => {
    const { cri } = createFakeNode();
    const config = { metadata: { uid: "a", name: "x", namespace: "y", attempt: 0 }, labels };
    await cri.runtime.runPodSandbox(RunPodSandboxRequest.fromPartial({ config }));
    expect(await listRuntimePods(cri.runtime, NEVER)).toEqual([]);
  });
});

describe("the status of a pod", () => {
  it("is the same where all that there is of it is known, and shows nothing that is gone", async () => {
    const { cri, host, clock, read, makePod: run } = createFakeNode();
    const pod = makePod("a");
    const { podSandboxId, ids } = await run(pod, { main: { command: STUBBORN }, done: { command: ["false"] } });
    await clock.settle();
    const items = {
      sandboxes: [{ id: podSandboxId }],
      containers: Object.values(ids).map((id) => ({ id, sandboxId: podSandboxId })),
    };
    const reading = { pod: { uid: "a", name: "pod-a", namespace: "default" }, items };
    expect(await readPodItems({ runtime: cri.runtime, host }, reading, NEVER)).toEqual(await read(pod));
    await cri.runtime.removePodSandbox({ podSandboxId });
    const left = await readPodItems({ runtime: cri.runtime, host }, reading, NEVER);
    expect(left).toMatchObject({ sandboxes: [], containers: [], ips: [] });
  });

  it("does not ask a sandbox whose status is known", async () => {
    const { cri, host, failing, read, makePod: run } = createFakeNode();
    const pod = makePod("a");
    await run(pod, { main: { command: STUBBORN } });
    const [known] = (await read(pod)).sandboxes;
    failing.set("podSandboxStatus", "unavailable");
    const status = known && { ...known, state: "notready" as const };
    const items = { sandboxes: [{ id: known?.id ?? "", status }], containers: [] };
    const reading = { pod: { uid: "a", name: "pod-a", namespace: "default" }, items };
    expect((await readPodItems({ runtime: cri.runtime, host }, reading, NEVER)).sandboxes).toEqual([status]);
  });

  it("has the newest first, with the addresses of the sandbox that is ready", async () => {
    const { cri, clock, read, makePod: run } = createFakeNode();
    const pod = makePod("a");
    const first = await run(pod, { main: { command: ["false"] } });
    await clock.advance(10);
    cri.killSandbox(first.podSandboxId);
    await run(pod, { main: { command: STUBBORN, attempt: 1 } }, { attempt: 1 });
    const status = await read(pod);
    expect(status).toMatchObject({
      uid: "a",
      observedAt: clock.now(),
      sandboxes: [
        { attempt: 1, state: "ready" },
        { attempt: 0, state: "notready", ips: [] },
      ],
      containers: [
        { restartCount: 1, state: "running", exitCode: 0 },
        { restartCount: 0, state: "exited", exitCode: 1, reason: "Error" },
      ],
    });
    expect(status.ips).toEqual(status.sandboxes[0]?.ips);
    expect(status.ips).toHaveLength(1);
  });

  it("tells attempts apart that were made within one millisecond", async () => {
    const { read, clock, makePod: run } = createFakeNode();
    const pod = makePod("a");
    const containers = [0, 1, 2].map((attempt) => ({ command: ["false"], attempt }));
    const [zero, one, two] = containers;
    if (zero === undefined || one === undefined || two === undefined) throw new Error("three");
    await run(pod, { main: one });
    await run(pod, { main: two }, { attempt: 1 });
    await run(pod, { main: zero }, { attempt: 2 });
    await clock.settle();
    const status = await read(pod);
    expect(status.containers.map(({ restartCount }) => restartCount)).toEqual([2, 1, 0]);
    expect(status.sandboxes.map(({ attempt }) => attempt)).toEqual([2, 1, 0]);
  });

  it("knows the newest by its attempt, also when the machine's clock was set back meanwhile", async () => {
    const { cri, read, clock, makePod: run } = createFakeNode();
    const pod = makePod("a");
    const first = await run(pod, { main: { command: ["false"] } });
    await clock.advance(10);
    cri.killSandbox(first.podSandboxId);
    clock.jumpWallClock(-60_000);
    await run(pod, { main: { command: STUBBORN, attempt: 1 } }, { attempt: 1 });
    const status = await read(pod);
    expect(status.sandboxes.map(({ attempt, state }) => [attempt, state])).toEqual([
      [1, "ready"],
      [0, "notready"],
    ]);
    expect(status.containers.map(({ restartCount, state }) => [restartCount, state])).toEqual([
      [1, "running"],
      [0, "exited"],
    ]);
  });

  it("counts what disappears between the list and its status as never listed", async () => {
    const { cri, failing, read, makePod: run } = createFakeNode();
    const pod = makePod("a");
    await run(pod, { main: { command: STUBBORN } });
    failing.set("containerStatus", "not-found");
    expect((await read(pod)).containers).toEqual([]);
    failing.set("containerStatus", "unavailable");
    await expect(read(pod)).rejects.toMatchObject({ code: "unavailable" });
    expect(cri.runningContainers()).toHaveLength(1);
  });

  it.each([
    [{}, undefined, undefined],
    [{ [POD_TERMINATION_GRACE_PERIOD_ANNOTATION]: "30" }, 30, undefined],
    [{ [POD_TERMINATION_GRACE_PERIOD_ANNOTATION]: "30", [POD_DELETION_GRACE_PERIOD_ANNOTATION]: "5" }, 5, undefined],
    [{ [POD_TERMINATION_GRACE_PERIOD_ANNOTATION]: "soon" }, undefined, undefined],
    [{ [CONTAINER_PRESTOP_HANDLER_ANNOTATION]: '{"sleep":{"seconds":3}}' }, undefined, { sleep: { seconds: 3 } }],
    [{ [CONTAINER_PRESTOP_HANDLER_ANNOTATION]: '{"sleep":3}' }, undefined, undefined],
    [{ [CONTAINER_PRESTOP_HANDLER_ANNOTATION]: "{" }, undefined, undefined],
  ])("says how to stop a container whose manifest is gone: %o", async (annotations, gracePeriodSeconds, preStop) => {
    const { read, makePod: run } = createFakeNode();
    const pod = makePod("a");
    await run(pod, { main: { command: STUBBORN, annotations: { ...annotations, [CONTAINER_HASH_ANNOTATION]: "1f" } } });
    const { containers } = await read(pod);
    expect(containers).toMatchObject([{ hash: "1f", recordedStop: { gracePeriodSeconds, preStop } }]);
  });
});
