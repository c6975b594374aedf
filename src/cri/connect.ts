import type { Log } from "../base/log.ts";
import type { Metrics } from "../base/metrics.ts";
import type { Tracing } from "../base/tracing.ts";
import { type GrpcChannel, openChannel } from "../grpc/channel.ts";
import { parseEndpoint } from "../grpc/endpoint.ts";
import { createService } from "../grpc/service.ts";
import { traceCalls } from "../grpc/traced-calls.ts";
import { explainCalls } from "./explained-calls.ts";
import { ImageServiceDefinition, RuntimeServiceDefinition } from "./gen/cri-v1.ts";
import { declareCallSeries, measureCriCalls } from "./measured-calls.ts";
import type { Cri } from "./port.ts";
import { streamLists } from "./streamed-lists.ts";

/** The default of kubelet's `runtimeRequestTimeout`. */
const DEFAULT_REQUEST_TIMEOUT_MS = 120_000;

interface ConnectOptions {
  /** `unix:///run/containerd/containerd.sock`. */
  endpoint: string;
  /** The endpoint of the image service. Default: `endpoint`. */
  imageEndpoint?: string | undefined;
  /** The time-out of calls whose caller names none. Default two minutes, as kubelet's. */
  requestTimeoutMs?: number;
  log: Log;
  metrics: Metrics;
  /** Makes a span of every call. Default: none is made. */
  tracing?: Tracing | undefined;
  /** Lists are read as streams, where the runtime has them. Default false. */
  streamsLists?: boolean;
}

/**
 * Connects to the runtime behind a socket. It connects with the first call and reconnects by itself, so this function
 * neither waits nor fails for a runtime that is not there (its calls do); it throws only for an endpoint that cannot be
 * one.
 */
export function connectCri(options: ConnectOptions): Cri {
  const { log, metrics, requestTimeoutMs = DEFAULT_REQUEST_TIMEOUT_MS } = options;
  const series = declareCallSeries(metrics);
  const channels = new Map<string, GrpcChannel>();

  const callerFor = (text: string) => {
    const endpoint = parseEndpoint(text);
    if (endpoint.warning) log.warn(endpoint.warning);
    const channel = channels.get(endpoint.url) ?? openChannel({ endpoint, requestTimeoutMs });
    channels.set(endpoint.url, channel);
    const caller = explainCalls(traceCalls(channel, options.tracing), endpoint);
    const read = options.streamsLists === true ? streamLists(caller, { requestTimeoutMs, log }) : caller;
    return measureCriCalls(read, series);
  };

  const runtimeCaller = callerFor(options.endpoint);
  const imageCaller = options.imageEndpoint ? callerFor(options.imageEndpoint) : runtimeCaller;
  return {
    runtime: createService(RuntimeServiceDefinition, runtimeCaller),
    images: createService(ImageServiceDefinition, imageCaller),
    close() {
      for (const channel of channels.values()) channel.close();
    },
  };
}
