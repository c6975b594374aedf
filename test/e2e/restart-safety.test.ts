import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createNodeUnderTest, type NodeUnderTest } from "./node-under-test.ts";
import { containerOf, isRunning, RUN_FOR_EVER, shellPod } from "./pods.ts";
import { findDoubles, readReadySandboxes, readRunningContainers } from "./runtime-state.ts";

describe("a node agent that is ended at any moment and started again", () => {
  let node: NodeUnderTest;
  let marks: string;
  beforeAll(async () => {
    node = await createNodeUnderTest();
    marks = join(node.directory, "marks");
    await mkdir(marks);
    await node.start();
  });
  afterAll(async () => await node?.destroy());

  /** A pod whose script may write to /marks, which the test reads. */
  const markingPod = (name: string, script: string, spec: object = {}, container: object = {}) => {
    const volumes = [{ name: "marks", hostPath: { path: marks, type: "Directory" } }];
    const volumeMounts = [{ name: "marks", mountPath: "/marks" }];
    return shellPod(name, script, { volumes, ...spec }, { volumeMounts, ...container });
  };
  const readMarks = (name: string) => (existsSync(join(marks, name)) ? readFileSync(join(marks, name), "utf8") : "");
  const readRunning = async (name: string) =>
    (await readRunningContainers(node)).filter(({ pod }) => pod === `${name}-e2e`);
  const killAndStart = async () => {
    await node.kill();
    await node.start();
  };
  const removeAll = async (...names: string[]) => {
    for (const name of names) await node.remove(`${name}.json`);
    for (const name of names) await node.gone(name);
  };

  it("adopts running pods after kill -9: same containers and counts, and what is done stays done", async () => {
    await node.write("web.json", markingPod("web", `echo start >> /marks/web; ${RUN_FOR_EVER}`));
    const twice = `echo start >> /marks/twice; test $(wc -l < /marks/twice) -lt 2 && exit 1; ${RUN_FOR_EVER}`;
    await node.write("twice.json", markingPod("twice", twice));
    await node.write("done.json", markingPod("done", "echo start >> /marks/done", { restartPolicy: "Never" }));
    await node.write(
      "failed.json",
      markingPod("failed", "echo x >> /marks/failed; exit 9", { restartPolicy: "Never" }),
    );
    const names = ["web", "twice", "done", "failed"];
    await node.pod("web", isRunning);
    await node.pod(
      "twice",
      (pod) => containerOf(pod, "main")?.restartCount === 1 && containerOf(pod, "main")?.state?.running !== undefined,
    );
    await node.pod("done", ({ status }) => status?.phase === "Succeeded");
    await node.pod("failed", ({ status }) => status?.phase === "Failed");
    const containers = await readRunningContainers(node);
    expect(containers.map(({ pod, attempt }) => [pod, attempt])).toEqual([
      ["twice-e2e", 1],
      ["web-e2e", 0],
    ]);
    for (let round = 0; round < 3; round++) {
      await killAndStart();
      await node.pod("web", isRunning);
      const twiceAgain = await node.pod("twice", isRunning);
      expect(containerOf(twiceAgain, "main")).toMatchObject({ restartCount: 1, state: { running: {} } });
      await node.pod("done", ({ status }) => status?.phase === "Succeeded");
      const failed = await node.pod("failed", ({ status }) => status?.phase === "Failed");
      expect(containerOf(failed, "main")?.state?.terminated).toMatchObject({ exitCode: 9, reason: "Error" });
      expect(await readRunningContainers(node)).toEqual(containers);
    }
    await delay(1_000);
    expect(await readRunningContainers(node)).toEqual(containers);
    expect(await findDoubles(node)).toEqual([]);
    expect(readMarks("web")).toBe("start\n");
    expect(readMarks("done")).toBe("start\n");
    expect(readMarks("failed")).toBe("x\n");
    await removeAll(...names);
  });

  it("finishes the starts of pods that kill -9 interrupted, and starts nothing twice", async () => {
    const names = Array.from({ length: 10 }, (_, round) => `start${round}`);
    for (const [round, name] of names.entries()) {
      await node.write(`${name}.json`, markingPod(name, `echo start >> /marks/${name}; ${RUN_FOR_EVER}`));
      // A start takes about a quarter of a second: the rounds hit all of its steps.
      await delay(round * 25 + Math.random() * 25);
      await killAndStart();
      expect(await findDoubles(node)).toEqual([]);
    }
    for (const name of names) {
      const pod = await node.pod(name, isRunning);
      expect(await readReadySandboxes(node, pod.metadata?.uid)).toHaveLength(1);
      await expect.poll(() => readMarks(name)).not.toBe("");
      // containerd itself ends a container whose start's caller goes away meanwhile; the next attempt is then counted.
      const starts = readMarks(name).trim().split("\n").length;
      expect(starts).toBeLessThanOrEqual((containerOf(pod, "main")?.restartCount ?? 0) + 1);
    }
    const running = (await readRunningContainers(node)).map(({ pod }) => pod);
    expect(running).toEqual(names.map((name) => `${name}-e2e`));
    expect(node.log()).not.toMatch(/\(node:\d+\) \w*Warning/);
    await removeAll(...names);
  });

  it("finishes a stop that kill -9 interrupted, gracefully", async () => {
    const script = "trap 'sleep 1; echo term >> /marks/stop; exit 0' TERM; sleep 100000 & wait";
    const preStop = { exec: { command: ["sh", "-c", "echo preStop >> /marks/stop; sleep 0.5"] } };
    const pod = markingPod("stop", script, { terminationGracePeriodSeconds: 8 }, { lifecycle: { preStop } });
    for (const wait of [100, 800]) {
      await node.write("stop.json", pod);
      const { metadata } = await node.pod("stop", isRunning);
      await node.remove("stop.json");
      await delay(wait);
      await killAndStart();
      await expect.poll(async () => await readReadySandboxes(node, metadata?.uid), { timeout: 15_000 }).toEqual([]);
      await node.gone("stop");
      const lines = readMarks("stop").trim().split("\n");
      expect(lines[0]).toBe("preStop");
      expect(lines.at(-1)).toBe("term");
      await expectNoFilesOf(node, metadata?.uid ?? "none");
    }
  });

  it("keeps the count of a crash-looping container, never more than one of it", async () => {
    await node.write("crash.json", markingPod("crash", "echo start >> /marks/crash; exit 3"));
    for (let round = 0; round < 3; round++) {
      const waits = (reason?: string) => reason === "CrashLoopBackOff";
      await node.pod("crash", (pod) => waits(containerOf(pod, "main")?.state?.waiting?.reason));
      await killAndStart();
      const pod = await node.pod("crash", (pod) => waits(containerOf(pod, "main")?.state?.waiting?.reason));
      const starts = readMarks("crash").trim().split("\n").length;
      expect(containerOf(pod, "main")?.restartCount).toBe(starts - 1);
      expect(await findDoubles(node)).toEqual([]);
    }
    await removeAll("crash");
  });

  it("tears down pods whose manifests went while it was down: gracefully, with directories and logs", async () => {
    const script = "trap 'echo term >> /marks/orphan; exit 0' TERM; sleep 100000 & wait";
    const preStop = { exec: { command: ["sh", "-c", "echo preStop >> /marks/orphan"] } };
    const spec = { terminationGracePeriodSeconds: 8 };
    await node.write("orphan.json", markingPod("orphan", script, spec, { lifecycle: { preStop } }));
    await node.write("stays.json", markingPod("stays", RUN_FOR_EVER));
    const { metadata } = await node.pod("orphan", isRunning);
    await node.pod("stays", isRunning);
    const before = await readRunning("stays");
    await node.kill();
    await node.remove("orphan.json");
    await node.start();
    await expect.poll(async () => await readReadySandboxes(node, metadata?.uid), { timeout: 15_000 }).toEqual([]);
    expect(readMarks("orphan")).toBe("preStop\nterm\n");
    await expectNoFilesOf(node, metadata?.uid ?? "none");
    expect(await readRunning("stays")).toEqual(before);
    await removeAll("stays");
  });

  it("leaves pods running when it is asked to stop", async () => {
    await node.write("other.json", shellPod("other", RUN_FOR_EVER));
    await node.pod("other", isRunning);
    const before = await readRunning("other");
    expect(await node.stop()).toBe(0);
    expect(await readRunning("other")).toEqual(before);
    await node.start();
    await node.pod("other", isRunning);
    expect(await readRunning("other")).toEqual(before);
    await removeAll("other");
  });
});

/** Neither a directory of the pod nor its logs are left. */
async function expectNoFilesOf({ directory }: NodeUnderTest, uid: string): Promise<void> {
  const left = () => [
    ...readdirSync(join(directory, "kubelet/pods")).filter((name) => name === uid),
    ...readdirSync(join(directory, "pods")).filter((name) => name.endsWith(uid)),
  ];
  await expect.poll(left, { timeout: 10_000 }).toEqual([]);
}
