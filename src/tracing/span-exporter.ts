import { type ExportResult, ExportResultCode } from "@opentelemetry/core";
import { ProtobufTraceSerializer } from "@opentelemetry/otlp-transformer";
import type { ReadableSpan, SpanExporter } from "@opentelemetry/sdk-trace";
import { isAbort, sleep } from "../base/abort.ts";
import type { Clock } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { openChannel } from "../grpc/channel.ts";
import { type GrpcErrorCode, isGrpcError } from "../grpc/port.ts";
import type { Rpc } from "../grpc/service.ts";
import { type Collector, parseCollector } from "./collector-endpoint.ts";

/** The bound on one batch with its repetitions. */
export const EXPORT_TIMEOUT_MS = 30_000;
const CALL_TIMEOUT_MS = 10_000;
const RETRY_AFTER_MS = 5_000;
const MAX_ATTEMPTS = 3;
/** The codes after which OTLP wants a batch to be sent again. */
const PASSING: readonly GrpcErrorCode[] = [
  "aborted",
  "cancelled",
  "data-loss",
  "deadline-exceeded",
  "out-of-range",
  "resource-exhausted",
  "unavailable",
];

/** The one call of a collector. What is encoded are spans, and what is decoded is not looked at but for `partialSuccess`. */
const EXPORT: Rpc = {
  service: "opentelemetry.proto.collector.trace.v1.TraceService",
  key: "export",
  method: {
    name: "Export",
    responseStream: false,
    requestType: { encode: (message) => ({ finish: () => encode(message) }), decode: () => undefined },
    responseType: {
      encode: () => ({ finish: () => new Uint8Array() }),
      // A reader comes only where a bound on numbers is set.
      decode: (bytes) => (bytes instanceof Uint8Array ? ProtobufTraceSerializer.deserializeResponse(bytes) : undefined),
    },
  },
};

/** Batches are encoded before the call. */
function encode(message: unknown): Uint8Array {
  return message instanceof Uint8Array ? message : new Uint8Array();
}

/** An exporter that can be told not to wait any longer. */
interface ImpatientExporter extends SpanExporter {
  /** Ends what is under way. Idempotent. */
  giveUp(): void;
}

/** Sends batches to a collector: it says once that one is lost, and once that they arrive again. */
export function createSpanExporter(
  { clock, log }: { clock: Clock; log: Log },
  endpoint: string | undefined,
): ImpatientExporter {
  const collector = parseCollector(endpoint);
  const channel = openChannel({
    endpoint: collector,
    requestTimeoutMs: CALL_TIMEOUT_MS,
    target: collector.target,
    // A collector may be away for days.
    reconnectMs: { first: 1_000, most: 30_000 },
  });
  const ending = new AbortController();
  const tell = createTeller(collector, log);

  const send = async (batch: Uint8Array): Promise<void> => {
    for (let attempt = 1; ; attempt++) {
      try {
        await channel.unary(EXPORT, batch, { signal: ending.signal });
        return;
      } catch (error) {
        if (attempt === MAX_ATTEMPTS || !isGrpcError(error, ...PASSING)) throw error;
        await sleep(clock, RETRY_AFTER_MS, ending.signal);
      }
    }
  };

  return {
    export(spans: ReadableSpan[], done: (result: ExportResult) => void): void {
      const batch = ProtobufTraceSerializer.serializeRequest(spans) ?? new Uint8Array();
      send(batch).then(
        () => {
          tell.arrived();
          done({ code: ExportResultCode.SUCCESS });
        },
        (error: unknown) => {
          if (!isAbort(error)) tell.lost(error);
          done({ code: ExportResultCode.FAILED, error: error instanceof Error ? error : new Error(messageOf(error)) });
        },
      );
    },
    giveUp() {
      if (ending.signal.aborted) return;
      ending.abort();
      channel.close();
    },
    shutdown: async () => await Promise.resolve(),
  };
}

function createTeller({ url }: Collector, log: Log) {
  let isLosing = false;
  return {
    arrived(): void {
      if (isLosing) log.info("Spans arrive at the collector again", { endpoint: url });
      isLosing = false;
    },
    lost(error: unknown): void {
      if (isLosing) return;
      isLosing = true;
      log.warn("Spans are lost, because the collector of tracing.endpoint does not take them; pods are not affected", {
        endpoint: url,
        error: messageOf(error),
      });
    },
  };
}
