import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { containerOf, isRunning, RUN_FOR_EVER, shellPod } from "../pods.ts";
import { configMap, secret } from "./api-objects.ts";
import { type ClusterNode, createClusterNode, NODE_NAME } from "./cluster-node.ts";
import { settlesOn } from "./settles.ts";

/** A pod is looked at after this long × 1…1.5; only then a strategy without a watch can notice anything. */
const SYNC_MS = 1_000;
const TTL_SECONDS = 4;
/** For a machine that is busy. */
const SLACK_MS = 4_000;

const STRATEGIES = ["Watch", "Cache", "Get"] as const;
type Strategy = (typeof STRATEGIES)[number];

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";

describe.each(STRATEGIES)("configMapAndSecretChangeDetectionStrategy: %s", (strategy: Strategy) => {
  let world: ClusterNode;
  beforeAll(async () => {
    const syncFrequency = `${SYNC_MS / 1_000}s`;
    // What the node's object says is heard with its next status.
    const configuration = { syncFrequency, nodeStatusUpdateFrequency: "1s" };
    world = await createClusterNode({
      configuration: { ...configuration, configMapAndSecretChangeDetectionStrategy: strategy },
    });
    await world.node.start(world.flags);
    await setTtl(TTL_SECONDS);
    await delay(2_000);
  });
  afterAll(async () => await world?.destroy());

  /** As kube-controller-manager tells nodes of large clusters. */
  const setTtl = async (seconds: number) => {
    const annotations = { "node.alpha.kubernetes.io/ttl": String(seconds) };
    // The node agent is ready before its object is there.
    const patch = async () =>
      await world.api.patch("merge", `/api/v1/nodes/${NODE_NAME}`, { metadata: { annotations } });
    await settlesOn(200, async () => (await patch()).status);
  };
  const mount = async (name: string, source: object): Promise<void> => {
    const volumes = [{ name: "v", ...source }];
    const volumeMounts = [{ name: "v", mountPath: "/v" }];
    await world.create(shellPod(name, RUN_FOR_EVER, { volumes }, { volumeMounts }));
    await world.pod(name, isRunning);
  };
  const mounted = async (name: string) => await world.exec(name, ["cat", "/v/key"]);
  const write = async (name: string, value: string) => await world.cluster.apply(configMap(name, { key: value }));

  it.concurrent("brings updates to volumes, no later than documented", async () => {
    await write("settings", "one");
    await world.cluster.apply(secret("credentials", { key: "one" }));
    await mount("map", { configMap: { name: "settings" } });
    await mount("secret", { secret: { secretName: "credentials" } });
    await write("settings", "two");
    await world.cluster.apply(secret("credentials", { key: "two" }));
    const ageMs = { Watch: 0, Cache: TTL_SECONDS * 1_000, Get: 0 }[strategy];
    const latestMs = ageMs + 1.5 * SYNC_MS + SLACK_MS;
    for (const name of ["map", "secret"]) await settlesOn("two", async () => await mounted(name), latestMs);
  });

  it.runIf(strategy === "Cache")("reads nothing anew before its time is over", { concurrent: true }, async () => {
    await write("cached", "one");
    await mount("cached", { configMap: { name: "cached" } });
    await write("cached", "two");
    await settlesOn("two", async () => await mounted("cached"), TTL_SECONDS * 1_000 + SLACK_MS);
    // What is held was read only now, however often the pod is looked at.
    await write("cached", "three");
    await delay(TTL_SECONDS * 500);
    expect(await mounted("cached")).toBe("two");
    await settlesOn("three", async () => await mounted("cached"), TTL_SECONDS * 1_000 + SLACK_MS);
  });

  it.concurrent("gives a new pod what is true now, in its environment and its volumes", async () => {
    await write("fresh", "one");
    await mount("fresh-one", { configMap: { name: "fresh" } });
    await write("fresh", "two");
    if (strategy === "Watch") await settlesOn("two", async () => await mounted("fresh-one"));
    await mount("fresh-two", { configMap: { name: "fresh" } });
    expect(await mounted("fresh-two")).toBe("two");
    await write("fresh", "three");
    // What a watch brings may come later than the pod that another watch brings.
    if (strategy === "Watch") await settlesOn("three", async () => await mounted("fresh-two"));
    const env = [{ name: "KEY", valueFrom: { configMapKeyRef: { name: "fresh", key: "key" } } }];
    await world.create(shellPod("fresh-three", RUN_FOR_EVER, {}, { env }));
    await world.pod("fresh-three", isRunning);
    expect(await world.shell("fresh-three", 'echo "$KEY"')).toBe("three\n");
  });

  it.concurrent("leaves the environment of a running container alone, and gives the next one the new", async () => {
    await write("env", "one");
    const env = [{ name: "KEY", valueFrom: { configMapKeyRef: { name: "env", key: "key" } } }];
    const untilTold = "until test -e /tmp/end; do sleep 0.05; done";
    await world.create(shellPod("env", untilTold, {}, { env }));
    await world.pod("env", isRunning);
    await write("env", "two");
    await delay(1.5 * SYNC_MS);
    expect(await world.shell("env", 'echo "$KEY"')).toBe("one\n");
    // With a cache the next container's may be as old as that.
    if (strategy === "Cache") await delay(TTL_SECONDS * 1_000);
    await world.shell("env", "touch /tmp/end");
    await world.pod("env", (pod) => containerOf(pod, "main")?.restartCount === 1 && isRunning(pod));
    await settlesOn("two\n", async () => await world.shell("env", 'echo "$KEY"').catch(() => ""));
  });

  it.concurrent("gives what is immutable to a pod once, and to a later pod what has taken its place", async () => {
    const immutable = (value: string) => configMap("fixed", { key: value }, { immutable: true });
    await world.cluster.apply(immutable("one"));
    await mount("fixed-one", { configMap: { name: "fixed" } });
    const { status } = await world.api.patch("merge", `${CONFIG_MAPS}/fixed`, { data: { key: "changed" } });
    expect(status).toBe(422);
    await world.api.object("DELETE", `${CONFIG_MAPS}/fixed`);
    await delay(2 * SYNC_MS);
    expect(await mounted("fixed-one")).toBe("one");
    await world.cluster.apply(immutable("two"));
    await mount("fixed-two", { configMap: { name: "fixed" } });
    expect(await mounted("fixed-two")).toBe("two");
    // Each pod that mounts it sees the same, as soon as the node knows it.
    await settlesOn("two", async () => await mounted("fixed-one"), TTL_SECONDS * 1_000 + SLACK_MS);
    expect((await world.read("fixed-one"))?.status?.containerStatuses?.[0]?.restartCount).toBe(0);
  });
});
