import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LEASES } from "../../../src/api/kube-resource.ts";
import { clusterServersUnderTest } from "../../clusters/cluster-servers.ts";
import type { NodeCluster, RestartableCluster } from "../../clusters/node-cluster.ts";
import { containerOf, isRunning, RUN_FOR_EVER, shellPod } from "../pods.ts";
import { findDoubles, readReadySandboxes, readRunningContainers } from "../runtime-state.ts";
import { configMap } from "./api-objects.ts";
import { type ApiProxy, createApiProxy } from "./api-proxy.ts";
import { type ClusterNode, createNodeOf, NODE_NAME } from "./cluster-node.ts";
import { settlesOn } from "./settles.ts";

const SERVERS = await clusterServersUnderTest();
const UNTIL_TOLD = "until test -e /tmp/end; do sleep 0.05; done; exit 6";
const FREQUENT = { nodeStatusUpdateFrequency: "1s", nodeLeaseDurationSeconds: 4 };

const runningIds = async ({ node }: Pick<ClusterNode, "node">, ...names: string[]) =>
  (await readRunningContainers(node)).filter(({ pod }) => names.includes(pod)).map(({ id }) => id);
const readLease = async ({ api }: Pick<ClusterNode, "api">) =>
  LEASES.read(await api.object("GET", `/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/${NODE_NAME}`))
    .spec;

describe.each(SERVERS)("an API server that stops and comes back, on $name", (server) => {
  let cluster: RestartableCluster;
  let world: ClusterNode<NodeCluster>;
  beforeAll(async () => {
    cluster = await server.startRestartable();
    world = await createNodeOf(cluster, { configuration: FREQUENT });
    await world.node.start(world.flags);
  });
  afterAll(async () => await world?.destroy());

  it("finds the pods that ran on, and hears of those that ended, crashed or were added meanwhile", async () => {
    const start = async (name: string, script: string, spec: object = {}) => {
      await world.create(shellPod(name, script, spec));
      return await world.pod(name, isRunning);
    };
    const stays = await start("stays", RUN_FOR_EVER);
    await start("ended", UNTIL_TOLD, { restartPolicy: "Never" });
    await start("crashed", UNTIL_TOLD);
    await start("deleted", "trap 'sleep 1; exit 0' TERM; while :; do sleep 0.05; done", {
      terminationGracePeriodSeconds: 9,
    });
    const [ended, crashed] = [await endable("ended"), await endable("crashed")];
    await world.remove("deleted");
    await world.event("deleted", { reason: "Killing" });
    await cluster.stopServer();
    for (const end of [ended, crashed]) await end();
    await world.node.write("static.json", shellPod("static", RUN_FOR_EVER));
    await settlesOn(1, async () => (await runningIds(world, "static-e2e")).length);
    await settlesOn(0, async () => (await runningIds(world, "deleted", "ended")).length);
    await cluster.startServer();

    const failed = await world.pod("ended", ({ status }) => status?.phase === "Failed");
    expect(containerOf(failed, "main")?.state?.terminated).toMatchObject({ exitCode: 6, reason: "Error" });
    const again = await world.pod("crashed", (pod) => containerOf(pod, "main")?.restartCount === 1);
    expect(containerOf(again, "main")?.lastState?.terminated).toMatchObject({ exitCode: 6 });
    await world.gone("deleted");
    const mirror = await world.pod("static-e2e", isRunning);
    expect(containerOf(mirror, "main")?.containerID).toBe(`containerd://${(await runningIds(world, "static-e2e"))[0]}`);
    await start("new", RUN_FOR_EVER);
    expect((await world.read("stays"))?.status).toEqual(stays.status);
    expect(await findDoubles(world.node)).toEqual([]);
  });

  /** How to end the container without the API. */
  const endable = async (name: string) => {
    const [containerId = ""] = await runningIds(world, name);
    return async () => {
      await world.node.cri.runtime.execSync({ containerId, cmd: ["touch", "/tmp/end"], timeout: 10n });
    };
  };
});

