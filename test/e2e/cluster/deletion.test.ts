import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Pod } from "../../../src/api/gen/types.ts";
import { clusterServersUnderTest } from "../../clusters/cluster-servers.ts";
import { containerOf, isRunning, RUN_FOR_EVER, shellPod } from "../pods.ts";
import { readReadySandboxes, readRunningContainers } from "../runtime-state.ts";
import { type ClusterNode, createClusterNode } from "./cluster-node.ts";
import { settlesOn } from "./settles.ts";

const SERVERS = await clusterServersUnderTest();

/** Does not hear that it is asked to stop. */
const DEAF = "trap '' TERM; while :; do sleep 0.05; done";
const terminatedOf = (pod: Pod) => containerOf(pod, "main")?.state?.terminated;

describe.each(SERVERS)("the end of pods, on $name", (server) => {
  let world: ClusterNode;
  beforeAll(async () => {
    world = await createClusterNode({ server });
    await world.node.start(world.flags);
  });
  afterAll(async () => await world?.destroy());

  const start = async (name: string, script: string, spec: object = {}, container: object = {}): Promise<Pod> => {
    await world.create(shellPod(name, script, spec, container));
    return await world.pod(name, isRunning);
  };
  const runs = async (name: string) => (await readRunningContainers(world.node)).some(({ pod }) => pod === name);
  it.concurrent("is graceful: hooks, the signal, the exit code, and only then the object goes", async () => {
    const script = "trap 'sleep 0.3; exit 7' TERM; while :; do sleep 0.05; done";
    const preStop = { exec: { command: ["sh", "-c", "sleep 0.2"] } };
    const { metadata } = await start(
      "graceful",
      script,
      { terminationGracePeriodSeconds: 20 },
      { lifecycle: { preStop } },
    );
    const { ended } = await world.follow("graceful");
    await world.remove("graceful");
    expect((await world.read("graceful"))?.metadata).toMatchObject({
      deletionTimestamp: expect.any(String),
      deletionGracePeriodSeconds: 20,
    });
    const versions = await ended;
    expect(await runs("graceful")).toBe(false);
    expect(versions.map(terminatedOf).find((state) => state !== undefined)).toMatchObject({
      exitCode: 7,
      reason: "Error",
    });
    // Nothing is said to be ready of a pod that goes, and what has ended stays ended.
    const states = versions.map((pod) => (terminatedOf(pod) === undefined ? "running" : "terminated"));
    expect(states).toEqual(states.toSorted());
    expect(versions.at(-1)?.metadata?.uid).toBe(metadata?.uid);
    expect(await readReadySandboxes(world.node, metadata?.uid)).toEqual([]);
    await world.event("graceful", { type: "Normal", reason: "Killing", message: "Stopping container main" });
  });

  it.concurrent("comes with SIGKILL when the grace period is over", async () => {
    await start("deaf", DEAF, { terminationGracePeriodSeconds: 1 });
    const { ended } = await world.follow("deaf");
    await world.remove("deaf");
    const versions = await ended;
    expect(await runs("deaf")).toBe(false);
    const terminated = versions.map(terminatedOf).find((state) => state !== undefined);
    expect(terminated).toMatchObject({ exitCode: 137, reason: "Error" });
  });

  it.concurrent("comes sooner when the grace period is shortened later", async () => {
    await start("shortened", DEAF, { terminationGracePeriodSeconds: 600 });
    await world.remove("shortened");
    await settlesOn(600, async () => (await world.read("shortened"))?.metadata?.deletionGracePeriodSeconds ?? 0);
    await world.event("shortened", { reason: "Killing" });
    await world.remove("shortened", 1);
    await world.gone("shortened", 30_000);
    expect(await runs("shortened")).toBe(false);
  });

  it.concurrent("is forced: the object goes at once, and the containers within a second, whatever is written on the pod", async () => {
    const { metadata } = await start("forced", DEAF, { terminationGracePeriodSeconds: 600 });
    await world.remove("forced", 0);
    expect(await world.read("forced")).toBeUndefined();
    await settlesOn([], async () => await readReadySandboxes(world.node, metadata?.uid), 10_000);
    expect(await runs("forced")).toBe(false);
  });

  it.concurrent("of one makes room for the next of its name", async () => {
    const first = await start("next", RUN_FOR_EVER);
    await world.remove("next", 0);
    const second = await start("next", RUN_FOR_EVER);
    expect(second.metadata?.uid).not.toBe(first.metadata?.uid);
    await settlesOn([], async () => await readReadySandboxes(world.node, first.metadata?.uid), 10_000);
    expect((await readReadySandboxes(world.node, second.metadata?.uid)).length).toBe(1);
    expect(containerOf((await world.read("next")) ?? {}, "main")?.state?.running).toBeDefined();
  });

  it.concurrent.each([
    ["succeeds", "exit 0", "Never", "Succeeded", { exitCode: 0, reason: "Completed" }],
    ["fails", "exit 3", "Never", "Failed", { exitCode: 3, reason: "Error" }],
    [
      "tells",
      "printf why > /dev/termination-log; exit 4",
      "Never",
      "Failed",
      { exitCode: 4, reason: "Error", message: "why" },
    ],
    ["done", "exit 0", "OnFailure", "Succeeded", { exitCode: 0, reason: "Completed" }],
  ])(
    "by itself is kept to be read until somebody deletes it: %s",
    async (name, script, restartPolicy, phase, state) => {
      await world.create(shellPod(name, script, { restartPolicy }));
      const pod = await world.pod(name, ({ status }) => status?.phase === phase);
      expect(terminatedOf(pod)).toMatchObject(state);
      expect(pod.status?.conditions?.find(({ type }) => type === "Ready")).toMatchObject({
        status: "False",
        reason: phase === "Succeeded" ? "PodCompleted" : "PodFailed",
      });
      expect(containerOf(pod, "main")?.ready).toBe(false);
      await settlesOn([], async () => await readReadySandboxes(world.node, pod.metadata?.uid));
      expect((await world.read(name))?.metadata?.deletionTimestamp).toBeUndefined();
      await world.remove(name);
      await world.gone(name);
    },
  );

  it.concurrent("is due when the pod's deadline is over", async () => {
    await world.create(shellPod("deadline", RUN_FOR_EVER, { activeDeadlineSeconds: 3 }));
    const failed = await world.pod("deadline", ({ status }) => status?.phase === "Failed", 30_000);
    expect(failed.status).toMatchObject({
      reason: "DeadlineExceeded",
      message: "Pod was active on the node longer than the specified deadline",
    });
    await world.event("deadline", { type: "Normal", reason: "DeadlineExceeded" });
    await settlesOn(false, async () => await runs("deadline"));
    const ended = await world.pod("deadline", (pod) => terminatedOf(pod) !== undefined);
    expect(ended.status).toMatchObject({ phase: "Failed", reason: "DeadlineExceeded" });
  });

  it.concurrent("is due when a deadline is given later", async () => {
    await start("late-deadline", RUN_FOR_EVER);
    await world.api.patch("merge", "/api/v1/namespaces/default/pods/late-deadline", {
      spec: { activeDeadlineSeconds: 1 },
    });
    const failed = await world.pod("late-deadline", ({ status }) => status?.phase === "Failed", 10_000);
    expect(failed.status?.reason).toBe("DeadlineExceeded");
  });

  it.concurrent("comes to a pod that never could start", async () => {
    await world.create(shellPod("never", "exit 0", {}, { image: "localhost/absent:1", imagePullPolicy: "Never" }));
    await world.pod("never", (pod) => containerOf(pod, "main")?.state?.waiting?.reason === "ErrImageNeverPull");
    await world.remove("never");
    await world.gone("never");
  });

  it.concurrent("waits for finalizers that others put on the pod, with nothing of it running", async () => {
    const pod = shellPod("kept", RUN_FOR_EVER);
    await world.create({ ...pod, metadata: { name: "kept", finalizers: ["example.com/hold"] } });
    const { metadata } = await world.pod("kept", isRunning);
    await world.remove("kept");
    await settlesOn([], async () => await readReadySandboxes(world.node, metadata?.uid), 10_000);
    const held = await world.pod("kept", (pod) => terminatedOf(pod) !== undefined);
    expect(held.metadata?.deletionTimestamp).toBeDefined();
    await world.api.patch("merge", "/api/v1/namespaces/default/pods/kept", { metadata: { finalizers: null } });
    await world.gone("kept");
  });
});

