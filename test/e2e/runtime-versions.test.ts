import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Pod } from "../../src/api/gen/types.ts";
import { createNodeUnderTest, type NodeUnderTest } from "./node-under-test.ts";
import { containerOf, isRunning, RUN_FOR_EVER, shellPod } from "./pods.ts";
import { readTestedRuntimes } from "./runtime-abilities.ts";
import { findDoubles, readRunningContainers } from "./runtime-state.ts";

/** Each start is a race of its own. */
const FAST_ROUNDS = 3;
const FAST_PODS = 4;
/** What an event has not told is found by the relist, every half a minute. */
const SOONER_THAN_A_RELIST_MS = 15_000;

describe.each(await readTestedRuntimes())("a node agent on $name", ({ name, binary }) => {
  let node: NodeUnderTest;
  beforeAll(async () => {
    node = await createNodeUnderTest(binary === undefined ? {} : { binary });
    await node.start();
  });
  afterAll(async () => await node?.destroy());

  it("hears of containers by events", async () => {
    await node.logged(/container events come from/);
    console.log(name, node.containerd.version, /container events come from ([^"]*)/.exec(node.log())?.[1]);
  });

  it("runs a pod, sees it exit, restarts it, and stops it", async () => {
    await node.write("web.json", shellPod("web", RUN_FOR_EVER));
    const pod = await node.pod("web", isRunning);
    expect(pod.status?.podIP).toMatch(/^10\./);
    await node.write("done.json", shellPod("done", "echo bye > /dev/termination-log", { restartPolicy: "Never" }));
    const done = await node.pod("done", ({ status }) => status?.phase === "Succeeded");
    expect(containerOf(done, "main")?.state?.terminated).toMatchObject({ exitCode: 0, message: "bye\n" });
    await node.write("crash.json", shellPod("crash", "exit 3"));
    const crash = await node.pod(
      "crash",
      (each) => containerOf(each, "main")?.state?.waiting?.reason === "CrashLoopBackOff",
    );
    expect(containerOf(crash, "main")).toMatchObject({ restartCount: 1, lastState: { terminated: { exitCode: 3 } } });
    for (const name of ["done", "crash"]) await node.remove(`${name}.json`);
    for (const name of ["done", "crash"]) await node.gone(name);
  });

  it("hears of every container that ends while it is being started", async () => {
    const isInBackOff = (pod: Pod) => containerOf(pod, "main")?.state?.waiting?.reason === "CrashLoopBackOff";
    for (let round = 0; round < FAST_ROUNDS; round++) {
      const names = Array.from({ length: FAST_PODS }, (_, number) => `fast-${round}-${number}`);
      await Promise.all(names.map(async (name) => await node.write(`${name}.json`, shellPod(name, "exit 3"))));
      await Promise.all(names.map(async (name) => await node.pod(name, isInBackOff, SOONER_THAN_A_RELIST_MS)));
      await Promise.all(names.map(async (name) => await node.remove(`${name}.json`)));
      await Promise.all(names.map(async (name) => await node.gone(name)));
    }
  });

  it("adopts what runs after kill -9, and goes on after containerd was killed", async () => {
    const before = await readRunningContainers(node);
    await node.kill();
    await node.start();
    await node.pod("web", isRunning);
    expect(await readRunningContainers(node)).toEqual(before);
    await node.endContainerd("killed");
    await node.startContainerd();
    await node.write("after.json", shellPod("after", RUN_FOR_EVER));
    await node.pod("after", isRunning);
    expect((await readRunningContainers(node)).filter(({ pod }) => pod === "web-e2e")).toEqual(before);
    expect(await findDoubles(node)).toEqual([]);
    for (const name of ["web", "after"]) await node.remove(`${name}.json`);
    for (const name of ["web", "after"]) await node.gone(name);
    const { items } = await node.cri.runtime.listPodSandbox({ filter: undefined });
    expect(items).toEqual([]);
  });
});
