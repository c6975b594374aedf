import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { KubeObject } from "../../../src/api/object.ts";
import type { ApiClient } from "./client.ts";
import { apiServersUnderTest, useApiServer } from "./harness.ts";
import { changed, newNamespace, pathsIn, pod } from "./objects.ts";

const VOLUMES = "/api/v1/persistentvolumes";
const NODES = "/api/v1/nodes";
const STORAGE = "/apis/storage.k8s.io/v1";
const CLASSES = `${STORAGE}/storageclasses`;
const ATTACHMENTS = `${STORAGE}/volumeattachments`;
const DRIVER = "contract.csi.example.com";

const claimsIn = (namespace: string) => `/api/v1/namespaces/${namespace}/persistentvolumeclaims`;
const claim = (name: string, spec: object = {}) => ({
  metadata: { name },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, storageClassName: "", ...spec },
});
/** Selected by its claim alone: cases share the server's volumes. */
const volume = (name: string, spec: object = {}) => ({
  metadata: { name, labels: { case: name } },
  spec: { accessModes: ["ReadWriteOnce"], capacity: { storage: "1Gi" }, hostPath: { path: "/data" }, ...spec },
});
const selecting = (name: string) => ({ selector: { matchLabels: { case: name } } });

/** A node that takes pods which select it by the label `host`. */
async function makeReadyNode(admin: ApiClient, name: string, labels: Record<string, string> = {}): Promise<void> {
  const annotations = { "volumes.kubernetes.io/controller-managed-attach-detach": "true" };
  await admin.object("POST", NODES, { metadata: { name, labels: { host: name, ...labels }, annotations } });
  await admin.patch("merge", `${NODES}/${name}/status`, {
    status: {
      allocatable: { cpu: "4", memory: "4Gi", pods: "10" },
      conditions: [{ type: "Ready", status: "True", reason: "KubeletReady" }],
    },
  });
  await admin.patch("merge", `${NODES}/${name}`, { spec: { taints: null } });
}

/** A pod for the scheduler that selects the node. */
const podFor = (host: string, name: string, volumes: readonly object[]) =>
  pod(name, {
    spec: {
      schedulerName: "default-scheduler",
      nodeSelector: { host },
      tolerations: [{ operator: "Exists" }],
      volumes,
    },
  });
const waitsFor = (words: string) => (object: KubeObject) => {
  const conditions: ReadonlyArray<{ message?: string }> = Object(object["status"]).conditions ?? [];
  return conditions.some(({ message = "" }) => message.includes(words));
};
const isOn = (node: string) => (object: KubeObject) => Object(object["spec"]).nodeName === node;

/** Waits by watching until the object is as wanted. */
async function until(client: ApiClient, path: string, isWanted: (object: KubeObject) => boolean): Promise<KubeObject> {
  const [collection = "", name = ""] = [path.slice(0, path.lastIndexOf("/")), path.slice(path.lastIndexOf("/") + 1)];
  const watch = await client.watch(collection, { fieldSelector: `metadata.name=${name}` });
  try {
    for (;;) {
      const { object } = await watch.next();
      if (isWanted(object)) return object;
    }
  } finally {
    watch.close();
  }
}
const phaseIs = (phase: string) => (object: KubeObject) => Object(object["status"]).phase === phase;

