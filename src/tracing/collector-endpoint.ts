import { CodedError } from "../base/errors.ts";
import { type Endpoint, parseEndpoint } from "../grpc/endpoint.ts";

/** A collector's address, as gRPC dials it. */
export interface Collector extends Endpoint {
  readonly target: string;
}

/** The address at which OpenTelemetry's collectors listen on the machine itself. */
const DEFAULT_COLLECTOR = "localhost:4317";

/**
 * Reads `tracing.endpoint`: `host:port`, `dns:///host:port` or `unix:///path`. Throws CodedError `invalid-endpoint` for
 * another.
 */
export function parseCollector(text: string = DEFAULT_COLLECTOR): Collector {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1]?.toLowerCase();
  if (scheme === "unix") {
    const endpoint = parseEndpoint(text);
    return { ...endpoint, target: `unix:${endpoint.path}` };
  }
  if (scheme !== undefined && scheme !== "dns") {
    const mend = "write host:port, dns:///host:port or unix:///path";
    throw new CodedError("invalid-endpoint", `invalid endpoint "${text}": ${scheme} is not supported: ${mend}`);
  }
  return { url: text, path: "", warning: undefined, target: scheme === undefined ? `dns:${text}` : text };
}
