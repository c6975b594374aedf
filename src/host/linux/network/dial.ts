import type { ClientRequest } from "node:http";
import { isIP } from "node:net";
import { codeOf, messageOf } from "../../../base/errors.ts";

/** The words of Go's net package for the codes of Node.js. */
const CONNECT_WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connect: connection refused",
  EHOSTUNREACH: "connect: no route to host",
  ENETUNREACH: "connect: network is unreachable",
  EADDRNOTAVAIL: "connect: cannot assign requested address",
  ETIMEDOUT: "i/o timeout",
};

/** Says why a connection failed, in the words that Go's programs have for it. */
export function describeDialError(error: unknown, { host, port }: { host: string; port: number }): string {
  const code = codeOf(error) ?? "";
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") return `dial tcp: ${describeLookupError(error, host)}`;
  const address = isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`;
  // The name has several addresses that all failed: the first one's failure stands for them.
  const [first] = error instanceof AggregateError ? error.errors : [];
  const words = CONNECT_WORDS[code] ?? CONNECT_WORDS[codeOf(first) ?? ""];
  if (words !== undefined) return `dial tcp ${address}: ${words}`;
  if (code === "ECONNRESET" || code === "EPIPE")
    return messageOf(error) === "socket hang up" ? "EOF" : resetWords(address);
  return messageOf(error);
}

/** Says why a name has no address, in the same words. */
export function describeLookupError(error: unknown, host: string): string {
  return `lookup ${host}: ${codeOf(error) === "EAI_AGAIN" ? "server misbehaving" : "no such host"}`;
}

const resetWords = (address: string) => `read tcp ${address}: connection reset by peer`;

/** An API server tries to connect for this long. */
export const CONNECT_TIMEOUT_MS = 30_000;

/** Breaks a call whose connection, TLS included, does not stand in time. The answer itself has no limit. */
export function limitConnecting(request: ClientRequest, timeoutMs: number): void {
  const timer = setTimeout(() => {
    request.destroy(Object.assign(new Error("i/o timeout"), { code: "ETIMEDOUT" }));
  }, timeoutMs);
  const stop = () => clearTimeout(timer);
  request.once("close", stop);
  request.once("socket", (socket) => socket.once("encrypted" in socket ? "secureConnect" : "connect", stop));
}
