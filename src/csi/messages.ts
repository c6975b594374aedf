import {
  type NodeExpandVolumeRequest,
  type NodeExpandVolumeResponse,
  type NodeGetCapabilitiesResponse,
  type NodeGetInfoResponse,
  type NodeGetVolumeStatsResponse,
  type NodePublishVolumeRequest,
  NodeServiceCapability_RPC_Type,
  type NodeStageVolumeRequest,
  type VolumeCapability,
  VolumeCapability_AccessMode_Mode,
  VolumeUsage_Unit,
} from "./gen/csi-v1.ts";
import type {
  CsiExpandRequest,
  CsiNodeCapability,
  CsiNodeInfo,
  CsiPublishRequest,
  CsiStageRequest,
  CsiVolumeStats,
  CsiVolumeUse,
} from "./port.ts";

/** The message of a request to stage. */
export function writeStageRequest(request: CsiStageRequest): NodeStageVolumeRequest {
  return {
    volumeId: request.volumeId,
    publishContext: { ...request.publishContext },
    stagingTargetPath: request.stagingPath,
    volumeCapability: writeUse(request.use),
    secrets: { ...request.secrets },
    volumeContext: { ...request.volumeContext },
  };
}

/** The message of a request to publish. */
export function writePublishRequest(request: CsiPublishRequest): NodePublishVolumeRequest {
  return {
    volumeId: request.volumeId,
    publishContext: { ...request.publishContext },
    stagingTargetPath: request.stagingPath ?? "",
    targetPath: request.targetPath,
    volumeCapability: writeUse(request.use),
    readonly: request.readOnly,
    secrets: { ...request.secrets },
    volumeContext: { ...request.volumeContext },
  };
}

/** The message of a request to expand: at least `requiredBytes`, without an upper limit. */
export function writeExpandRequest(request: CsiExpandRequest): NodeExpandVolumeRequest {
  return {
    volumeId: request.volumeId,
    volumePath: request.volumePath,
    capacityRange: { requiredBytes: request.requiredBytes, limitBytes: 0n },
    stagingTargetPath: request.stagingPath ?? "",
    volumeCapability: writeUse(request.use),
    secrets: { ...request.secrets },
  };
}

function writeUse({ access, accessMode }: CsiVolumeUse): VolumeCapability {
  const isMount = access.kind === "mount";
  return {
    block: isMount ? undefined : {},
    mount: isMount
      ? { fsType: access.fsType, mountFlags: [...access.mountFlags], volumeMountGroup: access.mountGroup ?? "" }
      : undefined,
    accessMode: { mode: VolumeCapability_AccessMode_Mode[accessMode] },
  };
}

/** Decodes the driver's answer about the node. As upstream has it, a limit that is not positive means none. */
export function decodeNodeInfo(response: NodeGetInfoResponse): CsiNodeInfo {
  const { nodeId, maxVolumesPerNode, accessibleTopology } = response;
  return {
    nodeId,
    maxVolumes: maxVolumesPerNode > 0n ? maxVolumesPerNode : undefined,
    topology: { ...accessibleTopology?.segments },
  };
}

const CAPABILITY_NAMES = new Map<number, CsiNodeCapability>([
  [NodeServiceCapability_RPC_Type.STAGE_UNSTAGE_VOLUME, "STAGE_UNSTAGE_VOLUME"],
  [NodeServiceCapability_RPC_Type.GET_VOLUME_STATS, "GET_VOLUME_STATS"],
  [NodeServiceCapability_RPC_Type.EXPAND_VOLUME, "EXPAND_VOLUME"],
  [NodeServiceCapability_RPC_Type.VOLUME_CONDITION, "VOLUME_CONDITION"],
  [NodeServiceCapability_RPC_Type.SINGLE_NODE_MULTI_WRITER, "SINGLE_NODE_MULTI_WRITER"],
  [NodeServiceCapability_RPC_Type.VOLUME_MOUNT_GROUP, "VOLUME_MOUNT_GROUP"],
]);

/** Returns the known capabilities; a newer driver may have more. */
export function readCapabilities({ capabilities }: NodeGetCapabilitiesResponse): ReadonlySet<CsiNodeCapability> {
  const names = capabilities.map(({ rpc }) => (rpc === undefined ? undefined : CAPABILITY_NAMES.get(rpc.type)));
  return new Set(names.filter((name) => name !== undefined));
}

/** Returns the size after an expansion; undefined where the driver leaves it out, which reads as zero. */
export function readNewSize({ capacityBytes }: NodeExpandVolumeResponse): bigint | undefined {
  return capacityBytes > 0n ? capacityBytes : undefined;
}

/** A longer message of a driver about a volume's health is cut. */
const MAX_CONDITION_LENGTH = 1024;

/**
 * Returns how full a volume is, and its health. Negative numbers, which the specification forbids, are left out: Go's
 * clients cannot read them, and then read none of the node's statistics.
 */
export function readStats({ usage, volumeCondition }: NodeGetVolumeStatsResponse): CsiVolumeStats {
  const possible = usage.filter(({ available, total, used }) => available >= 0n && total >= 0n && used >= 0n);
  const message = volumeCondition?.message.slice(0, MAX_CONDITION_LENGTH) ?? "";
  return {
    usage: possible.map(({ available, total, used, unit }) => ({ unit: readUnit(unit), available, total, used })),
    condition: volumeCondition && { abnormal: volumeCondition.abnormal, message },
  };
}

function readUnit(unit: VolumeUsage_Unit): CsiVolumeStats["usage"][number]["unit"] {
  if (unit === VolumeUsage_Unit.BYTES) return "BYTES";
  return unit === VolumeUsage_Unit.INODES ? "INODES" : "UNKNOWN";
}
