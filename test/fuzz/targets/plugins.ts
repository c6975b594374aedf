import { CodedError } from "../../../src/base/errors.ts";
import { silentLog } from "../../../src/base/log.ts";
import { connectCsi } from "../../../src/csi/connect.ts";
import * as csi from "../../../src/csi/gen/csi-v1.ts";
import { registerPlugin } from "../../../src/node/storage/plugins/register-plugin.ts";
import { connectPluginRegistration } from "../../../src/plugin-registration/connect.ts";
import * as registration from "../../../src/plugin-registration/gen/plugin-registration-v1.ts";
import type { Target } from "../target.ts";
import { createGrpcPeer } from "./grpc-peer.ts";
import { PART, partsOf } from "./parts.ts";

const METHODS = [
  "GetInfo",
  "NodeGetInfo",
  "NodeGetCapabilities",
  "NodeGetVolumeStats",
  "NodeExpandVolume",
  "GetPluginInfo",
];
const ANSWERS = [
  registration.PluginInfo.encode(
    registration.PluginInfo.fromPartial({
      type: "CSIPlugin",
      name: "a.csi",
      endpoint: "/a.sock",
      supportedVersions: ["1.0.0"],
    }),
  ),
  csi.NodeGetInfoResponse.encode(
    csi.NodeGetInfoResponse.fromPartial({
      nodeId: "n",
      maxVolumesPerNode: 5n,
      accessibleTopology: { segments: { zone: "a" } },
    }),
  ),
  csi.NodeGetCapabilitiesResponse.encode(
    csi.NodeGetCapabilitiesResponse.fromPartial({ capabilities: [{ rpc: { type: 1 } }] }),
  ),
  csi.NodeGetVolumeStatsResponse.encode(
    csi.NodeGetVolumeStatsResponse.fromPartial({
      usage: [{ available: 1n, total: 2n, used: 1n, unit: 1 }],
      volumeCondition: { abnormal: true, message: "m" },
    }),
  ),
  csi.NodeExpandVolumeResponse.encode(csi.NodeExpandVolumeResponse.fromPartial({ capacityBytes: 7n })),
  csi.GetPluginInfoResponse.encode(csi.GetPluginInfoResponse.fromPartial({ name: "a.csi", vendorVersion: "1" })),
].map((message) => Buffer.from(message.finish()));

/** A plugin that answers anything: its registration, and a storage driver's node service, over real connections. */
export const pluginsTarget: Target = {
  name: "plugins",
  runs: 32,
  seeds: [Buffer.concat(ANSWERS.flatMap((answer, index) => (index === 0 ? [answer] : [Buffer.from(PART), answer])))],
  words: [
    "CSIPlugin",
    "DevicePlugin",
    "1.0.0",
    "v1beta1",
    "../",
    "\n\0",
    Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]),
  ],
  maxBytes: 32 * 1024,
  batch: 16,
  setUp: async () => {
    const peer = await createGrpcPeer([
      registration.RegistrationDefinition,
      csi.IdentityDefinition,
      csi.NodeDefinition,
    ]);
    const driver = connectCsi({ endpoint: peer.socketPath, driverName: "a.csi" });
    const signal = new AbortController().signal;
    const handler = {
      type: "CSIPlugin",
      validate: () => undefined,
      register: async () => undefined,
      deregister: () => undefined,
    };
    const handlers = new Map([[handler.type, handler]]);
    const deps = { connect: connectPluginRegistration, handlers, log: silentLog };
    const volume = { volumeId: "v", volumePath: "/v" };
    const calls = [
      () => registerPlugin(deps, peer.socketPath, signal),
      () => driver.pluginInfo(),
      () => driver.info(),
      () => driver.capabilities(),
      () => driver.stats(volume),
    ];
    return {
      async run(input) {
        for (const [index, part] of partsOf(input, METHODS.length).entries())
          peer.answers.set(METHODS[index] ?? "", part);
        for (const call of calls) {
          try {
            await call();
          } catch (error) {
            if (!(error instanceof CodedError)) throw error;
          }
        }
      },
      async close() {
        driver.close();
        await peer.close();
      },
    };
  },
};
