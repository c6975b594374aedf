import { ApiError } from "../../../../../api/api-error.ts";
import { attachmentName } from "../../../../../api/csi-volumes.ts";
import type {
  CSIDriver,
  CSIDriverSpec,
  PersistentVolume,
  PersistentVolumeClaim,
  PersistentVolumeClaimStatus,
  PersistentVolumeSpec,
  Pod,
  Secret,
  VolumeAttachment,
} from "../../../../../api/gen/types.ts";
import { silentLog } from "../../../../../base/log.ts";
import { createFakeCsi, type FakeCsi, type FakeCsiOptions } from "../../../../../csi/fake/create-fake-csi.ts";
import type { CsiDriver } from "../../../../../csi/port.ts";
import { createFakeHost, type FakeHost } from "../../../../../host/fake/create-fake-host.ts";
import { volumeDirectories } from "../../volume-directories.ts";
import type { ReadyVolume, VolumePlace, VolumeSource } from "../../volume-plugin.ts";
import { type CsiPlugin, createCsiPlugin } from "../csi-plugin.ts";
import type { CsiEvent, CsiPluginDeps, CsiPluginOptions } from "../csi-ports.ts";

export const ROOT = "/var/lib/kubelet";
export const DRIVER = "csi.example.com";
const NODE = "node-1";

/** The cluster around a plugin, with everything at hand to look at and to change. */
export interface CsiRig {
  readonly host: FakeHost;
  readonly csi: FakeCsi;
  readonly deps: CsiPluginDeps;
  readonly events: CsiEvent[];
  /** What was reported as in use, list by list. */
  readonly reports: (readonly string[])[];
  readonly secrets: Map<string, Secret>;
  readonly attachments: Map<string, VolumeAttachment>;
  readonly claimStatuses: PersistentVolumeClaimStatus[];
  /** Undefined: the driver has no object. */
  driverSpec: CSIDriverSpec | undefined;
  nodeVolumesAttached: readonly string[] | undefined;
  isRegistered: boolean;
  plugin(options?: Partial<CsiPluginOptions>, deps?: Partial<CsiPluginDeps>): CsiPlugin;
}

/**
 * By default: a driver that stages and needs no attachment, with the volumes `vol-1` and `vol-2`. `isMounting`: what it
 * stages and publishes is mounted, for all to see; default true.
 */
export function createCsiRig({
  isMounting = true,
  ...options
}: Partial<FakeCsiOptions> & { isMounting?: boolean } = {}): CsiRig {
  const host = createFakeHost();
  const csi = createFakeCsi({
    clock: host.clock,
    name: DRIVER,
    volumes: { "vol-1": {}, "vol-2": {} },
    ...(isMounting && { mounts: { files: host.files, mounts: host.mounts, dataDirectory: "/disks" } }),
    ...options,
  });
  const node = csi.connect();
  const events: CsiEvent[] = [];
  const reports: (readonly string[])[] = [];
  const secrets = new Map<string, Secret>();
  const attachments = new Map<string, VolumeAttachment>();
  const claimStatuses: PersistentVolumeClaimStatus[] = [];
  const missing = (name: string) => new ApiError("NotFound", `"${name}" not found`);
  const deps: CsiPluginDeps = {
    objects: {
      csiDriver: async (name) => (rig.driverSpec ? driverObject(name, rig.driverSpec) : undefined),
      secret: async (namespace, name) => {
        const secret = secrets.get(`${namespace}/${name}`);
        if (!secret) throw missing(name);
        return secret;
      },
      token: async ({ audiences, pod }) => ({ token: `token-of-${pod.uid}-for-${audiences.join()}`, expiresAt: 0 }),
      volumeAttachment: async (name) => {
        const attachment = attachments.get(name);
        if (!attachment) throw missing(name);
        return attachment;
      },
      createVolumeAttachment: async (attachment) => {
        const name = attachment.metadata?.name ?? "";
        if (!attachments.has(name)) attachments.set(name, attachment);
      },
      deleteVolumeAttachment: async (name) => void attachments.delete(name),
      nodeVolumesAttached: async () => rig.nodeVolumesAttached,
      updateClaimStatus: async (claim, status) => {
        claimStatuses.push(status);
        return { ...claim, status };
      },
    },
    drivers: { get: (name) => (rig.isRegistered && name === csi.identity.name ? registered(csi, node) : undefined) },
    files: host.files,
    mounts: host.mounts,
    clock: host.clock,
    inUse: { report: async (names) => void reports.push(names) },
    onEvent: (_pod, event) => void events.push(event),
    log: silentLog,
  };
  const rig: CsiRig = {
    host,
    csi,
    deps,
    events,
    reports,
    secrets,
    attachments,
    claimStatuses,
    driverSpec: { attachRequired: false },
    nodeVolumesAttached: undefined,
    isRegistered: true,
    plugin: (changes = {}, others = {}) =>
      createCsiPlugin(
        { ...deps, ...others },
        {
          rootDirectory: ROOT,
          nodeName: NODE,
          enableControllerAttachDetach: true,
          seLinuxEnabled: false,
          ...changes,
        },
      ),
  };
  return rig;
}

function driverObject(name: string, spec: CSIDriverSpec): CSIDriver {
  return { metadata: { name }, spec };
}

