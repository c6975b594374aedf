import type { ServedRequest } from "../../host/http-server.ts";

type Headers = Readonly<Record<string, string | readonly string[]>>;
type HeaderSource = Pick<ServedRequest, "headersBeginning" | "header" | "remoteAddress">;

/** Headers that concern one connection and not the message on it, as in Go's reverse proxy. */
const HOP_BY_HOP = new Set([
  "connection",
  "proxy-connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/**
 * A client's headers without those for the API server alone: the client's credentials and the user that it
 * impersonates. A server behind the proxy that reads them could act in the client's name.
 */
export function forwardedHeaders(request: HeaderSource): Record<string, readonly string[]> {
  const all = Object.entries(request.headersBeginning(""));
  const isTold = (name: string) =>
    !name.startsWith(":") && name !== "authorization" && !name.startsWith("impersonate-");
  return Object.fromEntries(all.filter(([name]) => isTold(name)));
}

/** The addresses through which a request has come. */
export function forwardedFor(request: HeaderSource): string {
  return [...request.header("x-forwarded-for"), request.remoteAddress].join(", ");
}

/** The headers that go on with the message. */
export function withoutHopByHop<H extends Headers>(headers: H): Record<string, string | readonly string[]> {
  const named = [headers["connection"] ?? []].flat().flatMap((value) => value.toLowerCase().split(","));
  const dropped = new Set([...HOP_BY_HOP, ...named.map((name) => name.trim())]);
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !dropped.has(name)));
}
