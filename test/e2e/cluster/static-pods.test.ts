import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Pod } from "../../../src/api/gen/types.ts";
import { clusterServersUnderTest } from "../../clusters/cluster-servers.ts";
import { containerOf, isRunning, RUN_FOR_EVER, shellPod } from "../pods.ts";
import { readReadySandboxes, readRunningContainers } from "../runtime-state.ts";
import { type ClusterNode, createClusterNode, NODE_NAME } from "./cluster-node.ts";
import { settlesOn } from "./settles.ts";

const SERVERS = await clusterServersUnderTest();

const uidOf = (object: Pick<Pod, "metadata"> | undefined) => object?.metadata?.uid;
const isNot = (uid: string | undefined) => (pod: Pod) => uidOf(pod) !== uid;

describe.each(SERVERS)("static pods of a node of a cluster, on $name", (server) => {
  let world: ClusterNode;
  beforeAll(async () => {
    world = await createClusterNode({ server });
    await world.node.start(world.flags);
  });
  afterAll(async () => await world?.destroy());

  /** What runs of the static pod: the same before and after whatever is done to its mirror. */
  const running = async (name: string) =>
    (await readRunningContainers(world.node)).filter(({ pod }) => pod === `${name}-${NODE_NAME}`);
  const start = async (name: string, script: string = RUN_FOR_EVER, spec: object = {}): Promise<Pod> => {
    await world.node.write(`${name}.json`, shellPod(name, script, spec));
    return await world.pod(`${name}-${NODE_NAME}`, isRunning);
  };

  it.concurrent("have a mirror that shows them: their status, whose they are, and what they were made of", async () => {
    const mirror = await start("shown");
    const node = await world.nodeObject();
    expect(mirror.metadata).toMatchObject({
      name: "shown-e2e",
      annotations: {
        "kubernetes.io/config.source": "file",
        "kubernetes.io/config.hash": expect.any(String),
        "kubernetes.io/config.mirror": expect.any(String),
      },
      ownerReferences: [{ apiVersion: "v1", kind: "Node", name: NODE_NAME, uid: node.metadata?.uid, controller: true }],
    });
    expect(mirror.metadata?.annotations?.["kubernetes.io/config.mirror"]).toBe(
      mirror.metadata?.annotations?.["kubernetes.io/config.hash"],
    );
    expect(mirror.spec).toMatchObject({
      nodeName: NODE_NAME,
      tolerations: [{ operator: "Exists", effect: "NoExecute" }],
    });
    expect(mirror.status).toMatchObject({ phase: "Running", podIP: expect.stringMatching(/^10\./) });
    expect(mirror.status?.conditions?.find(({ type }) => type === "Ready")?.status).toBe("True");
    const [container] = await running("shown");
    expect(containerOf(mirror, "main")?.containerID).toBe(`containerd://${container?.id}`);
    expect(container?.uid).toBe(mirror.metadata?.annotations?.["kubernetes.io/config.hash"]);
  });

  it.concurrent.each([
    ["gracefully", undefined],
    ["by force", 0],
  ])("get another mirror when somebody deletes it %s, and do not notice", async (how, gracePeriodSeconds) => {
    const name = gracePeriodSeconds === 0 ? "forced" : "deleted";
    const mirror = await start(name);
    const before = await running(name);
    await world.remove(`${name}-e2e`, gracePeriodSeconds);
    const next = await world.pod(`${name}-e2e`, (pod) => isNot(uidOf(mirror))(pod) && isRunning(pod));
    expect(next.metadata?.deletionTimestamp, how).toBeUndefined();
    expect(await running(name)).toEqual(before);
  });

  it.concurrent("do not heed what is changed on the mirror", async () => {
    const mirror = await start("edited");
    const before = await running("edited");
    const { status } = await world.api.patch("strategic", "/api/v1/namespaces/default/pods/edited-e2e", {
      metadata: { labels: { edited: "yes" } },
      spec: { activeDeadlineSeconds: 1, containers: [{ name: "main", image: "localhost/other:1" }] },
    });
    expect(status).toBe(200);
    // The next is started after the edit was seen: had it an effect, it would show by then.
    await start("after-edited");
    expect(await running("edited")).toEqual(before);
    expect(uidOf(await world.read("edited-e2e"))).toBe(uidOf(mirror));
  });

  it.concurrent("are replaced with their mirrors when the manifest changes", async () => {
    const mirror = await start("changed");
    const [before] = await running("changed");
    await world.node.write("changed.json", shellPod("changed", `true; ${RUN_FOR_EVER}`));
    const next = await world.pod("changed-e2e", (pod) => isNot(uidOf(mirror))(pod) && isRunning(pod));
    const hash = (pod: Pod) => pod.metadata?.annotations?.["kubernetes.io/config.mirror"];
    expect(hash(next)).not.toBe(hash(mirror));
    expect(next.spec?.containers?.[0]?.command?.at(-1)).toContain("true;");
    const after = await running("changed");
    expect(after).toHaveLength(1);
    expect(after[0]?.uid).not.toBe(before?.uid);
  });

  it.concurrent("begin anew under their UID, as a restart, when the manifest is put back at once", async () => {
    await start("back");
    const [before] = await running("back");
    await world.node.remove("back.json");
    await world.node.write("back.json", shellPod("back", RUN_FOR_EVER));
    await world.pod("back-e2e", (pod) => isRunning(pod) && containerOf(pod, "main")?.restartCount === 1);
    const after = await running("back");
    expect(after.map(({ uid }) => uid)).toEqual([before?.uid]);
    expect(after[0]?.id).not.toBe(before?.id);
  });

  it.concurrent("go with their manifest, gracefully, and their mirrors after them", async () => {
    const script = "trap 'sleep 0.5; exit 0' TERM; while :; do sleep 0.05; done";
    const mirror = await start("removed", script, { terminationGracePeriodSeconds: 20 });
    const { ended } = await world.follow("removed-e2e");
    const [container] = await running("removed");
    await world.node.remove("removed.json");
    await ended;
    expect(await running("removed")).toEqual([]);
    await settlesOn([], async () => await readReadySandboxes(world.node, container?.uid));
    expect(await world.read("removed-e2e")).toBeUndefined();
    expect(mirror.spec?.terminationGracePeriodSeconds).toBe(20);
  });

  it.concurrent("show their ends and restarts on the mirror", async () => {
    await world.node.write("failing.json", shellPod("failing", "exit 3", { restartPolicy: "Never" }));
    const failed = await world.pod("failing-e2e", ({ status }) => status?.phase === "Failed");
    expect(containerOf(failed, "main")?.state?.terminated).toMatchObject({ exitCode: 3 });
    await world.node.write("crashing.json", shellPod("crashing", "exit 4"));
    const backedOff = (pod: Pod) => containerOf(pod, "main")?.state?.waiting?.reason === "CrashLoopBackOff";
    const crashed = await world.pod("crashing-e2e", backedOff);
    expect(containerOf(crashed, "main")?.lastState?.terminated).toMatchObject({ exitCode: 4 });
    await world.event("crashing-e2e", { type: "Warning", reason: "BackOff" });
  });
});

