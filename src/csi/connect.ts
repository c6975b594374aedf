import type { Metrics } from "../base/metrics.ts";
import { openChannel } from "../grpc/channel.ts";
import { parseEndpoint } from "../grpc/endpoint.ts";
import { createCsiNode } from "./create-csi-node.ts";
import type { CsiNode } from "./port.ts";

/** Upstream's `csiTimeout` (`pkg/volume/csi/csi_plugin.go`). */
const DEFAULT_REQUEST_TIMEOUT_MS = 120_000;
/**
 * All answers of a driver are short: the longest has its topology. Upstream's client takes gRPC's 4 MiB, in which two million
 * empty entries come, and reading them takes a second.
 */
const MAX_ANSWER_BYTES = 64 * 1024;

/** See `connectCsi`. */
interface ConnectCsiOptions {
  /** The driver's socket: an absolute path, as plugins name it when they register, or `unix:///path`. */
  endpoint: string;
  /** The name with which the driver registered, for messages and metrics. */
  driverName: string;
  /** The time-out of calls whose caller names none. Default two minutes, as upstream's. */
  requestTimeoutMs?: number | undefined;
  /** The registry in which calls are timed, under upstream's name. */
  metrics?: Metrics | undefined;
}

/**
 * Connects to the driver behind a socket. It connects with the first call and again when the connection broke, so this
 * function neither waits nor fails for a driver that is not there (its calls do, as `unavailable`). It throws
 * CodedError `invalid-endpoint` for an endpoint that cannot be one.
 */
export function connectCsi(options: ConnectCsiOptions): CsiNode {
  const { driverName, metrics, requestTimeoutMs = DEFAULT_REQUEST_TIMEOUT_MS } = options;
  const channel = openChannel({
    endpoint: parseEndpoint(options.endpoint),
    requestTimeoutMs,
    maxAnswerBytes: MAX_ANSWER_BYTES,
  });
  return createCsiNode(channel, { driverName, metrics });
}
