import { AsyncLocalStorage } from "node:async_hooks";
import {
  type Context,
  defaultTextMapGetter,
  defaultTextMapSetter,
  isSpanContextValid,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  type SpanOptions,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import { CompositePropagator, W3CBaggagePropagator, W3CTraceContextPropagator } from "@opentelemetry/core";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  AlwaysOffSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { OpenSpan, SpanStart, Tracing } from "../base/tracing.ts";
import { createSpanExporter, EXPORT_TIMEOUT_MS } from "./span-exporter.ts";

/** Where spans go, and how many of them. */
export interface TracingOptions {
  /** `host:port`, `dns:///host:port` or `unix:///path`, without TLS. Default `localhost:4317`. */
  readonly endpoint: string | undefined;
  /** How many of a million traces that begin here are told. Default: none. */
  readonly samplingRatePerMillion: number | undefined;
  readonly hostName: string;
}

/** Tracing with a connection to a collector. */
export interface OpenedTracing extends Tracing {
  /** Sends what waits, for two seconds at most, and closes the connection. It never rejects. */
  close(): Promise<void>;
}

/** Spans that wait for the collector. More are dropped. */
export const MAX_WAITING_SPANS = 2048;
/** Spans in one message to the collector. */
const MAX_BATCH_SPANS = 512;
/** The time that spans wait for others to go with. It is OpenTelemetry's, as all of these. */
const BATCH_DELAY_MS = 5_000;
/** The end of the process does not wait longer for a collector. */
const CLOSE_TIMEOUT_MS = 2_000;
const MILLION = 1_000_000;

const KINDS = { internal: SpanKind.INTERNAL, client: SpanKind.CLIENT, server: SpanKind.SERVER };

/** The span within which code runs, and whether it has ended: what goes on after that is not a part of it. */
interface Scope {
  readonly context: Context;
  hasEnded: boolean;
}

/**
 * Makes spans with OpenTelemetry and sends them by OTLP. It connects with the first spans; what the collector does or does
 * not do delays nobody. To be loaded only where tracing is asked for: the packages are large, and to follow the flow of
 * calls costs something with every promise.
 */
export function openTracing(deps: { clock: Clock; log: Log }, options: TracingOptions): OpenedTracing {
  const rate = options.samplingRatePerMillion ?? 0;
  const exporter = createSpanExporter(deps, options.endpoint);
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ "service.name": "kubelet", "host.name": options.hostName }),
    sampler: new ParentBasedSampler({
      root: rate > 0 ? new TraceIdRatioBasedSampler(rate / MILLION) : new AlwaysOffSampler(),
    }),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter,
        maxQueueSize: MAX_WAITING_SPANS,
        maxExportBatchSize: MAX_BATCH_SPANS,
        scheduledDelayMillis: BATCH_DELAY_MS,
        exportTimeoutMillis: EXPORT_TIMEOUT_MS,
      }),
    ],
  });
  const tracer = provider.getTracer("k8s.io/kubernetes/pkg/kubelet");
  const scopes = new AsyncLocalStorage<Scope>();
  const propagator = new CompositePropagator({
    propagators: [new W3CTraceContextPropagator(), new W3CBaggagePropagator()],
  });

  const parentOf = (start: SpanStart): Context => {
    const scope = start.isRoot === true ? undefined : scopes.getStore();
    return scope === undefined || scope.hasEnded ? ROOT_CONTEXT : scope.context;
  };
  const linksOf = ({ linkedWith }: SpanStart): SpanOptions => {
    if (linkedWith === undefined) return {};
    const context = trace.getSpanContext(propagator.extract(ROOT_CONTEXT, linkedWith, defaultTextMapGetter));
    return context !== undefined && isSpanContextValid(context) ? { links: [{ context }] } : {};
  };

  return {
    begin(start) {
      const parent = parentOf(start);
      const { name, kind = "internal", attributes = {} } = start;
      const span = tracer.startSpan(name, { kind: KINDS[kind], attributes, ...linksOf(start) }, parent);
      const context = trace.setSpan(parent, span);
      const headers: Record<string, string> = {};
      propagator.inject(context, headers, defaultTextMapSetter);
      return openSpan(span, { headers, scope: { context, hasEnded: false }, scopes });
    },
    async close() {
      const timer = deps.clock.setTimer(CLOSE_TIMEOUT_MS, exporter.giveUp);
      try {
        await provider.shutdown();
      } catch {
        // The exporter has told what is wrong with the collector.
      } finally {
        timer.cancel();
        exporter.giveUp();
      }
    },
  };
}

interface Inside {
  readonly headers: Readonly<Record<string, string>>;
  readonly scope: Scope;
  readonly scopes: AsyncLocalStorage<Scope>;
}

function openSpan(span: Span, { headers, scope, scopes }: Inside): OpenSpan {
  return {
    headers,
    annotate: (attributes) => span.setAttributes(attributes),
    within: (work) => scopes.run(scope, work),
    end(failure) {
      if (scope.hasEnded) return;
      scope.hasEnded = true;
      if (failure !== undefined) {
        span.recordException(failure);
        span.setStatus({ code: SpanStatusCode.ERROR, message: failure });
      }
      span.end();
    },
  };
}
