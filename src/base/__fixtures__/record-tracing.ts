import type { SpanAttributes, SpanStart, Tracing } from "../tracing.ts";

/** A span as it was made. */
interface RecordedSpan {
  readonly start: SpanStart;
  readonly attributes: SpanAttributes;
  readonly end: "open" | "well" | { readonly failure: string };
}

/** Tracing that keeps its spans; the headers name the span by its number. */
export function recordTracing(): { tracing: Tracing; spans: RecordedSpan[] } {
  const spans: RecordedSpan[] = [];
  const tracing: Tracing = {
    begin(start) {
      const index = spans.push({ start, attributes: { ...start.attributes }, end: "open" }) - 1;
      const change = (by: Partial<RecordedSpan>) => {
        const span = spans[index];
        if (span?.end === "open") spans[index] = { ...span, ...by };
      };
      return {
        headers: { traceparent: `span-${index}` },
        annotate: (attributes) => change({ attributes: { ...spans[index]?.attributes, ...attributes } }),
        within: (work) => work(),
        end: (failure) => change({ end: failure === undefined ? "well" : { failure } }),
      };
    },
  };
  return { tracing, spans };
}
