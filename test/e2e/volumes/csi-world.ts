import { createHash } from "node:crypto";
import { join } from "node:path";
import type { Control } from "../csi-driver/control.ts";
import type { Call } from "../csi-driver/journal.ts";
import { type CsiDriverProcess, startCsiDriver } from "../csi-driver/start-csi-driver.ts";
import { type ClaimedVolume, createClaimed } from "./claims.ts";
import type { VolumeNode } from "./volume-node.ts";

/** A driver's process, with its CSIDriver object. */
export interface TestDriver extends Omit<CsiDriverProcess, "pid"> {
  /** The calls for a volume, by RPC, in their order; with repetitions. */
  callsFor(volumeId: string): Promise<string[]>;
  /** A persistent volume of it and its claim, bound; the volume's handle is its name. */
  claimed(name: string, more?: Partial<ClaimedVolume> & { csi?: object }): Promise<void>;
}

const STORAGE = "/apis/storage.k8s.io/v1";

/** Starts a driver where the node sees its mounts, and tells the cluster of it. Nothing is waited for. */
export async function startDriver(
  world: Pick<VolumeNode, "api" | "node" | "scratch">,
  name: string,
  options: { control?: Partial<Control>; spec?: object } = {},
): Promise<TestDriver> {
  const spec = { attachRequired: false, fsGroupPolicy: "File", volumeLifecycleModes: ["Persistent"], ...options.spec };
  await world.api.object("POST", `${STORAGE}/csidrivers`, {
    apiVersion: "storage.k8s.io/v1",
    kind: "CSIDriver",
    metadata: { name },
    spec,
  });
  const driver = await startCsiDriver({
    name,
    rootDirectory: join(world.node.directory, "kubelet"),
    directory: join(world.scratch, name),
    enterMountNamespace: world.node.containerd.enterMountNamespace,
    ...(options.control && { control: options.control }),
  });
  return {
    ...driver,
    async callsFor(volumeId: string) {
      const calls = (await driver.calls()).filter(({ request }) => request["volumeId"] === volumeId);
      return calls.filter(({ rpc }) => rpc !== "NodeGetVolumeStats").map(describeCall);
    },
    async claimed(volume: string, { csi = {}, ...more }: Partial<ClaimedVolume> & { csi?: object } = {}) {
      const source = { csi: { driver: name, volumeHandle: volume, ...csi } };
      await createClaimed(world, { name: volume, source, ...more });
    },
  };
}

/** The drivers that the node's CSINode lists. */
export async function registeredDrivers(world: Pick<VolumeNode, "api">): Promise<Array<Record<string, unknown>>> {
  const { status, body } = await world.api.json("GET", `${STORAGE}/csinodes/e2e`);
  const { spec }: { spec?: { drivers?: Array<Record<string, unknown>> | null } } = Object(status === 200 ? body : {});
  return spec?.drivers ?? [];
}

/** Where a volume of a driver is staged, as upstream names it. */
export function stagingPath(world: VolumeNode, driver: string, handle: string): string {
  const digest = createHash("sha256").update(handle).digest("hex");
  return join(world.node.directory, "kubelet/plugins/kubernetes.io/csi", driver, digest, "globalmount");
}

/** Where a pod finds a volume of a driver, as upstream names it. */
export function targetPath(world: VolumeNode, uid: string, specName: string): string {
  return join(world.podDirectory(uid), "volumes/kubernetes.io~csi", specName, "mount");
}

function describeCall({ rpc, outcome }: Call): string {
  return outcome === "ok" ? rpc : `${rpc} ${outcome ?? "unanswered"}`;
}
