import type { CsiNodeCapability, CsiVolumeStats } from "../port.ts";
import { type FakeVolumeMounts, mountPublished, mountStaged, unmountPath } from "./fake-volume-mounts.ts";
import { refusal } from "./refusal.ts";
import type { CsiDriverServices } from "./serve-csi.ts";
import {
  isEphemeral,
  judgePath,
  judgePublish,
  judgeStage,
  judgeUnpublish,
  judgeUnstage,
  type PublishedVolume,
  publishedBy,
  requireCapability,
  type StagedVolume,
  stagedBy,
} from "./volume-ledger.ts";

/** A volume somewhere behind the driver. */
export interface FakeVolume {
  /** Default 1 GiB. */
  capacityBytes: bigint;
  /** The health that the driver reports for it, where it has VOLUME_CONDITION. */
  condition: CsiVolumeStats["condition"];
  /** An expansion beyond this size is `out-of-range`. */
  maxCapacityBytes: bigint | undefined;
}

/** The driver's description of itself; tests may change it while it runs. */
export interface FakeCsiIdentity {
  name: string;
  version: string;
  nodeId: string;
  maxVolumes: bigint | undefined;
  topology: Readonly<Record<string, string>>;
  capabilities: ReadonlySet<CsiNodeCapability>;
}

/** The state and the behaviour of a fake driver, without its connections. */
interface FakeDriver {
  readonly driver: CsiDriverServices;
  readonly ledger: { staged: Map<string, StagedVolume>; published: Map<string, PublishedVolume> };
  /** Forgets everything, as after a start of the machine. */
  forgetAll(): void;
}

/** Volumes are made with `volumes.set`; inline ones make themselves. */
export function createFakeDriver(deps: {
  identity: FakeCsiIdentity;
  volumes: Map<string, FakeVolume>;
  mounts: FakeVolumeMounts | undefined;
}): FakeDriver {
  const { identity, volumes, mounts } = deps;
  const ledger: FakeDriver["ledger"] = { staged: new Map(), published: new Map() };
  /** Volumes that are removed when they are unpublished. */
  const ephemeral = new Set<string>();
  const find = (volumeId: string): FakeVolume => {
    const volume = volumes.get(volumeId);
    if (volume === undefined) throw refusal("not-found", `volume ${volumeId} does not exist`);
    return volume;
  };
  const driver: CsiDriverServices = {
    pluginInfo: async () => ({ name: identity.name, version: identity.version }),
    info: async () => ({ nodeId: identity.nodeId, maxVolumes: identity.maxVolumes, topology: identity.topology }),
    capabilities: async () => identity.capabilities,

    async stage(request) {
      find(request.volumeId);
      if (judgeStage(ledger, request, identity.capabilities) === "done") return;
      if (mounts) await mountStaged(mounts, request);
      ledger.staged.set(request.stagingPath, stagedBy(request));
    },
    async unstage(request) {
      if (judgeUnstage(ledger, request, identity.capabilities) === "done") return;
      if (mounts) await unmountPath(mounts, request.stagingPath, { remove: "nothing" });
      ledger.staged.delete(request.stagingPath);
    },
    async publish(request) {
      if (isEphemeral(request) && !volumes.has(request.volumeId)) volumes.set(request.volumeId, newFakeVolume());
      find(request.volumeId);
      if (judgePublish(ledger, request, identity.capabilities) === "done") return;
      if (mounts) await mountPublished(mounts, request);
      ledger.published.set(request.targetPath, publishedBy(request));
      if (isEphemeral(request)) ephemeral.add(request.volumeId);
    },
    async unpublish(request) {
      if (judgeUnpublish(ledger, request) === "done") return;
      const isBlock = ledger.published.get(request.targetPath)?.use.access.kind === "block";
      if (mounts) await unmountPath(mounts, request.targetPath, { remove: isBlock ? "file" : "directory" });
      ledger.published.delete(request.targetPath);
      if (ephemeral.delete(request.volumeId)) volumes.delete(request.volumeId);
    },

    async expand({ volumeId, volumePath, requiredBytes }) {
      requireCapability(identity.capabilities, "EXPAND_VOLUME");
      const volume = find(volumeId);
      judgePath(ledger, volumeId, volumePath);
      if (volume.maxCapacityBytes !== undefined && requiredBytes > volume.maxCapacityBytes) {
        throw refusal("out-of-range", `volume ${volumeId} cannot have ${requiredBytes} bytes`);
      }
      if (requiredBytes > volume.capacityBytes) volume.capacityBytes = requiredBytes;
      return volume.capacityBytes;
    },
    async stats({ volumeId, volumePath }) {
      requireCapability(identity.capabilities, "GET_VOLUME_STATS");
      const { capacityBytes, condition } = find(volumeId);
      judgePath(ledger, volumeId, volumePath);
      return {
        usage: [
          { unit: "BYTES", available: capacityBytes, total: capacityBytes, used: 0n },
          { unit: "INODES", available: INODES, total: INODES, used: 0n },
        ],
        condition: identity.capabilities.has("VOLUME_CONDITION")
          ? (condition ?? { abnormal: false, message: "" })
          : undefined,
      };
    },
  };
  return {
    driver,
    ledger,
    forgetAll() {
      ledger.staged.clear();
      ledger.published.clear();
    },
  };
}

const INODES = 65_536n;
const GIB = 1024n ** 3n;

/** Makes a volume, with the usual value for each field that is not given. */
export function newFakeVolume(volume: Partial<FakeVolume> = {}): FakeVolume {
  return { capacityBytes: GIB, condition: undefined, maxCapacityBytes: undefined, ...volume };
}
