import { BinaryReader } from "@bufbuild/protobuf/wire";
import { Server, ServerCredentials } from "@grpc/grpc-js";

/** A span as it came over the wire. */
export interface ToldSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** "" for the first of a trace. */
  readonly parentSpanId: string;
  readonly name: string;
  /** OTLP's number: 1 internal, 2 server, 3 client. */
  readonly kind: number;
  readonly attributes: Readonly<Record<string, string>>;
  readonly links: readonly string[];
  /** OTLP's number: 0 unset, 2 error. */
  readonly status: number;
  readonly resource: Readonly<Record<string, string>>;
}

/** An OTLP collector: a real gRPC server that keeps what it is told. */
export interface TestCollector {
  readonly port: number;
  readonly spans: readonly ToldSpan[];
  /** Resolves with the spans once they fulfil the condition; rejects with their names after the time. */
  until(condition: (spans: readonly ToldSpan[]) => boolean, timeoutMs?: number): Promise<readonly ToldSpan[]>;
  close(): Promise<void>;
}

interface CollectorOptions {
  /** Default: one that is free. */
  readonly port?: number;
  /** `hangs` never answers. Default: `takes`. */
  readonly manner?: "takes" | "hangs";
}

/** Starts a collector on 127.0.0.1. */
export async function startCollector({ port = 0, manner = "takes" }: CollectorOptions = {}): Promise<TestCollector> {
  const spans: ToldSpan[] = [];
  const waiting = new Set<() => void>();
  const server = new Server();
  const definition = {
    path: "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
    requestStream: false,
    responseStream: false,
    requestSerialize: (bytes: Buffer) => bytes,
    requestDeserialize: (bytes: Buffer) => bytes,
    responseSerialize: (bytes: Buffer) => bytes,
    responseDeserialize: (bytes: Buffer) => bytes,
  } as const;
  server.addService(
    { export: definition },
    {
      export(call: { request: Buffer }, answer: (error: null, bytes: Buffer) => void) {
        if (manner === "hangs") return;
        spans.push(...readRequest(call.request));
        answer(null, Buffer.alloc(0));
        for (const look of waiting) look();
      },
    },
  );
  const bound = await new Promise<number>((resolve, reject) => {
    const done = (error: Error | null, number: number) => (error ? reject(error) : resolve(number));
    server.bindAsync(`127.0.0.1:${port}`, ServerCredentials.createInsecure(), done);
  });
  return {
    port: bound,
    spans,
    async until(condition, timeoutMs = 30_000) {
      await new Promise<void>((resolve, reject) => {
        const end = (settle: () => void) => {
          waiting.delete(look);
          clearTimeout(timer);
          settle();
        };
        const look = () => condition(spans) && end(resolve);
        const names = () => spans.map(({ name }) => name).join(", ");
        const timer = setTimeout(() => end(() => reject(new Error(`the collector has only: ${names()}`))), timeoutMs);
        waiting.add(look);
        look();
      });
      return spans;
    },
    close: async () => await Promise.resolve(server.forceShutdown()),
  };
}

/** ExportTraceServiceRequest: `resource_spans`, each with a resource and `scope_spans`. */
function readRequest(bytes: Uint8Array): ToldSpan[] {
  return partsOf(bytes, 1).flatMap((resourceSpans) => {
    const resource = readAttributes(partsOf(partsOf(resourceSpans, 1)[0] ?? new Uint8Array(), 1));
    return partsOf(resourceSpans, 2)
      .flatMap((scopeSpans) => partsOf(scopeSpans, 2))
      .map((span) => readSpan(span, resource));
  });
}

function readSpan(bytes: Uint8Array, resource: Readonly<Record<string, string>>): ToldSpan {
  const first = (field: number) => partsOf(bytes, field)[0] ?? new Uint8Array();
  return {
    traceId: Buffer.from(first(1)).toString("hex"),
    spanId: Buffer.from(first(2)).toString("hex"),
    parentSpanId: Buffer.from(first(4)).toString("hex"),
    name: Buffer.from(first(5)).toString(),
    kind: numberOf(bytes, 6),
    attributes: readAttributes(partsOf(bytes, 9)),
    links: partsOf(bytes, 13).map((link) => Buffer.from(partsOf(link, 1)[0] ?? []).toString("hex")),
    status: numberOf(first(15), 3),
    resource,
  };
}

function readAttributes(pairs: readonly Uint8Array[]): Record<string, string> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const value = partsOf(pair, 2)[0] ?? new Uint8Array();
      const text = partsOf(value, 1)[0];
      return [
        Buffer.from(partsOf(pair, 1)[0] ?? []).toString(),
        text ? Buffer.from(text).toString() : String(numberOf(value, 3)),
      ];
    }),
  );
}

const VARINT = 0;
const LENGTH_DELIMITED = 2;

/** The contents of a field that has a length, in their order. */
function partsOf(bytes: Uint8Array, field: number): Uint8Array[] {
  const found: Uint8Array[] = [];
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag();
    if (number === field && type === LENGTH_DELIMITED) found.push(reader.bytes());
    else reader.skip(type, number);
  }
  return found;
}

/** The value of a field that is a number; 0 where it is not there. */
function numberOf(bytes: Uint8Array, field: number): number {
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag();
    if (number === field && type === VARINT) return Number(reader.uint64());
    reader.skip(type, number);
  }
  return 0;
}
