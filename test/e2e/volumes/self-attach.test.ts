import { createHash } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { settlesOn } from "../cluster/settles.ts";
import { isRunning } from "../pods.ts";
import { ofClaim, removeClaimed } from "./claims.ts";
import { registeredDrivers, startDriver, type TestDriver } from "./csi-world.ts";
import { createVolumeNode, mountingPod, type VolumeNode } from "./volume-node.ts";

const DRIVER = "self.e2e.example.com";
const NAME = `kubernetes.io/csi/${DRIVER}^disk`;

let world: VolumeNode;
let driver: TestDriver;
beforeAll(async () => {
  world = await createVolumeNode({ configuration: { enableControllerAttachDetach: false } });
  await allowAttachments(world);
  driver = await startDriver(world, DRIVER, { spec: { attachRequired: true } });
  await settlesOn(1, async () => (await registeredDrivers(world)).length, 20_000);
});
afterAll(async () => {
  await driver?.stop({ cleanUp: true });
  await world?.destroy();
});

/** What nodes may do does not include it: who lets them attach volumes has to. */
async function allowAttachments({ api }: VolumeNode): Promise<void> {
  const apiVersion = "rbac.authorization.k8s.io/v1";
  const metadata = { name: "attaching-nodes" };
  await api.object("POST", `/apis/${apiVersion}/clusterroles`, {
    apiVersion,
    kind: "ClusterRole",
    metadata,
    rules: [{ apiGroups: ["storage.k8s.io"], resources: ["volumeattachments"], verbs: ["create", "delete"] }],
  });
  await api.object("POST", `/apis/${apiVersion}/clusterrolebindings`, {
    apiVersion,
    kind: "ClusterRoleBinding",
    metadata,
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: metadata.name },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "Group", name: "system:nodes" }],
  });
}

it("a node that attaches its volumes itself asks for that, says which are, and ends it", async () => {
  const path = `/apis/storage.k8s.io/v1/volumeattachments/csi-${createHash("sha256").update(`disk${DRIVER}e2e`).digest("hex")}`;
  const attached = async () => (await world.nodeObject()).status?.volumesAttached ?? [];
  await driver.claimed("disk");
  await world.create(mountingPod("disk", { volumes: { v: ofClaim("disk") } }));
  await settlesOn(200, async () => (await world.api.json("GET", path)).status, 20_000);
  expect(await attached()).toEqual([]);
  // As the driver's attacher does, which runs elsewhere.
  expect((await world.api.patch("merge", `${path}/status`, { status: { attached: true } })).status).toBe(200);
  await world.pod("disk", isRunning, 20_000);
  await settlesOn([{ name: NAME, devicePath: "" }], attached, 20_000);
  expect(await world.end("disk")).toEqual([]);
  await settlesOn([], attached, 20_000);
  await settlesOn(404, async () => (await world.api.json("GET", path)).status, 20_000);
  await removeClaimed(world, "disk");
});
