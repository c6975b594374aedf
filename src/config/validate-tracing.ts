import type { KubeletConfiguration } from "./kubelet-configuration.ts";
import type { Report } from "./validate-node-resources.ts";

const MOST_PER_MILLION = 1_000_000;
/** A scheme with what follows it; an address without one is a host with its port. */
const WITH_SCHEME = /^([a-z][a-z0-9+.-]*):\/\/(.*)$/is;
const MEND = "Write host:port, dns:///host:port or unix:///path";

/**
 * Validates `tracing` (component-base/tracing/api/v1). Abstract sockets are refused, because the gRPC of Node.js knows none,
 * and so is what no collector can be behind: a Go kubelet finds that out with the first spans.
 */
export function validateTracing({ tracing }: KubeletConfiguration, report: Report): void {
  const rate = tracing?.samplingRatePerMillion;
  if (rate !== undefined) validateRate(rate, report);
  if (tracing?.endpoint === undefined) return;
  const problem = findEndpointProblem(tracing.endpoint);
  if (problem === undefined) return;
  report("tracing.endpoint", `tracing.endpoint: Invalid value: "${tracing.endpoint}": ${problem}. ${MEND}`);
}

function validateRate(rate: number, report: Report): void {
  const path = "tracing.samplingRatePerMillion";
  const refuse = (why: string) => report(path, `${path}: Invalid value: ${rate}: ${why}`);
  if (rate < 0) refuse("sampling rate must be positive");
  if (rate > MOST_PER_MILLION) refuse("sampling rate per million must be less than or equal to one million");
}

function findEndpointProblem(endpoint: string): string | undefined {
  const [, scheme, rest = ""] = WITH_SCHEME.exec(endpoint) ?? [];
  if (scheme === undefined) return findAddressProblem(endpoint);
  switch (scheme.toLowerCase()) {
    case "dns":
      return findAddressProblem(rest.slice(rest.lastIndexOf("/") + 1));
    case "unix":
      return rest.startsWith("/") ? undefined : "the socket's path must be absolute";
    default:
      return `unsupported scheme: ${scheme}`;
  }
}

function findAddressProblem(address: string): string | undefined {
  const [, host, port] = /^(\[[^\]]+\]|[^:[\]]*):(\d{1,5})$/.exec(address) ?? [];
  if (port === undefined || Number(port) === 0 || Number(port) > 65_535) return "it names no port";
  return host === "" ? "it names no host" : undefined;
}
