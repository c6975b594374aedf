import type { Container, HTTPGetAction, HTTPHeader } from "../../../api/gen/types.ts";
import type { HttpProbe, HttpProbeOutcome } from "../../../host/probe-port.ts";
import { resolveContainerPort } from "./container-port.ts";
import { bodyWords, requestWords } from "./failure-words.ts";
import { MAX_OUTPUT_BYTES, type ProbeAttempt } from "./probe-attempt.ts";

/** The node's part of the request. */
interface HttpProbeContext {
  readonly container: Container;
  readonly podIp: string;
  readonly timeoutMs: number;
  readonly userAgent: string;
}

/** Go writes these headers by itself, and ignores a caller's values of them. */
const OWN_HEADERS: ReadonlySet<string> = new Set(["content-length", "transfer-encoding", "trailer", "connection"]);

/** The request of an `httpGet` probe, as pkg/probe/http/request.go makes it. */
export function makeHttpProbe(
  action: HTTPGetAction,
  context: HttpProbeContext,
): HttpProbe | { readonly error: string } {
  const resolved = resolveContainerPort(action.port, context.container);
  if ("error" in resolved) return resolved;
  return {
    scheme: action.scheme?.toLowerCase() === "https" ? "https" : "http",
    host: action.host || context.podIp,
    port: resolved.port,
    path: requestPath(action.path ?? ""),
    headers: requestHeaders(action.httpHeaders ?? [], context.userAgent),
    timeoutMs: context.timeoutMs,
    maxBodyBytes: MAX_OUTPUT_BYTES,
  };
}

/**
 * The path of the request. A path that is a whole URL loses its scheme and host, because the probe has its own.
 * Characters that a request line cannot carry are escaped, and those that are escaped already stay so.
 */
export function requestPath(path: string): string {
  const withoutFragment = path.split("#", 1)[0] ?? "";
  const local = withoutFragment.replace(/^(?:[a-z][a-z0-9+.-]*:)?\/\/[^/?]*/i, "");
  const rooted = local.startsWith("/") ? local : `/${local}`;
  return rooted.replace(/%(?![0-9a-f]{2})/gi, "%25").replace(/[^\x21-\x7e]|["<>\\^`{|}]/gu, escapeBytes);
}

function escapeBytes(character: string): string {
  return Array.from(Buffer.from(character), (byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join("");
}

function requestHeaders(
  custom: readonly HTTPHeader[],
  userAgent: string,
): Array<readonly [name: string, value: string]> {
  const first = (wanted: string) => custom.find(({ name }) => name.toLowerCase() === wanted)?.value;
  const kept = custom.filter(({ name }) => {
    const key = name.toLowerCase();
    // One of these headers that is set to an empty value is not sent at all.
    if (key === "accept" || key === "user-agent" || key === "host") return first(key) !== "";
    return !OWN_HEADERS.has(key);
  });
  const headers = kept.map(({ name, value }) => [name, value] as const);
  if (first("user-agent") === undefined) headers.push(["User-Agent", userAgent]);
  if (first("accept") === undefined) headers.push(["Accept", "*/*"]);
  return headers;
}

/** The verdict of `DoHTTPProbe` (pkg/probe/http/http.go): any status from 200 to 399 is a success. */
export function judgeHttp(outcome: HttpProbeOutcome, target: { host: string; port: number }): ProbeAttempt {
  switch (outcome.kind) {
    case "no-answer":
      return { result: "failure", output: requestWords(outcome.url, outcome.failure, target) };
    case "broken-body":
      return { result: "error", state: "failure", message: bodyWords(outcome.failure) };
    case "answered": {
      const { status } = outcome;
      const body = outcome.body.toString("utf8");
      if (status < 200 || status >= 400) {
        // The body stays out of the message, because many users may read events.
        return { result: "failure", output: `HTTP probe failed with statuscode: ${status}` };
      }
      if (status < 300) return { result: "success", output: body };
      return { result: "warning", output: `Probe terminated redirects, Response body: ${body}` };
    }
  }
}
