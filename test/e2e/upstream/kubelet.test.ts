import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isRecord } from "../../../src/api/object.ts";
import { clusterServersUnderTest } from "../../clusters/cluster-servers.ts";
import type { RestartableCluster } from "../../clusters/node-cluster.ts";
import { NODE_NAME } from "../cluster/cluster-node.ts";
import { containerOf, isRunning, RUN_FOR_EVER, shellPod } from "../pods.ts";
import { mountingPod } from "../volumes/volume-node.ts";
import { createUpstreamNode, type GoKubelet, type UpstreamNode } from "./go-kubelet.ts";
import { startUpstreamCluster, type UpstreamCluster } from "./upstream-cluster.ts";
import { findProblems, readUpstreamProgram, titleOf } from "./upstream-program.ts";

const program = await readUpstreamProgram("KUBELET_BIN");
const [, reference] = await clusterServersUnderTest();
/** Ours; and the real one where it is at hand, so that nothing is expected here that does not hold there. */
const SERVERS = [
  { server: "nodelet", start: async () => await startUpstreamCluster() },
  ...(reference ? [{ server: reference.name, start: reference.startRestartable }] : []),
];
const NAMESPACED = "/api/v1/namespaces/default";
const LEASE = `/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/${NODE_NAME}`;

/** What a Go kubelet says on any API server: of the machine and the runtime, and until its node is registered. */
const EXPLAINED = [
  /^probe\.go: Flexvolume plugin directory at \S+ does not exist/,
  /^server\.go: "Failed to set rlimit on max file handles"/,
  /^kubelet\.go: "Skipping pod synchronization"/,
  /"Failed to ensure process in container with oom score"/,
  /"Unable to get rootfs data from cAdvisor interface"/,
  /"Failed to read data from checkpoint" .*checkpoint is not found/,
  /^eviction_manager\.go: /i,
  /node \\?"e2e\\?" not found|nodes \\"e2e\\" not found/,
  /^remote_runtime\.go: "(ContainerStatus|RuntimeConfig|StopContainer) from runtime service failed".* (code = NotFound|unknown method)/,
  /^cpu_manager\.go: "RemoveStaleState: removing container"/,
  /^pod_workers\.go: "Error syncing pod, skipping" .*CrashLoopBackOff/,
  // A pod that is gone belongs to no node: the node authorizer says so before the object is looked for.
  /"Failed to get status for pod" .*no relationship found between node 'e2e' and this object/,
  // While the server is away, and what it ends when it goes.
  /connect: connection refused|update node status exceeds retry count/,
  /watch of \*v1\.\w+ ended with: |Failed to watch \*v1\.\w+: unknown/,
  /^empty_dir\.go: Warning: Failed to clear quota/,
  /^pod_container_deletor\.go: "DeleteContainer returned error".* code = NotFound/,
];

