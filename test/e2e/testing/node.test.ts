import { existsSync } from "node:fs";
import { mkdtemp, readdir, readlink, rm } from "node:fs/promises";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ROOT, runModule } from "./run-node.ts";

let temporary: string;
beforeEach(async () => {
  temporary = await mkdtemp(join(tmpdir(), "nodelet-node-"));
});
afterEach(async () => rm(temporary, { recursive: true }));

const run = (source: string) => runModule(source, { program: process.execPath, environment: { TMPDIR: temporary } });

/** A pod of the demo image, and its phase once it is `phase`. */
const PRELUDE = `
  import { CoreV1Api, KubeConfig } from "@kubernetes/client-node";
  import { startCluster } from "nodelet/testing";
  const coreOf = ({ kubeconfig }) => {
    const config = new KubeConfig();
    config.loadFromString(kubeconfig);
    return config.makeApiClient(CoreV1Api);
  };
  const runPod = async (core, name, script) => {
    const containers = [{ name: "main", image: "localhost/nodelet/demo:1", command: ["sh", "-c", script] }];
    const spec = { restartPolicy: "Never", containers };
    await core.createNamespacedPod({ namespace: "default", body: { metadata: { name }, spec } });
  };
  const untilPhase = async (core, name, phase) => {
    for (;;) {
      const pod = await core.readNamespacedPod({ namespace: "default", name });
      if (pod.status?.phase === phase) return pod;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
`;

const CONTAINER_LOGS = "/var/log/containers";
/** Other kubelets of the machine have their links in the same directory. */
const ownLogLinks = async (): Promise<string[]> => {
  const names = await readdir(CONTAINER_LOGS).catch(() => []);
  const targets = names.map(async (name) => await readlink(join(CONTAINER_LOGS, name)).catch(() => ""));
  return (await Promise.all(targets)).filter((target) => target.startsWith(`${temporary}/`));
};
/** The bridges that a process made for its nodes. */
const bridgesOf = (pid: number | undefined) =>
  Object.keys(networkInterfaces()).filter((name) => name.startsWith(`nlt${pid}x`));

describe("startCluster with a node", () => {
  it("runs pods as real processes, in two clusters side by side, and leaves nothing", async () => {
    const { pid, code, stdout, stderr } = await run(`${PRELUDE}
      const startMs = performance.now();
      const clusters = await Promise.all([startCluster({ node: true }), startCluster({ node: "if-possible" })]);
      const readyMs = Math.round(performance.now() - startMs);
      const cores = clusters.map(coreOf);
      await Promise.all(cores.map((core) => runPod(core, "job", "echo done > /dev/termination-log")));
      const pods = await Promise.all(cores.map((core) => untilPhase(core, "job", "Succeeded")));
      const messages = pods.map((pod) => pod.status.containerStatuses[0].state.terminated.message);
      console.log(JSON.stringify({ nodes: clusters.map(({ node }) => node), messages, readyMs }));
      await Promise.all(clusters.map((cluster) => cluster.stop()));
    `);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const { nodes, messages, readyMs }: { nodes: object[]; messages: string[]; readyMs: number } = JSON.parse(stdout);
    console.log(`two clusters with nodes: ready after ${readyMs} ms`);
    expect(nodes).toEqual(Array(2).fill({ running: true, name: "test-node" }));
    expect(messages).toEqual(["done\n", "done\n"]);
    expect(await readdir(temporary)).toEqual([]);
    expect(bridgesOf(pid)).toEqual([]);
    expect(await ownLogLinks()).toEqual([]);
  });

  it("runs pods as in a cluster: names of services resolve, and claims of the default class bind", async () => {
    const { code, stdout, stderr } = await run(`${PRELUDE}
      const cluster = await startCluster({ node: true });
      const core = coreOf(cluster);
      const requests = { storage: "1Mi" };
      const claim = { metadata: { name: "data" }, spec: { accessModes: ["ReadWriteOnce"], resources: { requests } } };
      await core.createNamespacedPersistentVolumeClaim({ namespace: "default", body: claim });
      const script = "nslookup kubernetes.default.svc > /data/answer; cp /data/answer /dev/termination-log";
      const main = { name: "main", image: "localhost/nodelet/demo:1", command: ["sh", "-c", script] };
      const volumeMounts = [{ name: "data", mountPath: "/data" }];
      const volumes = [{ name: "data", persistentVolumeClaim: { claimName: "data" } }];
      const spec = { restartPolicy: "Never", containers: [{ ...main, volumeMounts }], volumes };
      await core.createNamespacedPod({ namespace: "default", body: { metadata: { name: "job" }, spec } });
      const pod = await untilPhase(core, "job", "Succeeded");
      const { status } = await core.readNamespacedPersistentVolumeClaim({ namespace: "default", name: "data" });
      const service = await core.readNamespacedService({ namespace: "default", name: "kubernetes" });
      const { message } = pod.status.containerStatuses[0].state.terminated;
      console.log(JSON.stringify({ phase: status.phase, isNamed: message.includes(service.spec.clusterIP) }));
      await cluster.stop();
    `);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(JSON.parse(stdout)).toEqual({ phase: "Bound", isNamed: true });
    expect(await readdir(temporary)).toEqual([]);
  });

  it("takes its pods along when the process ends without stopping it", async () => {
    const { pid, code } = await run(`${PRELUDE}
      const cluster = await startCluster({ node: true });
      const core = coreOf(cluster);
      await runPod(core, "long", "sleep 1000");
      await untilPhase(core, "long", "Running");
      process.exit(7);
    `);
    expect(code).toBe(7);
    expect(await readdir(temporary)).toEqual([]);
    expect(bridgesOf(pid)).toEqual([]);
  });

  it("names the archive that it cannot import, and leaves nothing", async () => {
    const { stdout } = await run(`
      import { startCluster } from "nodelet/testing";
      await startCluster({ node: true, images: ["/nowhere/image.tar"] }).catch(({ code, message }) => console.log(code, message));
    `);
    expect(stdout).toMatch(/^image-unreadable cannot import the image archive \/nowhere\/image\.tar: /);
    expect(await readdir(temporary)).toEqual([]);
    expect(existsSync(join(ROOT, "dist/nodelet.js"))).toBe(true);
  });
});
