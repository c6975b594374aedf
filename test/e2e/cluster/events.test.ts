import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Pod } from "../../../src/api/gen/types.ts";
import { DEMO_IMAGE } from "../../../src/cluster/images/image-references.ts";
import { clusterServersUnderTest } from "../../clusters/cluster-servers.ts";
import { createKubectl, type Kubectl } from "../kubectl/kubectl.ts";
import { newestKubectl } from "../kubectl/kubectl-binaries.ts";
import { containerOf, isRunning, RUN_FOR_EVER, shellPod } from "../pods.ts";
import { type ClusterNode, createClusterNode, NODE_NAME } from "./cluster-node.ts";

const SERVERS = await clusterServersUnderTest();

describe.each(SERVERS)("what kubectl describe tells of pods, on $name", (server) => {
  let world: ClusterNode;
  let kubectl: Kubectl;
  beforeAll(async () => {
    world = await createClusterNode({ server });
    const { kubeconfigPath: kubeconfig } = world.cluster;
    kubectl = createKubectl({ binary: newestKubectl(), home: world.node.directory, kubeconfig });
    await world.node.start(world.flags);
  });
  afterAll(async () => await world?.destroy());

  /** The table of events, without ages: `type reason (count) from message`. */
  const describeEvents = async (name: string): Promise<string[]> => {
    const text = await kubectl.ok(["describe", "pod", name]);
    const [, table = ""] = text.split(/^Events:\n.*\n.*\n/m);
    return table
      .split("\n")
      .filter((line) => line.trim() !== "")
      .map((line) =>
        line
          .trim()
          .replace(/\s{2,}/g, "  ")
          .replace(/ {2}(\S+ \(x\d+ over \S+\)|\S+) {2}kubelet/, "  kubelet")
          // Newer versions of kubectl name the container before what is told of it.
          .replace(/ {2}kubelet {2}spec\.containers\{main\}: /, "  kubelet  "),
      );
  };

  it.concurrent("tells of a pod that starts, runs and stops", async () => {
    await world.create(shellPod("web", RUN_FOR_EVER));
    await world.pod("web", isRunning);
    await world.event("web", { reason: "Started" });
    const text = await kubectl.ok(["describe", "pod", "web"]);
    expect(text).toMatch(/^Node: +e2e\/\d+\.\d+\.\d+\.\d+$/m);
    expect(text).toMatch(/^Status: +Running$/m);
    expect(text).toMatch(/^IP: +10\./m);
    expect(text).toMatch(/^ {4}Container ID: +containerd:\/\/[0-9a-f]{64}$/m);
    expect(text).toMatch(/^ {4}Image ID: +sha256:[0-9a-f]{64}$/m);
    expect(text).toMatch(/^ {6}Started: +\S/m);
    expect(text).toMatch(/^ {2}Ready +True *$/m);
    expect(text).toMatch(/^ {2}PodScheduled +True *$/m);
    expect(await describeEvents("web")).toEqual([
      `Normal  Pulled  kubelet  Container image "${DEMO_IMAGE}" already present on machine and can be accessed by the pod`,
      "Normal  Created  kubelet  Container created",
      "Normal  Started  kubelet  Container started",
    ]);
    await world.remove("web");
    await world.event("web", { type: "Normal", reason: "Killing", message: "Stopping container main" });
  });

  it.concurrent("names whom an event is about and who tells it", async () => {
    await world.create(shellPod("about", RUN_FOR_EVER));
    const { metadata } = await world.pod("about", isRunning);
    const event = await world.event("about", { reason: "Started" });
    expect(event).toMatchObject({
      type: "Normal",
      count: 1,
      involvedObject: {
        kind: "Pod",
        apiVersion: "v1",
        namespace: "default",
        name: "about",
        uid: metadata?.uid,
        fieldPath: "spec.containers{main}",
      },
      source: { component: "kubelet", host: NODE_NAME },
      reportingComponent: "kubelet",
      reportingInstance: NODE_NAME,
    });
    expect(event.metadata?.name).toMatch(/^about\.[0-9a-f]+$/);
  });

  it.concurrent("counts what happens again to a container that crashes", async () => {
    await world.create(shellPod("crash", "exit 3"));
    await world.pod("crash", (pod) => containerOf(pod, "main")?.state?.waiting?.reason === "CrashLoopBackOff");
    const { metadata, status } = (await world.read("crash")) ?? {};
    const message = `Back-off restarting failed container main in pod crash_default(${metadata?.uid})`;
    await world.event("crash", { type: "Warning", reason: "BackOff", message });
    await world.event("crash", { type: "Normal", reason: "Started", count: 2 });
    expect(status?.containerStatuses?.[0]?.state?.waiting?.message).toBe(
      `back-off 10s restarting failed container=main pod=crash_default(${metadata?.uid})`,
    );
    const events = await describeEvents("crash");
    expect(events).toContain(`Warning  BackOff  kubelet  ${message}`);
    expect(await kubectl.ok(["describe", "pod", "crash"])).toMatch(/Started +\d+s \(x2 over \d+s\) +kubelet/);
  });

  it.concurrent("tells of an image that cannot be had", async () => {
    const image = "localhost:1/absent:1";
    await world.create(shellPod("pull", RUN_FOR_EVER, {}, { image }));
    const isBackingOff = (pod: Pod) => containerOf(pod, "main")?.state?.waiting?.reason === "ImagePullBackOff";
    const { waiting } = containerOf(await world.pod("pull", isBackingOff), "main")?.state ?? {};
    expect(waiting?.message).toMatch(/^Back-off pulling image "localhost:1\/absent:1": ErrImagePull: .*localhost:1/);
    await world.event("pull", { type: "Normal", reason: "Pulling", message: `Pulling image "${image}"` });
    await world.event("pull", { type: "Warning", reason: "Failed", message: "Error: ErrImagePull" });
    await world.event("pull", { type: "Normal", reason: "BackOff", message: `Back-off pulling image "${image}"` });
    await world.event("pull", { type: "Warning", reason: "Failed", message: "Error: ImagePullBackOff" });
    const events = await describeEvents("pull");
    expect(events.join("\n")).toMatch(
      /^Warning {2}Failed {2}kubelet {2}Failed to pull image "localhost:1\/absent:1": /m,
    );
  });

  it.concurrent("tells of a hook that fails", async () => {
    const lifecycle = { postStart: { exec: { command: ["sh", "-c", "exit 9"] } } };
    await world.create(shellPod("hook", RUN_FOR_EVER, { restartPolicy: "Never" }, { lifecycle }));
    const event = await world.event("hook", { type: "Warning", reason: "FailedPostStartHook" });
    expect(event.message).toMatch(/^PostStartHook failed/);
    await world.event("hook", { type: "Normal", reason: "Killing", message: "FailedPostStartHook" });
  });

  it.concurrent("tells of a static pod on its mirror", async () => {
    await world.node.write("static.json", shellPod("static", RUN_FOR_EVER));
    await world.pod("static-e2e", isRunning);
    await world.event("static-e2e", { reason: "Started" });
    expect((await describeEvents("static-e2e")).map((line) => line.split("  ")[1])).toEqual([
      "Pulled",
      "Created",
      "Started",
    ]);
  });

  it.concurrent("tells of the node", async () => {
    await world.event(NODE_NAME, { type: "Normal", reason: "Starting", message: "Starting kubelet." });
    const healthy = await world.event(NODE_NAME, { type: "Normal", reason: "NodeHasSufficientMemory" });
    expect(healthy).toMatchObject({
      message: `Node ${NODE_NAME} status is now: NodeHasSufficientMemory`,
      involvedObject: { kind: "Node", name: NODE_NAME },
      source: { component: "kubelet", host: NODE_NAME },
    });
    const text = await kubectl.ok(["describe", "node", NODE_NAME]);
    expect(text).toMatch(/^Lease:\n {2}HolderIdentity: +e2e$/m);
    expect(text).toMatch(/^ {2}Ready +True .*KubeletReady +kubelet is posting ready status$/m);
  });
});