describe.each(SERVERS)("pods that end while the node agent is down, on $name", (server) => {
  let world: ClusterNode;
  beforeAll(async () => {
    world = await createClusterNode({ server });
    await world.node.start(world.flags);
  });
  afterAll(async () => await world?.destroy());

  it("are stopped, told of and let go when it is back: deleted, forced, ended by themselves, new", async () => {
    const start = async (name: string, script: string, spec: object = {}) => {
      await world.create(shellPod(name, script, { terminationGracePeriodSeconds: 5, ...spec }));
    };
    const names = ["deleted", "forced", "ended", "crashed", "stays"];
    const stoppable = "trap 'exit 5' TERM; while :; do sleep 0.05; done";
    await start("deleted", stoppable);
    await start("forced", RUN_FOR_EVER);
    // The last sleep lets the command that makes the file end first.
    const untilTold = "until test -e /tmp/end; do sleep 0.05; done; sleep 2; exit 6";
    await start("ended", untilTold, { restartPolicy: "Never" });
    await start("crashed", untilTold);
    await start("stays", RUN_FOR_EVER);
    const before = new Map<string, Pod>();
    for (const name of names) before.set(name, await world.pod(name, isRunning));
    const running = await readRunningContainers(world.node);
    await world.node.kill();

    await world.remove("deleted");
    await world.remove("forced", 0);
    await world.create(shellPod("new", RUN_FOR_EVER));
    for (const name of ["ended", "crashed"]) await world.shell(name, "touch /tmp/end");
    await settlesOn(3, async () => (await readRunningContainers(world.node)).length);
    expect((await world.read("deleted"))?.metadata?.deletionTimestamp).toBeDefined();

    const { ended: deletion } = await world.follow("deleted");
    await world.node.start(world.flags);
    expect((await deletion).map(terminatedOf).at(-1)).toMatchObject({ exitCode: 5 });
    const ended = await world.pod("ended", ({ status }) => status?.phase === "Failed");
    expect(terminatedOf(ended)).toMatchObject({ exitCode: 6, reason: "Error" });
    const crashed = await world.pod("crashed", (pod) => containerOf(pod, "main")?.restartCount === 1);
    expect(containerOf(crashed, "main")?.lastState?.terminated).toMatchObject({ exitCode: 6 });
    await world.pod("new", isRunning);
    await settlesOn([], async () => await readReadySandboxes(world.node, before.get("forced")?.metadata?.uid), 10_000);
    const stayed = running.filter(({ pod }) => pod === "stays");
    expect((await readRunningContainers(world.node)).filter(({ pod }) => pod === "stays")).toEqual(stayed);
  });
});
