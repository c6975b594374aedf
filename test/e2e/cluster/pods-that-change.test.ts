import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Pod } from "../../../src/api/gen/types.ts";
import { DEMO_IMAGE } from "../../../src/cluster/images/image-references.ts";
import { createKubectl, type Kubectl } from "../kubectl/kubectl.ts";
import { newestKubectl } from "../kubectl/kubectl-binaries.ts";
import { containerOf, isRunning, RUN_FOR_EVER, shellPod } from "../pods.ts";
import { readReadySandboxes, readRunningContainers } from "../runtime-state.ts";
import { type ClusterNode, createClusterNode } from "./cluster-node.ts";
import { settlesOn } from "./settles.ts";

const PODS = "/api/v1/namespaces/default/pods";
/** Does not hear that it is asked to stop. */
const DEAF = "trap '' TERM; while :; do sleep 0.05; done";
const terminatedOf = (pod: Pod) => containerOf(pod, "main")?.state?.terminated;

describe("what is asked of pods that run", () => {
  let world: ClusterNode;
  let kubectl: Kubectl;
  beforeAll(async () => {
    world = await createClusterNode();
    const { kubeconfigPath: kubeconfig } = world.cluster;
    kubectl = createKubectl({ binary: newestKubectl(), home: world.node.directory, kubeconfig });
    await world.node.start(world.flags);
  });
  afterAll(async () => await world?.destroy());

  const run = async (name: string, script = RUN_FOR_EVER, spec: object = {}, container: object = {}): Promise<Pod> => {
    await world.create(shellPod(name, script, spec, container));
    return await world.pod(name, isRunning);
  };
  const debuggerOf = (pod: Pod, name: string) =>
    pod.status?.ephemeralContainerStatuses?.find((status) => status.name === name);

  describe("kubectl debug", () => {
    const debug = async (pod: string, name: string, ...more: string[]) =>
      await kubectl.ok([
        "debug",
        pod,
        `--container=${name}`,
        `--image=${DEMO_IMAGE}`,
        "--image-pull-policy=Never",
        ...more,
      ]);

    it.concurrent("adds a container beside the others, which do not notice", async () => {
      const before = await run("debugged");
      await debug("debugged", "look", "--profile=general", "--", "sh", "-c", RUN_FOR_EVER);
      const pod = await world.pod("debugged", (seen) => debuggerOf(seen, "look")?.state?.running !== undefined);
      expect(containerOf(pod, "main")).toEqual(containerOf(before, "main"));
      expect(pod.status?.podIP).toBe(before.status?.podIP);
      expect(await world.exec("debugged", ["hostname"], "look")).toBe("debugged\n");
      const told = (await world.events("debugged")).map(({ involvedObject }) => involvedObject.fieldPath);
      expect(told).toContain("spec.ephemeralContainers{look}");
    });

    it.concurrent("shows the processes of the container that it is for", async () => {
      await run("targeted");
      await debug("targeted", "look", "--target=main", "--profile=general", "--", "sh", "-c", RUN_FOR_EVER);
      await world.pod("targeted", (seen) => debuggerOf(seen, "look")?.state?.running !== undefined);
      expect(await world.exec("targeted", ["cat", "/proc/1/cmdline"], "look")).toContain("sleep 100000");
      expect(await world.exec("targeted", ["ls", "/proc/1/root/tmp"], "look")).toBe("");
    });

    it.concurrent("that ends is not started again, and one that cannot start says why", async () => {
      await run("ended");
      await debug("ended", "short", "--profile=general", "--", "sh", "-c", "exit 4");
      const pod = await world.pod("ended", (seen) => debuggerOf(seen, "short")?.state?.terminated !== undefined);
      expect(debuggerOf(pod, "short")).toMatchObject({ restartCount: 0, state: { terminated: { exitCode: 4 } } });
      const absent = [
        "debug",
        "ended",
        "--container=absent",
        "--image=localhost/absent:1",
        "--image-pull-policy=Never",
      ];
      await kubectl.ok([...absent, "--profile=general"]);
      const reasonOf = (seen: Pod) => debuggerOf(seen, "absent")?.state?.waiting?.reason;
      await world.pod("ended", (seen) => reasonOf(seen) === "ErrImageNeverPull");
      expect((await world.read("ended"))?.status?.phase).toBe("Running");
    });

    it.concurrent("goes with its pod", async () => {
      const { metadata } = await run("going");
      await debug("going", "look", "--profile=general", "--", "sh", "-c", DEAF);
      await world.pod("going", (seen) => debuggerOf(seen, "look")?.state?.running !== undefined);
      await world.remove("going");
      await world.gone("going");
      expect(await readReadySandboxes(world.node, metadata?.uid)).toEqual([]);
      expect((await readRunningContainers(world.node)).filter(({ pod }) => pod === "going")).toEqual([]);
    });
  });

  it.concurrent("other resources of a running container are refused but by a resize, and it runs on", async () => {
    const resources = { requests: { cpu: "10m" }, limits: { cpu: "100m" } };
    const before = await run("resized", RUN_FOR_EVER, {}, { resources });
    const larger = { requests: { cpu: "20m" }, limits: { cpu: "200m" } };
    const patch = { spec: { containers: [{ name: "main", resources: larger }] } };
    const direct = await world.api.patch("strategic", `${PODS}/resized`, patch);
    expect([direct.status, JSON.stringify(direct.body)]).toEqual([
      422,
      expect.stringContaining("pod updates may not change fields other than"),
    ]);
    expect((await world.read("resized"))?.status).toEqual(before.status);
  });

  it.concurrent("an eviction is a deletion that takes the pod's grace, and says so on the pod", async () => {
    const script = "trap 'sleep 0.3; exit 7' TERM; while :; do sleep 0.05; done";
    await run("evicted", script, { terminationGracePeriodSeconds: 20 });
    const { ended } = await world.follow("evicted");
    const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "evicted", namespace: "default" } };
    expect((await world.api.json("POST", `${PODS}/evicted/eviction`, eviction)).status).toBe(201);
    const versions = await ended;
    expect(versions.map(terminatedOf).find((state) => state !== undefined)).toMatchObject({ exitCode: 7 });
    // What the API server wrote there stays while the node goes on writing.
    const target = versions.at(-1)?.status?.conditions?.find(({ type }) => type === "DisruptionTarget");
    expect(target).toMatchObject({ status: "True", reason: "EvictionByEvictionAPI" });
    await world.event("evicted", { type: "Normal", reason: "Killing", message: "Stopping container main" });
  });

  it.concurrent("a deletion is hurried by another with less grace, and by none with more", async () => {
    await run("hurried", DEAF, { terminationGracePeriodSeconds: 600 });
    const remove = async (seconds: number) =>
      await kubectl.ok(["delete", "pod", "hurried", `--grace-period=${seconds}`, "--wait=false"]);
    const graceOf = async () => (await world.read("hurried"))?.metadata?.deletionGracePeriodSeconds;
    await remove(300);
    await settlesOn(300, async () => await graceOf());
    await remove(500);
    expect(await graceOf()).toBe(300);
    expect((await readRunningContainers(world.node)).some(({ pod }) => pod === "hurried")).toBe(true);
    await remove(2);
    await settlesOn(2, async () => await graceOf());
    await world.gone("hurried", 15_000);
  });

  it.concurrent("kubectl delete --force lets the containers go within a second, whatever the pod says", async () => {
    const { metadata } = await run("forced", DEAF, { terminationGracePeriodSeconds: 600 });
    await kubectl.ok("delete pod forced --force --grace-period=0");
    await settlesOn([], async () => await readReadySandboxes(world.node, metadata?.uid), 10_000);
  });

  it.concurrent("a deletion by force hurries one that is under way", async () => {
    const { metadata } = await run("impatient", DEAF, { terminationGracePeriodSeconds: 600 });
    await world.remove("impatient");
    await world.event("impatient", { reason: "Killing" });
    await kubectl.ok("delete pod impatient --force --grace-period=0");
    await settlesOn([], async () => await readReadySandboxes(world.node, metadata?.uid), 10_000);
  });

  it.concurrent("a deadline that ends while a container restarts ends the pod", async () => {
    await world.create(shellPod("deadline", "exit 1", { activeDeadlineSeconds: 10, restartPolicy: "OnFailure" }));
    await world.pod("deadline", (pod) => containerOf(pod, "main")?.state?.waiting?.reason === "CrashLoopBackOff");
    const { status } = await world.pod("deadline", (pod) => pod.status?.phase === "Failed");
    expect(status).toMatchObject({ reason: "DeadlineExceeded" });
  });
});