describe.skipIf(program === undefined).each(SERVERS)(
  `${titleOf("kubelet", "KUBELET_BIN", program)} on $server`,
  (on) => {
    let world: UpstreamNode<RestartableCluster | UpstreamCluster>;
    let kubelet: GoKubelet;
    beforeAll(async () => {
      if (program === undefined) return;
      // Leases are renewed each second, and volumes brought up to date every two.
      world = await createUpstreamNode<RestartableCluster | UpstreamCluster>(await on.start(), {
        nodeLeaseDurationSeconds: 4,
        syncFrequency: "2s",
      });
      kubelet = await world.startKubelet(program);
    });
    afterAll(async () => await world?.destroy());

    const create = async (resource: string, object: object) =>
      await world.api.object("POST", `${NAMESPACED}/${resource}`, { apiVersion: "v1", ...object });
    const renewedAt = async () => {
      const { body } = await world.api.json("GET", LEASE);
      return isRecord(body) && isRecord(body["spec"]) ? String(body["spec"]["renewTime"]) : "";
    };

    it("registers its node, and is ready by its status and its lease", async () => {
      const { metadata, status } = await world.nodeObject();
      expect(metadata?.labels).toMatchObject({ "kubernetes.io/hostname": NODE_NAME, "kubernetes.io/os": "linux" });
      expect(status?.nodeInfo?.kubeletVersion).toMatch(new RegExp(`^v${program?.version}`));
      expect(status?.capacity?.["pods"]).toBe("110");
      const conditions = (status?.conditions ?? []).map(({ type, status: state }) => [type, state]);
      expect(conditions).toContainEqual(["Ready", "True"]);
      expect(conditions).toContainEqual(["DiskPressure", "False"]);
      const first = await renewedAt();
      await expect.poll(renewedAt, { timeout: 10_000 }).not.toBe(first);
      await expect.poll(async () => (await world.nodeObject()).spec?.taints ?? [], { timeout: 15_000 }).toEqual([]);
    });

    it("runs a pod with what it reads from the API, keeps that up to date, and ends it gracefully", async () => {
      await create("configmaps", { kind: "ConfigMap", metadata: { name: "settings" }, data: { colour: "red" } });
      await create("secrets", { kind: "Secret", metadata: { name: "key" }, stringData: { password: "s3cret" } });
      const volumes = { settings: { configMap: { name: "settings" } }, key: { secret: { secretName: "key" } } };
      const env = [{ name: "COLOUR", valueFrom: { configMapKeyRef: { name: "settings", key: "colour" } } }];
      const spec = { automountServiceAccountToken: true, terminationGracePeriodSeconds: 5 };
      await world.create(mountingPod("reader", { volumes, spec, container: { env } }));
      const pod = await world.pod("reader", isRunning);
      expect(pod.status).toMatchObject({ podIP: expect.stringMatching(/^10\./), hostIP: expect.any(String) });
      const types = pod.status?.conditions?.filter(({ status }) => status === "True").map(({ type }) => type);
      expect(types).toEqual(expect.arrayContaining(["Initialized", "Ready", "ContainersReady", "PodScheduled"]));
      expect(containerOf(pod, "main")).toMatchObject({ ready: true, restartCount: 0 });
      const token = "/var/run/secrets/kubernetes.io/serviceaccount/token";
      const read = `cat /settings/colour /key/password; echo $COLOUR; cut -c1-3 ${token}`;
      expect(await world.shell("reader", read)).toBe("reds3cretred\neyJ\n");
      await world.api.patch("merge", `${NAMESPACED}/configmaps/settings`, { data: { colour: "blue" } });
      const colour = async () => await world.shell("reader", "cat /settings/colour");
      await expect.poll(colour, { timeout: 30_000 }).toBe("blue");
      const { ended } = await world.follow("reader");
      const { metadata } = pod;
      await world.end("reader");
      // It removes directories some time after the object.
      await expect.poll(async () => await world.leftovers(metadata?.uid ?? ""), { timeout: 30_000 }).toEqual([]);
      const last = (await ended).at(-1);
      expect(last?.metadata?.deletionGracePeriodSeconds).toBe(0);
      expect(containerOf(last ?? {}, "main")?.state?.terminated?.exitCode).toBe(0);
    });

    it("tells by events what it does to a pod", async () => {
      await world.create(shellPod("told", RUN_FOR_EVER));
      await world.pod("told", isRunning);
      const source = { component: "kubelet", host: NODE_NAME };
      for (const reason of ["Pulled", "Created", "Started"])
        await world.event("told", { reason, type: "Normal", source });
      await world.remove("told");
      await world.event("told", { reason: "Killing", message: "Stopping container main", type: "Normal", source });
      await world.gone("told");
      await world.create(shellPod("failing", "exit 3"));
      const failing = await world.pod("failing", (each) => (containerOf(each, "main")?.restartCount ?? 0) > 0);
      expect(containerOf(failing, "main")?.lastState?.terminated?.exitCode).toBe(3);
      await world.event("failing", { reason: "BackOff", type: "Warning", source });
      await world.remove("failing", 0);
      await world.gone("failing");
      const { items } = await world.api.list("/api/v1/events", { fieldSelector: "involvedObject.kind=Node" });
      expect(items.map((item) => item["reason"])).toContain("NodeReady");
    });

    it("ends a pod that is evicted, and one whose work is done stays as its status says", async () => {
      await world.create(shellPod("evicted", RUN_FOR_EVER));
      await world.pod("evicted", isRunning);
      const metadata = { name: "evicted", namespace: "default" };
      const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata };
      await world.api.object("POST", `${NAMESPACED}/pods/evicted/eviction`, eviction);
      await world.gone("evicted");
      await world.create(shellPod("done", "echo bye > /dev/termination-log", { restartPolicy: "Never" }));
      const done = await world.pod("done", ({ status }) => status?.phase === "Succeeded");
      expect(containerOf(done, "main")?.state?.terminated).toMatchObject({ exitCode: 0, message: "bye\n" });
      await world.remove("done");
      await world.gone("done");
    });

    it("runs an ephemeral container in a running pod", async () => {
      await world.create(shellPod("debugged", RUN_FOR_EVER));
      const pod = await world.pod("debugged", isRunning);
      const { image } = pod.spec?.containers[0] ?? {};
      const ephemeralContainers = [{ name: "probe", image, command: ["sh", "-c", RUN_FOR_EVER] }];
      const path = `${NAMESPACED}/pods/debugged/ephemeralcontainers`;
      const answer = await world.api.patch("strategic", path, { spec: { ephemeralContainers } });
      expect(answer.status).toBe(200);
      const runs = ({ status }: typeof pod) => status?.ephemeralContainerStatuses?.[0]?.state?.running !== undefined;
      await world.pod("debugged", runs, 60_000);
      await world.remove("debugged");
      await world.gone("debugged");
    });

    it("has a mirror of a static pod, again when it is deleted, and none when the pod is gone", async () => {
      await world.writeManifest("still.json", shellPod("still", RUN_FOR_EVER));
      const name = `still-${NODE_NAME}`;
      const mirror = await world.pod(name, isRunning, 60_000);
      expect(mirror.metadata).toMatchObject({
        annotations: { "kubernetes.io/config.source": "file", "kubernetes.io/config.mirror": expect.any(String) },
        ownerReferences: [{ kind: "Node", name: NODE_NAME, controller: true }],
      });
      await world.remove(name);
      const other = (pod: typeof mirror) => pod.metadata?.uid !== mirror.metadata?.uid && isRunning(pod);
      await world.pod(name, other, 90_000);
      await world.node.remove("still.json");
      await world.gone(name, 90_000);
    });

    it("goes on when the API server went away and came back", async () => {
      await world.create(shellPod("before", RUN_FOR_EVER));
      const before = await world.pod("before", isRunning);
      await world.cluster.stopServer();
      await kubelet.logged(/connection refused/);
      await world.cluster.startServer();
      await expect.poll(async () => (await world.api.json("GET", "/readyz")).status, { timeout: 60_000 }).toBe(200);
      await world.create(shellPod("after", RUN_FOR_EVER));
      await world.pod("after", isRunning, 60_000);
      const same = await world.pod("before", isRunning);
      expect(containerOf(same, "main")?.containerID).toBe(containerOf(before, "main")?.containerID);
      for (const name of ["before", "after"]) await world.remove(name);
      for (const name of ["before", "after"]) await world.gone(name, 60_000);
    });

    it("finds nothing odd about the API server, nor that about it", async () => {
      kubelet.alive();
      const { cluster } = world;
      expect(findProblems(kubelet.log(), EXPLAINED)).toEqual([]);
      if ("complaints" in cluster) expect(cluster.complaints()).toEqual([]);
    });
  },
);