function registered({ identity }: FakeCsi, node: CsiDriver["node"]): CsiDriver {
  const { name, nodeId, maxVolumes, topology, capabilities } = identity;
  return { name, node, nodeInfo: { nodeId, maxVolumes, topology }, capabilities };
}

/** A pod whose one container mounts the volume `data`. */
export function podOf(uid: string, spec: Partial<NonNullable<Pod["spec"]>> = {}): Pod {
  const containers = [{ name: "main", volumeMounts: [{ name: "data", mountPath: "/data" }] }];
  return {
    metadata: { uid, name: `pod-${uid}`, namespace: "default" },
    spec: { containers, serviceAccountName: "builder", ...spec },
  };
}

export type VolumeChanges = Partial<Omit<PersistentVolumeSpec, "csi">> & {
  readonly csi?: Partial<NonNullable<PersistentVolumeSpec["csi"]>>;
};

/** The persistent volume `pv-N` with the handle `vol-N`, and its claim. */
export function persistent(
  number: number,
  changes: VolumeChanges = {},
  options: { readOnly?: boolean; status?: PersistentVolumeClaimStatus } = {},
): VolumeSource {
  const persistentVolume: PersistentVolume = {
    metadata: { name: `pv-${number}` },
    spec: {
      accessModes: ["ReadWriteOnce"],
      capacity: { storage: "1Gi" },
      ...changes,
      csi: { driver: DRIVER, volumeHandle: `vol-${number}`, fsType: "ext4", ...changes.csi },
    },
  };
  const claim: PersistentVolumeClaim = {
    metadata: { name: `claim-${number}`, namespace: "default" },
    status: options.status ?? { capacity: { storage: "1Gi" } },
  };
  return { kind: "persistent", persistentVolume, claim, readOnly: options.readOnly === true };
}

export function inline(csi: Record<string, unknown> = {}): VolumeSource {
  return { kind: "pod", volume: { name: "data", csi: { driver: DRIVER, ...csi } } };
}

/** What the pod gets. */
export async function setUp(
  plugin: CsiPlugin,
  pod: Pod,
  source: VolumeSource,
  signal: AbortSignal = new AbortController().signal,
): Promise<ReadyVolume> {
  const directories = volumeDirectories(ROOT, pod.metadata?.uid ?? "");
  const { volume, finished } = await plugin.setUp({ pod, volumeName: "data", source, directories, signal });
  await finished;
  return volume;
}

/** All that the disk tells of the pod's volumes, as the pods' own tear-down finds it. */
export async function tearDownPod(plugin: CsiPlugin, { files }: FakeHost, podUid: string): Promise<void> {
  plugin.forget?.(podUid);
  for (const place of await findPlaces(files, podUid)) await plugin.tearDown?.(place);
}

async function findPlaces(files: FakeHost["files"], podUid: string): Promise<VolumePlace[]> {
  const { volumes, devices } = volumeDirectories(ROOT, podUid);
  const places: VolumePlace[] = [];
  for (const [kind, above] of [["files", volumes] as const, ["device", devices] as const]) {
    const root = `${above}/kubernetes.io~csi`;
    if ((await files.stat(root)) === undefined) continue;
    for (const { name } of await files.list(root)) {
      places.push({ podUid, kind, directoryName: name, path: `${root}/${name}` });
    }
  }
  return places;
}

/** Unstages what nobody uses, and stops. */
export async function sweep(plugin: CsiPlugin, { clock }: FakeHost, ms = 0): Promise<void> {
  const controller = new AbortController();
  const running = plugin.run(controller.signal);
  await clock.advance(ms);
  controller.abort();
  await clock.settle();
  await running;
}

/** Every file, link and mount of kubelet's volumes; its empty directories are nobody's business. */
export async function listLeft({ files, mounts }: FakeHost): Promise<string[]> {
  const left: string[] = mounts.mounted().flatMap(({ path }) => (path.startsWith(ROOT) ? [`mount ${path}`] : []));
  const walk = async (directory: string): Promise<void> => {
    for (const { name, type } of await files.list(directory)) {
      const path = `${directory}/${name}`;
      if (type === "directory") await walk(path);
      else left.push(`${type} ${path}`);
    }
  };
  if ((await files.stat(ROOT)) !== undefined) await walk(ROOT);
  return left.map((line) => line.replace(`${ROOT}/`, "")).sort();
}

/** Says that the controller has attached the volume, or what has become of that. */
export function putAttachment(rig: CsiRig, handle: string, status: VolumeAttachment["status"]): VolumeAttachment {
  const name = attachmentName({ driver: DRIVER, volumeHandle: handle }, NODE);
  const attachment: VolumeAttachment = {
    metadata: { name },
    spec: { attacher: DRIVER, nodeName: NODE, source: { persistentVolumeName: "pv-1" } },
    ...(status !== undefined && { status }),
  };
  rig.attachments.set(name, attachment);
  return attachment;
}

/** `rpc outcome`, in order. */
export function callsOf({ calls }: FakeCsi): string[] {
  return calls.map(({ rpc, outcome }) => `${rpc.replace(/^Node|Volume$/g, "")} ${outcome}`);
}
