import { beforeEach, describe, expect, test } from "vitest";
import { conflictError } from "../../api/api-error.ts";
import { typed, untyped } from "../../api/object.ts";
import { createScheduler } from "../scheduler/scheduler.ts";
import {
  claim,
  createStorageBench,
  node,
  type PodOptions,
  pod,
  type StorageBench,
  storageClass,
  volume,
} from "../volumes/__fixtures__/storage-bench.ts";
import { createVolumeBinder } from "../volumes/volume-binder.ts";

const WAITING = { storageClassName: "local" };
const MANY = { cpu: "4", memory: "8Gi", pods: "110" };

let bench: StorageBench;
beforeEach(async () => {
  bench = createStorageBench();
  bench.start(createVolumeBinder(bench.deps));
  bench.start(
    createScheduler({
      ...bench.deps,
      async bind(object, nodeName) {
        const bound = typed("Pod", object);
        const spec = { containers: [], ...bound.spec, nodeName };
        await bench.writer.update("pods", untyped({ ...bound, spec }), "binding");
      },
    }),
  );
  await bench.put("storageclasses.storage.k8s.io", storageClass("local", { delayed: true }));
});

const putNode = (name: string, labels: Record<string, string> = {}) => {
  const made = node(name, { status: { allocatable: MANY } });
  return bench.put("nodes", { ...made, metadata: { ...made.metadata, labels: { host: name, ...labels } } });
};
const only = (host: string) => ({
  nodeAffinity: {
    required: { nodeSelectorTerms: [{ matchExpressions: [{ key: "host", operator: "In", values: [host] }] }] },
  },
});
const putVolume = (name: string, host: string, size = "1Gi") => {
  return bench.put("persistentvolumes", volume(name, { size, ...WAITING, ...only(host) }));
};
const putClaim = (name: string, size = "1Gi") => bench.put("persistentvolumeclaims", claim(name, { size, ...WAITING }));
const putPod = (name: string, options: PodOptions = {}) => {
  return bench.put("pods", pod(name, { schedulerName: "default-scheduler", ...options }));
};
const podAt = (name: string) => {
  const found = bench.at(`pods ${name}`);
  return found && typed("Pod", found);
};
const nodeOf = (name: string) => podAt(name)?.spec?.nodeName;
const volumeOf = (name: string) => {
  const found = bench.at(`persistentvolumeclaims ${name}`);
  return found && typed("PersistentVolumeClaim", found).spec?.volumeName;
};

describe("a claim that waits for its pod", () => {
  test("gets a volume where the pod goes, and the pod goes where there is a volume", async () => {
    await putNode("n1");
    await putNode("n2");
    await putVolume("v2", "n2");
    await putClaim("data");
    expect(volumeOf("data")).toBeUndefined();
    await putPod("app", { claims: ["data"] });
    expect(nodeOf("app")).toBe("n2");
    expect(volumeOf("data")).toBe("v2");
    expect(bench.clock.monotonic()).toBe(0);
  });

  test("keeps its pod waiting until there is one", async () => {
    await putNode("n1");
    await putClaim("data");
    await putPod("app", { claims: ["data"] });
    expect(nodeOf("app")).toBeUndefined();
    expect(bench.events()).toContain(
      "Warning FailedScheduling: 0/1 nodes are available: 1 node(s) didn't find available persistent volumes to bind. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.",
    );
    await putVolume("v1", "n1");
    expect(nodeOf("app")).toBe("n1");
  });

  test("is bound before its pod is", async () => {
    await putNode("n1");
    await putVolume("v1", "n1");
    await putClaim("data");
    await putPod("app", { claims: ["data"] });
    const order = bench.writes.filter((write) => /claims\/data|pods\/app/.test(write) && !write.startsWith("create"));
    const claimed = order.indexOf("update persistentvolumeclaims/data");
    expect(claimed).toBeGreaterThanOrEqual(0);
    expect(order.indexOf("update pods/app binding")).toBeGreaterThan(claimed);
  });

  test("and another one of the same pod get volumes that suit both, on one node", async () => {
    await putNode("n1");
    await putNode("n2");
    await putVolume("large1", "n1", "9Gi");
    await putVolume("small2", "n2", "1Gi");
    await putVolume("large2", "n2", "9Gi");
    await putClaim("large", "5Gi");
    await putClaim("small");
    await putPod("app", { claims: ["large", "small"] });
    expect([nodeOf("app"), volumeOf("large"), volumeOf("small")]).toEqual(["n2", "large2", "small2"]);
  });

  test("of two pods at once do not get one volume", async () => {
    await putNode("n1");
    await putVolume("v1", "n1");
    await putVolume("v2", "n1");
    await putClaim("a");
    await putClaim("b");
    const pods = ["a", "b"].map((name) => pod(name, { schedulerName: "default-scheduler", claims: [name] }));
    await Promise.all(pods.map((object) => bench.create("pods", object)));
    // A pod that waits in the queue beside others has a turn every few milliseconds.
    await bench.clock.advance(10);
    expect([nodeOf("a"), nodeOf("b")]).toEqual(["n1", "n1"]);
    expect([volumeOf("a"), volumeOf("b")].sort()).toEqual(["v1", "v2"]);
  });

  test("that is bound keeps its later pods to its node", async () => {
    await putNode("n1");
    await putNode("n2");
    await putVolume("v2", "n2");
    await putClaim("data");
    await putPod("first", { claims: ["data"] });
    await putPod("second", { claims: ["data"] });
    expect([nodeOf("first"), nodeOf("second")]).toEqual(["n2", "n2"]);
  });
});

