import type { CallOptions } from "../../grpc/port.ts";
import { implement, type ServedService } from "../../grpc/served-service.ts";
import {
  IdentityDefinition,
  NodeDefinition,
  type NodeExpandVolumeRequest,
  NodeServiceCapability_RPC_Type,
  PluginCapability_Service_Type,
  type VolumeCapability,
  VolumeCapability_AccessMode_Mode,
  VolumeUsage_Unit,
} from "../gen/csi-v1.ts";
import type { CsiNode, CsiVolumeUse } from "../port.ts";
import { refusal } from "./refusal.ts";

/** The operations of a driver, as its clients see them. Of the call's options only the signal is passed. */
export type CsiDriverServices = Omit<CsiNode, "close">;

/**
 * Serves a driver's Identity and Node services. Requests that lack what the specification requires are refused here as
 * `invalid-argument`. An error that the driver throws is answered with its code and message.
 */
export function createCsiServices(driver: CsiDriverServices): readonly ServedService[] {
  return [createIdentityService(driver), createNodeService(driver)];
}

function createIdentityService(driver: CsiDriverServices): ServedService {
  return implement(IdentityDefinition, {
    async getPluginInfo(_request, call) {
      const { name, version } = await driver.pluginInfo(call);
      return { name, vendorVersion: version, manifest: {} };
    },
    async getPluginCapabilities(_request, call) {
      const { topology } = await driver.info(call);
      const type = PluginCapability_Service_Type.VOLUME_ACCESSIBILITY_CONSTRAINTS;
      const hasTopology = Object.keys(topology).length > 0;
      return { capabilities: hasTopology ? [{ service: { type }, volumeExpansion: undefined }] : [] };
    },
    probe: () => ({ ready: true }),
  });
}

function createNodeService(driver: CsiDriverServices): ServedService {
  return implement(NodeDefinition, {
    async nodeStageVolume(request, call) {
      const { volumeId, stagingTargetPath: stagingPath, publishContext, secrets, volumeContext } = request;
      requireAll({ "volume ID": volumeId, "staging target path": stagingPath });
      const use = readUse(request.volumeCapability);
      await driver.stage({ volumeId, stagingPath, use, publishContext, secrets, volumeContext }, call);
      return {};
    },
    async nodeUnstageVolume({ volumeId, stagingTargetPath: stagingPath }, call) {
      requireAll({ "volume ID": volumeId, "staging target path": stagingPath });
      await driver.unstage({ volumeId, stagingPath }, call);
      return {};
    },
    async nodePublishVolume(request, call) {
      const { volumeId, targetPath, publishContext, secrets, volumeContext, readonly: readOnly } = request;
      requireAll({ "volume ID": volumeId, "target path": targetPath });
      const use = readUse(request.volumeCapability);
      const stagingPath = request.stagingTargetPath || undefined;
      const rest = { publishContext, secrets, volumeContext, readOnly };
      await driver.publish({ volumeId, targetPath, stagingPath, use, ...rest }, call);
      return {};
    },
    async nodeUnpublishVolume({ volumeId, targetPath }, call) {
      requireAll({ "volume ID": volumeId, "target path": targetPath });
      await driver.unpublish({ volumeId, targetPath }, call);
      return {};
    },
    nodeExpandVolume: async (request, call) => await expand(driver, request, call),
    async nodeGetVolumeStats({ volumeId, volumePath, stagingTargetPath }, call) {
      requireAll({ "volume ID": volumeId, "volume path": volumePath });
      const stagingPath = stagingTargetPath || undefined;
      const { usage, condition } = await driver.stats({ volumeId, volumePath, stagingPath }, call);
      return {
        usage: usage.map(({ unit, ...amounts }) => ({ ...amounts, unit: VolumeUsage_Unit[unit] })),
        volumeCondition: condition && { ...condition },
      };
    },
    async nodeGetCapabilities(_request, call) {
      const names = [...(await driver.capabilities(call))];
      return { capabilities: names.map((name) => ({ rpc: { type: NodeServiceCapability_RPC_Type[name] } })) };
    },
    async nodeGetInfo(_request, call) {
      const { nodeId, maxVolumes = 0n, topology } = await driver.info(call);
      const hasTopology = Object.keys(topology).length > 0;
      return {
        nodeId,
        maxVolumesPerNode: maxVolumes,
        accessibleTopology: hasTopology ? { segments: { ...topology } } : undefined,
      };
    },
  });
}

async function expand(driver: CsiDriverServices, request: NodeExpandVolumeRequest, call: CallOptions) {
  const { volumeId, volumePath, stagingTargetPath, secrets, volumeCapability } = request;
  requireAll({ "volume ID": volumeId, "volume path": volumePath });
  const requiredBytes = request.capacityRange?.requiredBytes ?? 0n;
  const use = readUse(volumeCapability);
  const stagingPath = stagingTargetPath || undefined;
  const newSize = await driver.expand({ volumeId, volumePath, stagingPath, requiredBytes, use, secrets }, call);
  return { capacityBytes: newSize ?? 0n };
}

function requireAll(fields: Readonly<Record<string, string>>): void {
  const missing = Object.keys(fields).find((name) => fields[name] === "");
  if (missing !== undefined) throw refusal("invalid-argument", `${missing} missing in request`);
}

const ACCESS_MODES = new Map<number, CsiVolumeUse["accessMode"]>([
  [VolumeCapability_AccessMode_Mode.SINGLE_NODE_WRITER, "SINGLE_NODE_WRITER"],
  [VolumeCapability_AccessMode_Mode.SINGLE_NODE_READER_ONLY, "SINGLE_NODE_READER_ONLY"],
  [VolumeCapability_AccessMode_Mode.MULTI_NODE_READER_ONLY, "MULTI_NODE_READER_ONLY"],
  [VolumeCapability_AccessMode_Mode.MULTI_NODE_SINGLE_WRITER, "MULTI_NODE_SINGLE_WRITER"],
  [VolumeCapability_AccessMode_Mode.MULTI_NODE_MULTI_WRITER, "MULTI_NODE_MULTI_WRITER"],
  [VolumeCapability_AccessMode_Mode.SINGLE_NODE_SINGLE_WRITER, "SINGLE_NODE_SINGLE_WRITER"],
  [VolumeCapability_AccessMode_Mode.SINGLE_NODE_MULTI_WRITER, "SINGLE_NODE_MULTI_WRITER"],
]);

function readUse(capability: VolumeCapability | undefined): CsiVolumeUse {
  const accessMode = ACCESS_MODES.get(capability?.accessMode?.mode ?? 0);
  if (accessMode === undefined) throw refusal("invalid-argument", "volume capability missing in request");
  if (capability?.block !== undefined) return { accessMode, access: { kind: "block" } };
  if (capability?.mount === undefined) throw refusal("invalid-argument", "access type missing in request");
  const { fsType, mountFlags, volumeMountGroup } = capability.mount;
  return { accessMode, access: { kind: "mount", fsType, mountFlags, mountGroup: volumeMountGroup || undefined } };
}
