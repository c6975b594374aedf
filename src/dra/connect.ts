import { type GrpcChannel, openChannel } from "../grpc/channel.ts";
import { parseEndpoint } from "../grpc/endpoint.ts";
import { measureCalls } from "../grpc/measured-calls.ts";
import { createService } from "../grpc/service.ts";
import { DRAResourceHealthDefinition } from "./gen/dra-health-v1alpha1.ts";
import { DRAPluginDefinition } from "./gen/dra-v1.ts";
import { readDevice, readHealth } from "./messages.ts";
import type { DraPlugin, DraVersion } from "./port.ts";

/** Upstream's `defaultClientCallTimeout` (pkg/kubelet/cm/dra/plugin/dra_plugin.go). */
const REQUEST_TIMEOUT_MS = 45_000;
/** gRPC's default, as for upstream's client. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
/** A device whose health is told has some fifteen. */
const MAX_ANSWER_NUMBERS = 250_000;

export type ConnectDraPlugin = typeof connectDraPlugin;

interface DraPluginOptions {
  readonly version: DraVersion;
  /** Hears of each call that has ended. */
  onCall?(call: DraCall): void;
}

/** A call of a driver that has ended, in the words of its metric. */
export interface DraCall {
  readonly method: string;
  readonly code: string;
  readonly seconds: number;
}

/**
 * Connects to the plugin behind a socket, with the first call. Throws CodedError `invalid-endpoint` for a path that no
 * socket can have. Calls end after 45 seconds where the caller names no time-out.
 */
export function connectDraPlugin(socketPath: string, options: DraPluginOptions): DraPlugin {
  const endpoint = parseEndpoint(`unix://${socketPath}`);
  const bounds = { maxAnswerBytes: MAX_ANSWER_BYTES, maxAnswerNumbers: MAX_ANSWER_NUMBERS };
  const channel = openChannel({ endpoint, requestTimeoutMs: REQUEST_TIMEOUT_MS, ...bounds });
  return createDraPlugin(channel, options);
}

/** The plugin at the other end of a connection; closing it closes the connection. */
export function createDraPlugin(connection: GrpcChannel, { version, onCall }: DraPluginOptions): DraPlugin {
  const caller = onCall ? measureCalls(connection, onCall) : connection;
  const service = createService(DRA_SERVICES[version], caller);
  const health = createService(DRAResourceHealthDefinition, caller);
  return {
    async prepare(claims, call) {
      const answer = await service.nodePrepareResources({ claims: [...claims] }, call);
      return mapValues(answer.claims, ({ devices, error }) => ({ devices: devices.map(readDevice), error }));
    },
    async unprepare(claims, call) {
      const answer = await service.nodeUnprepareResources({ claims: [...claims] }, call);
      return mapValues(answer.claims, ({ error }) => error);
    },
    async *watchHealth(call) {
      for await (const { devices } of health.nodeWatchResources({}, call)) yield devices.map(readHealth);
    },
    followConnection: (listener) => connection.followConnection(listener),
    close: () => connection.close(),
  };
}

/** The two versions have the same messages; the older one's devices have no share. */
export const DRA_SERVICES = {
  "v1.DRAPlugin": DRAPluginDefinition,
  "v1beta1.DRAPlugin": { ...DRAPluginDefinition, fullName: "k8s.io.kubelet.pkg.apis.dra.v1beta1.DRAPlugin" },
} as const satisfies Record<DraVersion, unknown>;

function mapValues<T, U>(record: Readonly<Record<string, T>>, convert: (value: T) => U): Map<string, U> {
  return new Map(Object.entries(record).map(([key, value]) => [key, convert(value)]));
}
