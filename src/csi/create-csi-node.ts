import type { Metrics } from "../base/metrics.ts";
import { measureCalls } from "../grpc/measured-calls.ts";
import { isGrpcError } from "../grpc/port.ts";
import { createService, mapErrors, type RpcCaller } from "../grpc/service.ts";
import { seriesOf } from "./csi-series.ts";
import { IdentityDefinition, NodeDefinition } from "./gen/csi-v1.ts";
import {
  decodeNodeInfo,
  readCapabilities,
  readNewSize,
  readStats,
  writeExpandRequest,
  writePublishRequest,
  writeStageRequest,
} from "./messages.ts";
import { CsiError, type CsiNode } from "./port.ts";
import { redactSecrets } from "./redact.ts";

/** The driver at the other end of a connection, a socket or one in memory; closing it closes the connection. */
export function createCsiNode(
  connection: RpcCaller & { close(): void },
  { driverName, metrics }: { driverName: string; metrics?: Metrics | undefined },
): CsiNode {
  const measured = metrics ? measureFor(metrics, connection, driverName) : connection;
  const caller = mapErrors(measured, (error, request) => asCsiError(error, { driver: driverName, request }));
  const identity = createService(IdentityDefinition, caller);
  const node = createService(NodeDefinition, caller);
  return {
    async pluginInfo(call) {
      const { name, vendorVersion } = await identity.getPluginInfo({}, call);
      return { name, version: vendorVersion };
    },
    info: async (call) => decodeNodeInfo(await node.nodeGetInfo({}, call)),
    capabilities: async (call) => readCapabilities(await node.nodeGetCapabilities({}, call)),
    async stage(request, call) {
      await node.nodeStageVolume(writeStageRequest(request), call);
    },
    async unstage({ volumeId, stagingPath }, call) {
      await node.nodeUnstageVolume({ volumeId, stagingTargetPath: stagingPath }, call);
    },
    async publish(request, call) {
      await node.nodePublishVolume(writePublishRequest(request), call);
    },
    async unpublish({ volumeId, targetPath }, call) {
      await node.nodeUnpublishVolume({ volumeId, targetPath }, call);
    },
    expand: async (request, call) => readNewSize(await node.nodeExpandVolume(writeExpandRequest(request), call)),
    async stats({ volumeId, volumePath, stagingPath = "" }, call) {
      return readStats(await node.nodeGetVolumeStats({ volumeId, volumePath, stagingTargetPath: stagingPath }, call));
    },
    close: () => connection.close(),
  };
}

/** The label `migrated` is about volumes of in-tree plugins, of which there are none here. */
function measureFor(metrics: Metrics, caller: RpcCaller, driverName: string): RpcCaller {
  const series = seriesOf(metrics);
  return measureCalls(caller, ({ method, code, seconds }) =>
    series.observe(seconds, {
      driver_name: driverName,
      method_name: method,
      grpc_status_code: code,
      migrated: "false",
    }),
  );
}

/** An error that is no failed call, such as an abort, is returned unchanged. */
function asCsiError(error: unknown, { driver, request }: { driver: string; request: unknown }): unknown {
  if (!isGrpcError(error)) return error;
  return new CsiError(error.code, { rpc: error.rpc, driver, detail: redactSecrets(error.detail, request) });
}
