import type { WebRequest } from "../../host/web-server.ts";

type Headers = Readonly<Record<string, string | readonly string[]>>;
type HeaderSource = Pick<WebRequest, "headersBeginning" | "header" | "remoteAddress">;

/** What is about one connection and not about the message on it, as Go's reverse proxy has it. */
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
 * A client's headers without what only the API server is to see: by what the client proved who it is, and as whom it
 * speaks. Whoever reads them behind could do in its name what it pleases.
 */
export function forwardedHeaders(request: HeaderSource): Record<string, readonly string[]> {
  const all = Object.entries(request.headersBeginning(""));
  const isTold = (name: string) =>
    !name.startsWith(":") && name !== "authorization" && !name.startsWith("impersonate-");
  return Object.fromEntries(all.filter(([name]) => isTold(name)));
}

/** The addresses that a request has come by. */
export function forwardedFor(request: HeaderSource): string {
  return [...request.header("x-forwarded-for"), request.remoteAddress].join(", ");
}

/** The headers that go on with the message. */
export function withoutHopByHop<H extends Headers>(headers: H): Record<string, string | readonly string[]> {
  const named = [headers["connection"] ?? []].flat().flatMap((value) => value.toLowerCase().split(","));
  const dropped = new Set([...HOP_BY_HOP, ...named.map((name) => name.trim())]);
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !dropped.has(name)));
}
