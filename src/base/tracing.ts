/** A value of a span's attribute. */
type AttributeValue = string | number | boolean;

/** What a span says of itself, by the names of OpenTelemetry's semantic conventions. */
export type SpanAttributes = Readonly<Record<string, AttributeValue>>;

/** How a span begins. */
export interface SpanStart {
  readonly name: string;
  /** Default: `internal`. */
  readonly kind?: "internal" | "client" | "server";
  readonly attributes?: SpanAttributes;
  /** True: the span begins a trace of its own. Default: it belongs to the span within which it begins. */
  readonly isRoot?: boolean;
  /** The headers of a request whose span this one is linked with, where it has one. Lower-case names. */
  readonly linkedWith?: Readonly<Record<string, string>>;
}

/** A span that has begun. It is told to nobody before it ends. */
export interface OpenSpan {
  /** The headers, or gRPC metadata, by which the other side's spans join this one. */
  readonly headers: Readonly<Record<string, string>>;
  annotate(attributes: SpanAttributes): void;
  /** Calls the work; spans that begin within it, and before this one ends, are children of this one. */
  within<T>(work: () => T): T;
  /** Ends the span, once; a reason says that it failed. Later calls do nothing. */
  end(failure?: string): void;
}

/** Makes spans. A part that is handed no tracing makes none, and does nothing for them. */
export interface Tracing {
  begin(start: SpanStart): OpenSpan;
}

/** Runs the work within a span that ends with it. A rejection is told by the span and thrown on. */
export async function inSpan<T>(tracing: Tracing, start: SpanStart, work: (span: OpenSpan) => Promise<T>): Promise<T> {
  const span = tracing.begin(start);
  try {
    const result = await span.within(async () => await work(span));
    span.end();
    return result;
  } catch (error) {
    span.end(error instanceof Error ? error.message : String(error));
    throw error;
  }
}
