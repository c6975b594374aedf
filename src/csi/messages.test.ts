import { expect, it } from "vitest";
import {
  NodeGetCapabilitiesResponse,
  NodeGetInfoResponse,
  NodeGetVolumeStatsResponse,
  NodePublishVolumeRequest,
} from "./gen/csi-v1.ts";
import {
  decodeNodeInfo,
  readCapabilities,
  readNewSize,
  readStats,
  writeExpandRequest,
  writePublishRequest,
} from "./messages.ts";
import type { CsiVolumeUse } from "./port.ts";

const use: CsiVolumeUse = {
  accessMode: "SINGLE_NODE_MULTI_WRITER",
  access: { kind: "mount", fsType: "ext4", mountFlags: ["noatime"], mountGroup: "2000" },
};
const publish = {
  volumeId: "v",
  publishContext: { devicePath: "/dev/x" },
  stagingPath: "/staging",
  targetPath: "/target",
  use,
  readOnly: true,
  secrets: { user: "u" },
  volumeContext: { share: "s" },
};

it("puts every field of a publish request on the wire", () => {
  const bytes = NodePublishVolumeRequest.encode(writePublishRequest(publish)).finish();
  expect(NodePublishVolumeRequest.decode(bytes)).toEqual({
    volumeId: "v",
    publishContext: { devicePath: "/dev/x" },
    stagingTargetPath: "/staging",
    targetPath: "/target",
    volumeCapability: {
      block: undefined,
      mount: { fsType: "ext4", mountFlags: ["noatime"], volumeMountGroup: "2000" },
      accessMode: { mode: 7 },
    },
    readonly: true,
    secrets: { user: "u" },
    volumeContext: { share: "s" },
  });
});

it("leaves out what there is not", () => {
  const { stagingTargetPath, volumeCapability } = writePublishRequest({
    ...publish,
    stagingPath: undefined,
    use: { accessMode: "SINGLE_NODE_WRITER", access: { kind: "block" } },
  });
  expect(stagingTargetPath).toBe("");
  expect(volumeCapability).toEqual({ block: {}, mount: undefined, accessMode: { mode: 1 } });
});

it("asks for at least so many bytes", () => {
  const { volumeId, secrets } = publish;
  const request = { volumeId, secrets, use, volumePath: "/target", stagingPath: undefined, requiredBytes: 2n ** 60n };
  expect(writeExpandRequest(request).capacityRange).toEqual({ requiredBytes: 2n ** 60n, limitBytes: 0n });
});

it.each([
  [0n, undefined],
  [-1n, undefined],
  [7n, 7n],
])("takes a limit of %s volumes for %s", (maxVolumesPerNode, maxVolumes) => {
  expect(decodeNodeInfo(NodeGetInfoResponse.fromPartial({ nodeId: "n", maxVolumesPerNode }))).toEqual({
    nodeId: "n",
    maxVolumes,
    topology: {},
  });
});

it.each([
  [0n, undefined],
  [5n, 5n],
])("takes a new size of %s for %s", (capacityBytes, size) => {
  expect(readNewSize({ capacityBytes })).toBe(size);
});

it("leaves out capabilities that it does not know", () => {
  const response = NodeGetCapabilitiesResponse.fromPartial({
    capabilities: [{ rpc: { type: 1 } }, { rpc: { type: 0 } }, {}, { rpc: { type: 6 } }],
  });
  expect([...readCapabilities(response)]).toEqual(["STAGE_UNSTAGE_VOLUME", "VOLUME_MOUNT_GROUP"]);
  // A driver of a later version of the specification: RPC type 99.
  const later = NodeGetCapabilitiesResponse.decode(new Uint8Array([0x0a, 0x04, 0x0a, 0x02, 0x08, 0x63]));
  expect(later.capabilities).toHaveLength(1);
  expect(readCapabilities(later).size).toBe(0);
});

it("reads statistics as they are, without those that cannot be", () => {
  const response = NodeGetVolumeStatsResponse.fromPartial({
    usage: [
      { unit: 1, available: -1n, total: 2n ** 62n, used: 3n },
      { unit: 1, available: 0n, total: 2n ** 63n - 1n, used: 2n ** 63n - 1n },
      { unit: 2, total: -(2n ** 63n) },
      { unit: 0, total: 1n },
    ],
    volumeCondition: { abnormal: true, message: "on fire" },
  });
  expect(readStats(response)).toEqual({
    usage: [
      { unit: "BYTES", available: 0n, total: 2n ** 63n - 1n, used: 2n ** 63n - 1n },
      { unit: "UNKNOWN", available: 0n, total: 1n, used: 0n },
    ],
    condition: { abnormal: true, message: "on fire" },
  });
  expect(readStats(NodeGetVolumeStatsResponse.fromPartial({}))).toEqual({ usage: [], condition: undefined });
});

it("cuts what a driver says about a volume's health", () => {
  const response = NodeGetVolumeStatsResponse.fromPartial({ volumeCondition: { message: "x".repeat(1_000_000) } });
  expect(readStats(response).condition?.message).toHaveLength(1024);
});