describe.each(SERVERS)("static pods whose manifests change while the node agent is down, on $name", (server) => {
  let world: ClusterNode;
  beforeAll(async () => {
    world = await createClusterNode({ server });
    await world.node.start(world.flags);
  });
  afterAll(async () => await world?.destroy());

  it("are what the manifests say when it is back, and so are their mirrors", async () => {
    for (const name of ["stays", "goes", "unmirrored"])
      await world.node.write(`${name}.json`, shellPod(name, RUN_FOR_EVER));
    const stays = await world.pod("stays-e2e", isRunning);
    for (const name of ["goes-e2e", "unmirrored-e2e"]) await world.pod(name, isRunning);
    const before = await readRunningContainers(world.node);
    await world.node.kill();
    await world.node.remove("goes.json");
    await world.remove("unmirrored-e2e", 0);
    await world.node.write("comes.json", shellPod("comes", RUN_FOR_EVER));
    await world.node.start(world.flags);
    await world.pod("comes-e2e", isRunning);
    await world.pod("unmirrored-e2e", isRunning);
    await world.gone("goes-e2e");
    expect(uidOf(await world.read("stays-e2e"))).toBe(uidOf(stays));
    const kept = before.filter(({ pod }) => pod !== "goes-e2e");
    const after = (await readRunningContainers(world.node)).filter(({ pod }) => pod !== "comes-e2e");
    expect(after).toEqual(kept);
  });
});
