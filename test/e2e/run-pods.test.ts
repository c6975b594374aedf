import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Pod } from "../../src/api/gen/types.ts";
import { DEMO_IMAGE } from "../../src/cluster/images/image-references.ts";
import { createNodeUnderTest, type NodeUnderTest } from "./node-under-test.ts";
import { containerOf, isRunning, RUN_FOR_EVER, shellPod } from "./pods.ts";

describe("a standalone node on containerd", () => {
  let node: NodeUnderTest;
  beforeAll(async () => {
    node = await createNodeUnderTest();
    await node.start();
  });
  afterAll(async () => await node?.destroy());

  it("runs a pod from a manifest, with an address, a log and labels that other tools read", async () => {
    await node.write("web.json", shellPod("web", `echo hello; ${RUN_FOR_EVER}`));
    const pod = await node.pod("web", isRunning);
    expect(pod.status?.podIP).toMatch(/^10\./);
    expect(pod.status?.qosClass).toBe("BestEffort");
    expect(pod.metadata?.annotations?.["kubernetes.io/config.source"]).toBe("file");
    const { uid } = pod.metadata ?? {};
    const log = join(node.directory, "pods", `default_web-e2e_${uid}`, "main/0.log");
    await expect.poll(() => readFileSync(log, "utf8")).toMatch(/stdout F hello/);
    const { containers } = await node.cri.runtime.listContainers({ filter: undefined });
    const labels = containers.find(({ labels }) => labels["io.kubernetes.pod.uid"] === uid)?.labels;
    expect(labels).toMatchObject({ "io.kubernetes.container.name": "main", "io.kubernetes.pod.name": "web-e2e" });
    const id = containerOf(pod, "main")?.containerID?.replace("containerd://", "");
    const link = `/var/log/containers/web-e2e_default_main-${id}.log`;
    expect(readFileSync(link, "utf8")).toMatch(/stdout F hello/);
    await node.remove("web.json");
    await node.gone("web");
    expect(existsSync(link)).toBe(false);
    expect(existsSync(join(node.directory, "kubelet/pods", uid ?? "none"))).toBe(false);
    expect(existsSync(log)).toBe(false);
  });

  it("runs init containers in order and a sidecar beside the rest, sharing an emptyDir", async () => {
    const mount = [{ name: "shared", mountPath: "/shared" }];
    const step = (name: string, script: string, more: object = {}) => ({
      name,
      image: DEMO_IMAGE,
      command: ["sh", "-c", script],
      volumeMounts: mount,
      ...more,
    });
    await node.write("order.json", {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "order" },
      spec: {
        restartPolicy: "Never",
        terminationGracePeriodSeconds: 1,
        volumes: [{ name: "shared", emptyDir: {} }],
        initContainers: [
          step("one", "echo one >> /shared/steps"),
          step("side", `echo side >> /shared/steps; ${RUN_FOR_EVER}`, { restartPolicy: "Always" }),
          step("two", "sleep 0.3; echo two >> /shared/steps"),
        ],
        containers: [step("main", "cat /shared/steps > /dev/termination-log")],
      },
    });
    const pod = await node.pod("order", ({ status }) => status?.phase === "Succeeded");
    expect(containerOf(pod, "main")?.state?.terminated).toMatchObject({ exitCode: 0, message: "one\nside\ntwo\n" });
  });

  it("restarts a failed container by policy and counts it", async () => {
    const script = "test -e /data/done && exit 0; touch /data/done; exit 7";
    const volume = { volumes: [{ name: "data", emptyDir: {} }], restartPolicy: "OnFailure" };
    await node.write(
      "again.json",
      shellPod("again", script, volume, { volumeMounts: [{ name: "data", mountPath: "/data" }] }),
    );
    const pod = await node.pod("again", ({ status }) => status?.phase === "Succeeded");
    expect(containerOf(pod, "main")).toMatchObject({
      restartCount: 1,
      lastState: { terminated: { exitCode: 7, reason: "Error" } },
    });
  });

  it("keeps a crashing container in CrashLoopBackOff and starts it again when the back-off ends", async () => {
    await node.write("crash.json", shellPod("crash", "exit 3"));
    const waiting = await node.pod(
      "crash",
      (pod) => containerOf(pod, "main")?.state?.waiting?.reason === "CrashLoopBackOff",
    );
    expect(containerOf(waiting, "main")?.restartCount).toBe(1);
    const finishedAt = containerOf(waiting, "main")?.lastState?.terminated?.finishedAt ?? "";
    const later = await node.pod("crash", (pod) => (containerOf(pod, "main")?.restartCount ?? 0) >= 2);
    const restartedAt = startOfNewest(later, "main");
    // Times are whole seconds: ten seconds of back-off and at most one of rounding.
    expect(Date.parse(restartedAt) - Date.parse(finishedAt)).toBeGreaterThanOrEqual(9_000);
    expect(Date.parse(restartedAt) - Date.parse(finishedAt)).toBeLessThanOrEqual(11_000);
    await node.remove("crash.json");
    await node.gone("crash");
  });

  it("gives a container its environment, its security context and its limits", async () => {
    const script =
      'echo "$GREETING $POD $(id -u) $(cat /sys/fs/cgroup/memory/memory.limit_in_bytes 2>/dev/null || cat /sys/fs/cgroup/memory.max)" > /dev/termination-log';
    await node.write(
      "env.json",
      shellPod(
        "env",
        script,
        { restartPolicy: "Never" },
        {
          env: [
            { name: "WHO", value: "world" },
            { name: "GREETING", value: "hello-$(WHO)" },
            { name: "POD", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
          ],
          securityContext: { runAsUser: 1234 },
          resources: { limits: { memory: "64Mi", cpu: "500m" } },
        },
      ),
    );
    const pod = await node.pod("env", ({ status }) => status?.phase === "Succeeded");
    expect(containerOf(pod, "main")?.state?.terminated?.message).toBe(`hello-world env-e2e 1234 ${64 * 1024 * 1024}\n`);
    expect(pod.status?.qosClass).toBe("Guaranteed");
  });

  it("runs postStart and preStop hooks", async () => {
    const volume = {
      volumes: [{ name: "out", hostPath: { path: join(node.directory, "hooks"), type: "DirectoryOrCreate" } }],
    };
    const hook = (text: string) => ({ exec: { command: ["sh", "-c", `echo ${text} >> /out/hooks`] } });
    await node.write(
      "hooks.json",
      shellPod(
        "hooks",
        RUN_FOR_EVER,
        { ...volume, terminationGracePeriodSeconds: 5 },
        {
          volumeMounts: [{ name: "out", mountPath: "/out" }],
          lifecycle: { postStart: hook("started"), preStop: hook("stopping") },
        },
      ),
    );
    await node.pod("hooks", isRunning);
    await node.remove("hooks.json");
    await node.gone("hooks");
    expect(readFileSync(join(node.directory, "hooks/hooks"), "utf8")).toBe("started\nstopping\n");
  });

  it("runs a pod on the host network with the node's address", async () => {
    await node.write("host.json", shellPod("host", RUN_FOR_EVER, { hostNetwork: true }));
    const pod = await node.pod("host", isRunning);
    expect(pod.status?.podIP).toBe(pod.status?.hostIP);
    await node.remove("host.json");
    await node.gone("host");
  });

  it("replaces a pod whose manifest changed: the old one ends before the new one starts", async () => {
    await node.write("change.json", shellPod("change", RUN_FOR_EVER));
    const before = await node.pod("change", isRunning);
    await node.write("change.json", shellPod("change", RUN_FOR_EVER, {}, { env: [{ name: "NEW", value: "1" }] }));
    const after = await node.pod(
      "change",
      (pod) =>
        isRunning(pod) && pod.metadata?.deletionTimestamp === undefined && pod.spec?.containers[0]?.env !== undefined,
    );
    expect(after.metadata?.uid).not.toBe(before.metadata?.uid);
    await node.remove("change.json");
    await node.gone("change");
  });

  it("leaves nothing behind in the pods' directories once all manifests are gone", async () => {
    for (const file of readdirSync(node.manifests)) await node.remove(file);
    await expect.poll(async () => (await node.report()).pods.length, { timeout: 20_000 }).toBe(0);
    expect(readdirSync(join(node.directory, "kubelet/pods"))).toEqual([]);
    const { items } = await node.cri.runtime.listPodSandbox({ filter: undefined });
    expect(items).toEqual([]);
  });
});

/** When the newest container of that name started: it runs, has just ended, or waits to be started again. */
function startOfNewest(pod: Pod, name: string): string {
  const { state, lastState } = containerOf(pod, name) ?? {};
  const newest = state?.running ?? state?.terminated ?? lastState?.terminated;
  return newest?.startedAt ?? "";
}
