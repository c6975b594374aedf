import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { claim, onNode, persistentVolume } from "../volumes/claims.ts";
import { createReadyNode, plainPod, readPod } from "./api-nodes.ts";
import { startScheduler } from "./control-programs.ts";
import { startUpstreamCluster, type UpstreamCluster } from "./upstream-cluster.ts";
import { findProblems, type RunningUpstream, readUpstreamProgram, titleOf } from "./upstream-program.ts";

const program = await readUpstreamProgram("KUBE_SCHEDULER_BIN");
const NAMESPACED = "/api/v1/namespaces/default";
const STORAGE = "/apis/storage.k8s.io/v1";
/** An unschedulable pod is looked at again at the latest when its back-off is over. */
const SETTLE = { timeout: 30_000 };

/** What kube-scheduler says where there is no front proxy, and of its own start. */
const EXPLAINED = [
  /^options\.go: The manifest file is empty, ignoring/,
  /^configmap_cafile_content\.go: .*missing content for CA bundle .*requestheader-client-ca-file/,
];

describe
  .skipIf(program === undefined)
  .each([{ contentType: "application/json" }, { contentType: "application/vnd.kubernetes.protobuf" }])(
  `${titleOf("kube-scheduler", "KUBE_SCHEDULER_BIN", program)} that speaks $contentType`,
  ({ contentType }) => {
    let cluster: UpstreamCluster;
    let scheduler: RunningUpstream;
    beforeAll(async () => {
      if (program === undefined) return;
      cluster = await startUpstreamCluster({ scheduler: false });
      await createReadyNode(cluster.api, "small", { cpu: "1" });
      scheduler = await startScheduler(cluster, program, { contentType });
    });
    afterAll(async () => {
      await scheduler?.stop();
      await cluster?.stop();
    });

    const create = async (pod: object) => {
      const isTaken = async () => (await cluster.api.json("POST", `${NAMESPACED}/pods`, pod)).status;
      // The namespace's service account is made by a controller.
      await expect.poll(isTaken, SETTLE).toBe(201);
    };
    const nodeOf = async (name: string) => (await readPod(cluster.api, name))?.spec?.nodeName;
    const reasonsOf = async (name: string) => {
      const { items } = await cluster.api.list(`${NAMESPACED}/events`, {
        fieldSelector: `involvedObject.name=${name}`,
      });
      return items.map((item) => `${item["reason"]}: ${item["message"]}`);
    };
    const scheduledOf = async (name: string) => {
      const { status } = (await readPod(cluster.api, name)) ?? {};
      return status?.conditions?.find(({ type }) => type === "PodScheduled");
    };

    it("binds a pod, and tells so by its condition and an event", async () => {
      await create(plainPod("first"));
      await expect.poll(async () => await nodeOf("first"), SETTLE).toBe("small");
      expect(await scheduledOf("first")).toMatchObject({ status: "True" });
      await expect
        .poll(async () => await reasonsOf("first"), SETTLE)
        .toEqual(["Scheduled: Successfully assigned default/first to small"]);
    });

    it("says what keeps a pod waiting, and binds it when there is a node for it", async () => {
      await create(plainPod("picky", { nodeSelector: { disk: "fast" } }));
      await expect.poll(async () => (await scheduledOf("picky"))?.reason, SETTLE).toBe("Unschedulable");
      expect((await scheduledOf("picky"))?.message).toContain("0/1 nodes are available");
      await expect.poll(async () => (await reasonsOf("picky"))[0], SETTLE).toMatch(/^FailedScheduling: 0\/1 nodes/);
      await createReadyNode(cluster.api, "fast", { cpu: "2", labels: { disk: "fast" } });
      await expect.poll(async () => await nodeOf("picky"), SETTLE).toBe("fast");
    });

    it("makes room for a pod of higher priority", async () => {
      const priority = {
        apiVersion: "scheduling.k8s.io/v1",
        kind: "PriorityClass",
        metadata: { name: "high" },
        value: 9,
      };
      await cluster.api.object("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", priority);
      const onSmall = { nodeSelector: { "kubernetes.io/hostname": "small" } };
      await create(plainPod("victim", onSmall, "700m"));
      await expect.poll(async () => await nodeOf("victim"), SETTLE).toBe("small");
      await create(plainPod("urgent", { ...onSmall, priorityClassName: "high" }, "700m"));
      await expect.poll(async () => await nodeOf("urgent"), SETTLE).toBe("small");
      expect(await readPod(cluster.api, "victim")).toBeUndefined();
      expect(await nodeOf("first")).toBe("small");
      await expect.poll(async () => (await reasonsOf("victim")).at(-1), SETTLE).toMatch(/^Preempted: /);
    });

    it("binds the claim of a pod that waits for its first consumer", async () => {
      const metadata = { name: "by-hand" };
      const provisioning = { provisioner: "kubernetes.io/no-provisioner", volumeBindingMode: "WaitForFirstConsumer" };
      const kind = { apiVersion: "storage.k8s.io/v1", kind: "StorageClass" };
      await cluster.api.object("POST", `${STORAGE}/storageclasses`, { ...kind, metadata, ...provisioning });
      const local = { name: "late", source: { local: { path: "/mnt" }, ...onNode("fast") } };
      await cluster.api.object("POST", "/api/v1/persistentvolumes", persistentVolume(local));
      const { spec, ...rest } = Object(claim({ name: "late" }));
      const { volumeName: _, ...unbound } = spec;
      await cluster.api.object("POST", `${NAMESPACED}/persistentvolumeclaims`, { ...rest, spec: unbound });
      const volumes = [{ name: "v", persistentVolumeClaim: { claimName: "late" } }];
      await create(plainPod("consumer", { volumes }));
      await expect.poll(async () => await nodeOf("consumer"), SETTLE).toBe("fast");
      const { status } = Object(await cluster.api.object("GET", `${NAMESPACED}/persistentvolumeclaims/late`));
      expect(status.phase).toBe("Bound");
    });

    it("finds nothing odd about the API server, nor that about it", () => {
      scheduler.alive();
      expect(findProblems(scheduler.log(), EXPLAINED)).toEqual([]);
      expect(cluster.complaints()).toEqual([]);
      expect(
        cluster.refusals("kube-scheduler").filter((refusal) => !/leases\/kube-scheduler\S* 404$/.test(refusal)),
      ).toEqual([]);
    });
  },
);