describe.each(apiServersUnderTest())("storage, on $name", (candidate) => {
  const server = useApiServer(candidate);
  /** Beside kube-apiserver alone there are no controllers that act on what is stored. */
  const itActs = it.skipIf(!candidate.isOurs);

  it("claims and volumes are made with protection and a phase", async () => {
    const namespace = await newNamespace(server.admin);
    const made = await server.admin.object("POST", claimsIn(namespace), {
      ...claim("data"),
      status: { phase: "Bound" },
    });
    expect(made).toMatchObject({
      metadata: { finalizers: ["kubernetes.io/pvc-protection"] },
      spec: { volumeMode: "Filesystem" },
      status: { phase: "Pending" },
    });
    expect(await server.admin.object("POST", VOLUMES, volume("protected"))).toMatchObject({
      metadata: { finalizers: ["kubernetes.io/pv-protection"] },
      spec: { persistentVolumeReclaimPolicy: "Retain", volumeMode: "Filesystem", hostPath: { type: "" } },
      status: { phase: "Pending" },
    });
  });

  it("refuses what no volume can be", async () => {
    const refused = async (spec: object) => {
      const { status, body } = await server.admin.json("POST", VOLUMES, volume("bad", spec));
      return [status, Object(body).details?.causes?.map(({ field }: { field: string }) => field)];
    };
    expect(await refused({ capacity: { storage: "0" } })).toEqual([422, ["spec.capacity[storage]"]]);
    expect(await refused({ nfs: { server: "s", path: "/" } })).toEqual([422, [expect.stringMatching(/^spec\./)]]);
    expect(await refused({ hostPath: undefined, local: { path: "/d" } })).toEqual([422, ["spec.nodeAffinity"]]);
    expect(await refused({ nodeAffinity: {} })).toEqual([422, ["spec.nodeAffinity.required"]]);
    expect(await refused({ hostPath: undefined, csi: { driver: "d", volumeHandle: "" } })).toEqual([
      422,
      ["spec.csi.volumeHandle"],
    ]);
  });

  it("refuses what no claim can be", async () => {
    const namespace = await newNamespace(server.admin);
    const refused = async (spec: object) => {
      const { status, body } = await server.admin.json("POST", claimsIn(namespace), claim("bad", spec));
      return [status, Object(body).details?.causes?.map(({ field }: { field: string }) => field)];
    };
    expect(await refused({ accessModes: [] })).toEqual([422, ["spec.accessModes"]]);
    expect(await refused({ resources: { requests: { storage: "0" } } })).toEqual([422, ["spec.resources[storage]"]]);
    expect(await refused({ resources: {} })).toEqual([422, ["spec.resources[storage]"]]);
    expect(await refused({ volumeMode: "Tape" })).toEqual([422, ["spec.volumeMode"]]);
  });

  it("keeps a volume where it is", async () => {
    await server.admin.object("POST", VOLUMES, volume("fixed"));
    const refused = async (spec: object) => {
      const { status, body } = await server.admin.patch("merge", `${VOLUMES}/fixed`, { spec });
      return [status, Object(body).details?.causes?.map(({ field }: { field: string }) => field)];
    };
    expect(await refused({ hostPath: { path: "/other" } })).toEqual([422, ["spec.persistentvolumesource"]]);
    expect(await refused({ volumeMode: "Block" })).toEqual([422, ["volumeMode"]]);
    expect(await refused({ persistentVolumeReclaimPolicy: "Delete" })).toEqual([200, undefined]);
  });

  /** A claim of the class that is bound: by the binder where there is one, else because the case says so. */
  const bindOfClass = async (path: string, storageClassName: string) => {
    const { admin } = server;
    const name = path.slice(path.lastIndexOf("/") + 1);
    await admin.object("POST", VOLUMES, volume(`grow-${name}`, { storageClassName }));
    await admin.object("POST", path.slice(0, -name.length - 1), claim(name, { storageClassName }));
    const bound = { status: { phase: "Bound", capacity: { storage: "1Gi" } } };
    if (candidate.isOurs) await until(admin, path, phaseIs("Bound"));
    else await admin.patch("merge", `${path}/status`, bound);
  };

  it.each([
    ["grows", true, 200],
    ["stays", false, 403],
  ])("lets a bound claim grow only where its class does: %s", async (name, allowVolumeExpansion, expected) => {
    const namespace = await newNamespace(server.admin);
    const provisioner = "kubernetes.io/no-provisioner";
    await server.admin.object("POST", CLASSES, { metadata: { name }, provisioner, allowVolumeExpansion });
    const path = `${claimsIn(namespace)}/${name}`;
    await bindOfClass(path, name);
    const resize = async (storage: string) => {
      return (await server.admin.patch("merge", path, { spec: { resources: { requests: { storage } } } })).status;
    };
    expect(await resize("2Gi")).toBe(expected);
    // What it has it keeps; and of what it wants it may want less again, since 1.32.
    expect(await resize("512Mi")).toBe(422);
    if (allowVolumeExpansion) expect(await resize("1536Mi")).toBe(server.minor >= 32 ? 200 : 422);
  });

  itActs("binds a claim to the smallest volume that fits, and keeps the volume when the claim goes", async () => {
    const { admin } = server;
    const namespace = await newNamespace(admin);
    const sizes = { "bind-large": "9Gi", "bind-small": "2Gi" };
    for (const [name, storage] of Object.entries(sizes)) {
      await admin.object("POST", VOLUMES, {
        ...volume(name, { capacity: { storage } }),
        metadata: { name, labels: { case: "bind" } },
      });
    }
    await admin.object("POST", claimsIn(namespace), claim("data", selecting("bind")));
    const bound = await until(admin, `${claimsIn(namespace)}/data`, phaseIs("Bound"));
    expect(bound).toMatchObject({
      metadata: {
        annotations: { "pv.kubernetes.io/bind-completed": "yes", "pv.kubernetes.io/bound-by-controller": "yes" },
      },
      spec: { volumeName: "bind-small" },
      status: { accessModes: ["ReadWriteOnce"], capacity: { storage: "2Gi" } },
    });
    const table = await admin.json("GET", `${claimsIn(namespace)}/data`, undefined, {
      headers: { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" },
    });
    expect(Object(table.body).rows[0].cells.slice(0, 7)).toEqual([
      "data",
      "Bound",
      "bind-small",
      "2Gi",
      "RWO",
      "",
      "<unset>",
    ]);
    await admin.json("DELETE", `${claimsIn(namespace)}/data`);
    expect(await until(admin, `${VOLUMES}/bind-small`, phaseIs("Released"))).toMatchObject({
      spec: { claimRef: { namespace, name: "data", uid: bound.metadata.uid } },
    });
  });

  itActs("keeps a claim while a pod uses it, and a volume while a claim does", async () => {
    const { admin } = server;
    const namespace = await newNamespace(admin);
    await admin.object("POST", VOLUMES, volume("used"));
    await admin.object("POST", claimsIn(namespace), claim("data", selecting("used")));
    await until(admin, `${claimsIn(namespace)}/data`, phaseIs("Bound"));
    const volumes = [{ name: "d", persistentVolumeClaim: { claimName: "data" } }];
    await admin.object("POST", pathsIn(namespace).pods, pod("user", { spec: { nodeName: "contract-none", volumes } }));
    await admin.json("DELETE", `${claimsIn(namespace)}/data`);
    await admin.json("DELETE", `${VOLUMES}/used`);
    for (const path of [`${claimsIn(namespace)}/data`, `${VOLUMES}/used`]) {
      expect(await admin.object("GET", path)).toMatchObject({ metadata: { deletionTimestamp: expect.any(String) } });
    }
    const gone = await admin.watch(VOLUMES, { fieldSelector: "metadata.name=used" });
    await admin.json("DELETE", `${pathsIn(namespace).pods}/user`, { gracePeriodSeconds: 0 });
    for (;;) if ((await gone.next()).type === "DELETED") break;
    gone.close();
    expect(await admin.json("GET", `${claimsIn(namespace)}/data`)).toMatchObject({ status: 404 });
  });

  itActs("makes the claim of an ephemeral volume, which goes with its pod", async () => {
    const { admin } = server;
    const namespace = await newNamespace(admin);
    const volumes = [{ name: "x", ephemeral: { volumeClaimTemplate: { spec: claim("").spec } } }];
    const made = await admin.object("POST", pathsIn(namespace).pods, pod("app", { spec: { volumes } }));
    const found = await until(admin, `${claimsIn(namespace)}/app-x`, () => true);
    expect(found.metadata.ownerReferences).toMatchObject([
      { kind: "Pod", name: "app", uid: made.metadata.uid, controller: true },
    ]);
    const gone = await admin.watch(claimsIn(namespace));
    await admin.json("DELETE", `${pathsIn(namespace).pods}/app`);
    for (;;) if ((await gone.next()).type === "DELETED") break;
    gone.close();
  });

  itActs("places a pod where a volume waits for it, and has that attached there", async () => {
    const { admin } = server;
    const namespace = await newNamespace(admin);
    const storageClassName = "contract-local";
    await admin.object("POST", CLASSES, {
      metadata: { name: storageClassName },
      provisioner: "kubernetes.io/no-provisioner",
      volumeBindingMode: "WaitForFirstConsumer",
    });
    for (const name of ["attach-a", "attach-b"]) await makeReadyNode(admin, name);
    const matchExpressions = [{ key: "host", operator: "In", values: ["attach-b"] }];
    const source = { hostPath: undefined, csi: { driver: DRIVER, volumeHandle: "h-1" } };
    const nodeAffinity = { required: { nodeSelectorTerms: [{ matchExpressions }] } };
    await admin.object("POST", VOLUMES, volume("attached", { ...source, storageClassName, nodeAffinity }));
    await admin.object("POST", claimsIn(namespace), claim("data", { storageClassName }));
    const volumes = [{ name: "d", persistentVolumeClaim: { claimName: "data" } }];
    const spec = { schedulerName: "default-scheduler", volumes, tolerations: [{ operator: "Exists" }] };
    await admin.object("POST", pathsIn(namespace).pods, pod("app", { spec }));
    await until(admin, `${pathsIn(namespace).pods}/app`, (object) => Object(object["spec"]).nodeName === "attach-b");

    const name = `csi-${createHash("sha256").update(`h-1${DRIVER}attach-b`).digest("hex")}`;
    const attachment = await until(admin, `${ATTACHMENTS}/${name}`, () => true);
    expect(attachment).toMatchObject({
      spec: { attacher: DRIVER, nodeName: "attach-b", source: { persistentVolumeName: "attached" } },
      status: { attached: false },
    });
    await admin.patch("merge", `${ATTACHMENTS}/${name}/status`, { status: { attached: true } });
    const listed = (object: KubeObject) => Object(object["status"]).volumesAttached?.length ?? 0;
    const node = await until(admin, `${NODES}/attach-b`, (object) => listed(object) === 1);
    expect(Object(node["status"]).volumesAttached).toEqual([
      { name: `kubernetes.io/csi/${DRIVER}^h-1`, devicePath: "" },
    ]);

    await admin.json("DELETE", `${pathsIn(namespace).pods}/app`, { gracePeriodSeconds: 0 });
    await until(admin, `${NODES}/attach-b`, (object) => listed(object) === 0);
  });

  itActs("keeps a pod waiting until its volume is in a zone of the node", async () => {
    const { admin } = server;
    const namespace = await newNamespace(admin);
    const zone = "topology.kubernetes.io/zone";
    await makeReadyNode(admin, "zone-a", { [zone]: "a" });
    const labels = { case: "zoned", [zone]: "b__c" };
    await admin.object("POST", VOLUMES, { ...volume("zoned"), metadata: { name: "zoned", labels } });
    await admin.object("POST", claimsIn(namespace), claim("data", selecting("zoned")));
    await until(admin, `${claimsIn(namespace)}/data`, phaseIs("Bound"));
    const volumes = [{ name: "d", persistentVolumeClaim: { claimName: "data" } }];
    const path = `${pathsIn(namespace).pods}/app`;
    await admin.object("POST", pathsIn(namespace).pods, podFor("zone-a", "app", volumes));
    await until(admin, path, waitsFor("1 node(s) had no available volume zone"));
    await admin.patch("merge", `${VOLUMES}/zoned`, { metadata: { labels: { [zone]: "b__a" } } });
    await until(admin, path, isOn("zone-a"));
  });

  itActs("keeps a pod waiting for a disk that another pod of the node has", async () => {
    const { admin } = server;
    const namespace = await newNamespace(admin);
    await makeReadyNode(admin, "disk-a");
    const { pods } = pathsIn(namespace);
    const volumes = [{ name: "d", gcePersistentDisk: { pdName: "contract" } }];
    await admin.object("POST", pods, podFor("disk-a", "first", volumes));
    await until(admin, `${pods}/first`, isOn("disk-a"));
    await admin.object("POST", pods, podFor("disk-a", "second", volumes));
    await until(admin, `${pods}/second`, waitsFor("1 node(s) had no available disk"));
    await admin.json("DELETE", `${pods}/first`, { gracePeriodSeconds: 0 });
    await until(admin, `${pods}/second`, isOn("disk-a"));
  });

  itActs("keeps a pod waiting until its driver has room for a volume on the node", async () => {
    const { admin } = server;
    const namespace = await newNamespace(admin);
    const driver = "room.csi.example.com";
    const storageClassName = "contract-room";
    await makeReadyNode(admin, "room-a");
    await admin.object("POST", `${STORAGE}/csidrivers`, {
      metadata: { name: driver },
      spec: { storageCapacity: true },
    });
    await admin.object("POST", CLASSES, {
      metadata: { name: storageClassName },
      provisioner: driver,
      volumeBindingMode: "WaitForFirstConsumer",
    });
    const capacities = `${STORAGE}/namespaces/${namespace}/csistoragecapacities`;
    const room = { storageClassName, nodeTopology: { matchLabels: { host: "room-a" } } };
    await admin.object("POST", capacities, { metadata: { name: "little" }, ...room, capacity: "512Mi" });
    await admin.object("POST", claimsIn(namespace), claim("data", { storageClassName }));
    const volumes = [{ name: "d", persistentVolumeClaim: { claimName: "data" } }];
    const path = `${pathsIn(namespace).pods}/app`;
    await admin.object("POST", pathsIn(namespace).pods, podFor("room-a", "app", volumes));
    await until(admin, path, waitsFor("1 node(s) did not have enough free storage"));
    await admin.patch("merge", `${capacities}/little`, { capacity: "2Gi" });
    await until(admin, `${claimsIn(namespace)}/data`, ({ metadata }) => {
      return metadata.annotations?.["volume.kubernetes.io/selected-node"] === "room-a";
    });
  });

  describe("as a node", () => {
    const as = (node: string) => ({
      headers: {
        "impersonate-user": `system:node:${node}`,
        "impersonate-group": ["system:nodes", "system:authenticated"],
      },
    });
    const status = async (node: string, ...[method, path, body]: [string, string, unknown?]) => {
      return (await server.admin.json(method, path, body, as(node))).status;
    };

    it("CSINodes are its own", async () => {
      const path = `${STORAGE}/csinodes`;
      const body = (name: string) => ({ metadata: { name }, spec: { drivers: [] } });
      expect(await status("n-own", "POST", path, body("n-other"))).toBe(403);
      expect(await status("n-own", "POST", path, body("n-own"))).toBe(201);
      expect(await status("n-own", "GET", `${path}/n-own`)).toBe(200);
      expect(await status("n-other", "GET", `${path}/n-own`)).toBe(403);
      const drivers = [{ name: DRIVER, nodeID: "id", topologyKeys: [] }];
      const own = await server.admin.object("GET", `${path}/n-own`);
      expect(await status("n-own", "PUT", `${path}/n-own`, changed(own, { spec: { drivers } }))).toBe(200);
      expect(await status("n-other", "DELETE", `${path}/n-own`)).toBe(403);
      expect(await status("n-own", "DELETE", `${path}/n-own`)).toBe(200);
    });

    it("drivers are read, and not written", async () => {
      expect(await status("n-own", "GET", `${STORAGE}/csidrivers`)).toBe(200);
      expect(await status("n-own", "POST", `${STORAGE}/csidrivers`, { metadata: { name: "d" }, spec: {} })).toBe(403);
    });

    it("claims, volumes and attachments are those of its pods", async () => {
      const { admin } = server;
      const namespace = await newNamespace(admin);
      const claims = claimsIn(namespace);
      const made = await admin.object("POST", claims, claim("data", { volumeName: "n-volume" }));
      const claimRef = { namespace, name: "data", uid: made.metadata.uid };
      await admin.object("POST", VOLUMES, volume("n-volume", { claimRef }));
      const volumes = [{ name: "d", persistentVolumeClaim: { claimName: "data" } }];
      await admin.object("POST", pathsIn(namespace).pods, pod("app", { spec: { nodeName: "n-own", volumes } }));
      const source = { persistentVolumeName: "n-volume" };
      await admin.object("POST", ATTACHMENTS, {
        metadata: { name: "n-attachment" },
        spec: { attacher: DRIVER, nodeName: "n-own", source },
      });
      const paths = [`${claims}/data`, `${VOLUMES}/n-volume`, `${ATTACHMENTS}/n-attachment`];
      for (const path of paths) {
        await expect.poll(() => status("n-own", "GET", path)).toBe(200);
        expect(await status("n-other", "GET", path)).toBe(403);
      }
      for (const path of [claims, VOLUMES, ATTACHMENTS]) expect(await status("n-own", "GET", path)).toBe(403);
      expect(await status("n-own", "DELETE", `${VOLUMES}/n-volume`)).toBe(403);
    });

    it("of a claim it says how far it has grown, and nothing else", async () => {
      const { admin } = server;
      const namespace = await newNamespace(admin);
      const path = `${claimsIn(namespace)}/data`;
      await admin.object("POST", claimsIn(namespace), claim("data", { volumeName: "n-grown" }));
      const volumes = [{ name: "d", persistentVolumeClaim: { claimName: "data" } }];
      await admin.object("POST", pathsIn(namespace).pods, pod("app", { spec: { nodeName: "n-own", volumes } }));
      await expect.poll(() => status("n-own", "GET", path)).toBe(200);
      const patch = async (node: string, target: string, body: object) =>
        (await admin.patch("merge", target, body, as(node))).status;
      const capacity = { status: { capacity: { storage: "2Gi" } } };
      expect(await patch("n-own", `${path}/status`, capacity)).toBe(200);
      expect(await patch("n-other", `${path}/status`, capacity)).toBe(403);
      expect(await patch("n-own", `${path}/status`, { status: { phase: "Lost" } })).toBe(403);
      expect(await patch("n-own", path, { metadata: { labels: { a: "b" } } })).toBe(403);
    });

    it("tokens are for the audiences that its pods' drivers ask for", async () => {
      const { admin } = server;
      const namespace = await newNamespace(admin);
      const driver = "tokens.csi.example.com";
      const tokenRequests = [{ audience: "vault" }];
      await admin.object("POST", `${STORAGE}/csidrivers`, {
        metadata: { name: driver },
        spec: { tokenRequests, volumeLifecycleModes: ["Ephemeral"] },
      });
      const volumes = [{ name: "d", csi: { driver } }];
      const made = await admin.object(
        "POST",
        pathsIn(namespace).pods,
        pod("app", { spec: { nodeName: "n-own", volumes } }),
      );
      const request = (audience: string) => ({
        spec: {
          audiences: [audience],
          boundObjectRef: { apiVersion: "v1", kind: "Pod", name: "app", uid: made.metadata.uid },
        },
      });
      const path = `${pathsIn(namespace).serviceAccounts}/default/token`;
      await expect.poll(() => status("n-own", "POST", path, request("vault"))).toBe(201);
      // Older servers let a node ask for a token for anybody.
      expect(await status("n-own", "POST", path, request("other"))).toBe(server.minor >= 33 ? 403 : 201);
      expect(await status("n-other", "POST", path, request("vault"))).toBe(403);
    });
  });
});