describe.each(SERVERS)("a node that is cut off from its API server, on $name", (server) => {
  let proxy: ApiProxy;
  let world: ClusterNode;
  beforeAll(async () => {
    const cluster = await server.start();
    proxy = await createApiProxy(cluster.url);
    world = await createNodeOf(cluster, { configuration: FREQUENT, serverUrl: proxy.url });
    await world.node.start(world.flags);
  });
  afterAll(async () => {
    await world?.destroy();
    await proxy?.close();
  });

  const start = async (name: string, script: string, spec: object = {}, container: object = {}) => {
    await world.create(shellPod(name, script, spec, container));
    return await world.pod(name, isRunning);
  };

  it("does all that was asked for meanwhile when it is back", async () => {
    await world.cluster.apply(configMap("settings", { mode: "slow" }));
    const mounted = [
      { volumes: [{ name: "v", configMap: { name: "settings" } }] },
      { volumeMounts: [{ name: "v", mountPath: "/v" }] },
    ];
    const stays = await start("stays", RUN_FOR_EVER, ...mounted);
    const replaced = await start("replaced", RUN_FOR_EVER);
    for (const name of ["deleted", "forced"]) await start(name, RUN_FOR_EVER);
    await world.node.write("static.json", shellPod("static", RUN_FOR_EVER));
    const mirror = await world.pod("static-e2e", isRunning);
    const before = await runningIds(world, "stays", "static-e2e");

    const { length: from } = world.node.log();
    await proxy.cut();
    await world.remove("deleted");
    for (const name of ["forced", "replaced", "static-e2e"]) await world.remove(name, 0);
    for (const name of ["new", "replaced"]) await world.create(shellPod(name, RUN_FOR_EVER));
    await world.cluster.apply(configMap("settings", { mode: "fast" }));
    // Cut off long enough that the node has noticed.
    await world.node.logged(/Renewing the node's lease failed/, { from });
    await proxy.mend();

    await world.gone("deleted");
    await world.pod("new", isRunning);
    const next = await world.pod("replaced", isRunning);
    expect(next.metadata?.uid).not.toBe(replaced.metadata?.uid);
    await settlesOn(0, async () => (await readReadySandboxes(world.node, replaced.metadata?.uid)).length);
    await settlesOn(0, async () => (await runningIds(world, "forced")).length);
    const another = await world.pod("static-e2e", ({ metadata }) => metadata?.uid !== mirror.metadata?.uid);
    expect(isRunning(await world.pod("static-e2e", isRunning))).toBe(true);
    expect(another.metadata?.deletionTimestamp).toBeUndefined();
    await settlesOn("fast", async () => await world.exec("stays", ["cat", "/v/mode"]));
    expect(await runningIds(world, "stays", "static-e2e")).toEqual(before);
    expect((await world.read("stays"))?.status?.conditions).toEqual(stays.status?.conditions);
  });

  it("starts without it, runs its static pods and leaves the others alone", async () => {
    const kept = await start("kept", RUN_FOR_EVER);
    const before = await runningIds(world, "kept", "static-e2e");
    await world.node.stop();
    await proxy.cut();
    await world.remove("kept");
    await world.node.write("offline.json", shellPod("offline", RUN_FOR_EVER));
    await world.node.start(world.flags);
    await settlesOn(1, async () => (await runningIds(world, "offline-e2e")).length);
    expect(await runningIds(world, "kept", "static-e2e")).toEqual(before);
    await proxy.mend();
    await world.gone("kept");
    await settlesOn([], async () => await readReadySandboxes(world.node, kept.metadata?.uid));
    await world.pod("offline-e2e", isRunning);
  });

  it("notices connections that nothing comes through any more before its lease runs out", async () => {
    const renewal = async () => (await readLease(world))?.renewTime;
    const last = await renewal();
    proxy.stall();
    await expect.poll(renewal, { timeout: 4_000 }).not.toBe(last);
    const ready = (await world.nodeObject()).status?.conditions?.find(({ type }) => type === "Ready");
    expect(ready?.status).toBe("True");
    // The watch of pods hears of it from the heartbeat: its own pings would take three quarters of a minute.
    await world.create(shellPod("after-stall", RUN_FOR_EVER));
    await world.pod("after-stall", isRunning, 15_000);
  });

  it("ends in order while it is cut off", async () => {
    await proxy.cut();
    expect(await world.node.stop()).toBe(0);
  });
});