describe("a class with a provisioner", () => {
  const SELECTED = "volume.kubernetes.io/selected-node";
  beforeEach(async () => {
    const made = storageClass("made", {
      delayed: true,
      provisioner: "csi.example.com",
      allowedTopologies: [{ matchLabelExpressions: [{ key: "zone", values: ["b"] }] }],
    });
    await bench.put("storageclasses.storage.k8s.io", made);
    await putNode("n1", { zone: "a" });
    await putNode("n2", { zone: "b" });
    await bench.put("persistentvolumeclaims", claim("data", { storageClassName: "made" }));
  });
  const selected = () => bench.at("persistentvolumeclaims data")?.metadata.annotations?.[SELECTED];

  test("makes the volume for a node where it may, and the pod waits for it there", async () => {
    await putPod("app", { claims: ["data"] });
    expect(selected()).toBe("n2");
    expect(nodeOf("app")).toBeUndefined();
    expect(podAt("app")?.status?.nominatedNodeName).toBe("n2");
    const { uid = "" } = bench.at("persistentvolumeclaims data")?.metadata ?? {};
    const claimRef = { namespace: "default", name: "data", uid };
    await bench.put("persistentvolumes", volume("pvc-1", { storageClassName: "made", claimRef, ...only("n2") }));
    expect(volumeOf("data")).toBe("pvc-1");
    expect(nodeOf("app")).toBe("n2");
  });

  test("is asked once for one node, however long it takes", async () => {
    await putPod("app", { claims: ["data"] });
    const before = bench.writes.length;
    await bench.clock.advance(11 * 60_000);
    expect(selected()).toBe("n2");
    expect(bench.writes.slice(before).filter((write) => write.includes("claims/data"))).toEqual([]);
  });

  test("without room for it is not asked", async () => {
    const driver = { apiVersion: "storage.k8s.io/v1", kind: "CSIDriver", metadata: { name: "csi.example.com" } };
    await bench.put("csidrivers.storage.k8s.io", { ...driver, spec: { storageCapacity: true } });
    const capacity = (name: string, size: string) => ({
      apiVersion: "storage.k8s.io/v1",
      kind: "CSIStorageCapacity",
      metadata: { name, namespace: "default" },
      storageClassName: "made",
      nodeTopology: { matchLabels: { zone: "b" } },
      capacity: size,
    });
    await bench.put("csistoragecapacities.storage.k8s.io", capacity("little", "512Mi"));
    await putPod("app", { claims: ["data"] });
    expect(selected()).toBeUndefined();
    expect(bench.events()).toContainEqual(
      expect.stringContaining(
        "1 node(s) did not have enough free storage, 1 node(s) didn't find available persistent volumes to bind.",
      ),
    );
    await bench.put("csistoragecapacities.storage.k8s.io", capacity("more", "2Gi"));
    expect(selected()).toBe("n2");
  });
});

describe("a bound volume", () => {
  const ZONE = "topology.kubernetes.io/zone";
  const bound = { storageClassName: "" };
  const reserved = { ...bound, claimRef: { namespace: "default", name: "data" } };
  const relabel = (zone: string) =>
    bench.change("persistentvolumes v1", ({ metadata, ...rest }) => ({
      ...rest,
      metadata: { ...metadata, labels: { ...metadata.labels, [ZONE]: zone } },
    }));
  const told = (words: string) => expect(bench.events()).toContainEqual(expect.stringContaining(words));

  test("has its pod wait until it is in the zone of a node", async () => {
    await putNode("n1", { [ZONE]: "a" });
    await bench.put("persistentvolumes", volume("v1", reserved));
    await bench.put("persistentvolumeclaims", claim("data", bound));
    expect(volumeOf("data")).toBe("v1");
    await relabel("b");
    await putPod("app", { claims: ["data"] });
    told("0/1 nodes are available: 1 node(s) had no available volume zone.");
    expect(nodeOf("app")).toBeUndefined();
    await relabel("b__a");
    expect(nodeOf("app")).toBe("n1");
  });

  test("of one pod is given up by a less important one", async () => {
    await putNode("n1");
    const exclusive = { ...bound, accessModes: ["ReadWriteOncePod"] };
    await bench.put("persistentvolumes", volume("v1", { ...reserved, ...exclusive }));
    await bench.put("persistentvolumeclaims", claim("data", exclusive));
    await putPod("low", { claims: ["data"] });
    expect(nodeOf("low")).toBe("n1");
    await putPod("same", { claims: ["data"] });
    told("1 node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode.");
    await putPod("high", { claims: ["data"], priority: 10 });
    expect(podAt("high")?.status?.nominatedNodeName).toBe("n1");
    told("Preempted by pod");
  });
});

test("a reservation that somebody else was faster with is tried anew", async () => {
  await putNode("n1");
  await putVolume("v1", "n1");
  await putVolume("v2", "n1", "2Gi");
  await putClaim("data");
  let isFirst = true;
  const { refuse } = bench;
  bench.refuse = (write) => {
    if (!isFirst || write.resource !== "persistentvolumes" || write.subresource !== "") return refuse(write);
    isFirst = false;
    return conflictError({ group: "", resource: "persistentvolumes" }, "v1", "somebody was faster");
  };
  await putPod("app", { claims: ["data"] });
  await bench.clock.advance(2_000);
  expect(nodeOf("app")).toBe("n1");
  expect(volumeOf("data")).toBe("v1");
});
