import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createNodeUnderTest, type NodeUnderTest } from "./node-under-test.ts";
import { containerOf, isRunning, RUN_FOR_EVER, shellPod } from "./pods.ts";
import { findDoubles, readRunningContainers } from "./runtime-state.ts";

/** The containerd on the search path, and others by their paths, separated by colons. */
const OTHERS = (process.env["NODELET_TEST_CONTAINERDS"] ?? "").split(":").filter((path) => path !== "");
const CONTAINERDS = [{ name: "containerd" }, ...OTHERS.map((path) => ({ name: path, binary: path }))];

if (OTHERS.length === 0) {
  console.warn("SKIPPED: other versions of containerd; name their programs in NODELET_TEST_CONTAINERDS=path1:path2");
}

describe.each(CONTAINERDS)("a node agent on $name", ({ name, ...options }) => {
  let node: NodeUnderTest;
  beforeAll(async () => {
    node = await createNodeUnderTest(options);
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
