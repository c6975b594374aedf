import type { ConnectionFailure } from "../../../host/probe-port.ts";

/** `10.0.0.7:80`, `[fd00::7]:80`; Go's `net.JoinHostPort`. */
export function joinHostPort(host: string, port: number): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/**
 * Go's message for a connection that could not be made: it stands in events, and users search for it. `context` is
 * appended to the message of a time-out only.
 */
export function dialWords({ reason, message }: ConnectionFailure, host: string, port: number): string {
  const dial = `dial tcp ${joinHostPort(host, port)}: `;
  switch (reason) {
    case "timeout":
      return `${dial}i/o timeout`;
    case "refused":
      return `${dial}connect: connection refused`;
    case "reset":
    case "closed":
      return `${dial}connect: connection reset by peer`;
    case "host-unreachable":
      return `${dial}connect: no route to host`;
    case "network-unreachable":
      return `${dial}connect: network is unreachable`;
    case "unknown-name":
      return `dial tcp: lookup ${host}: no such host`;
    default:
      return `${dial}${message}`;
  }
}

/** The message of Go's HTTP client for a request without an answer. */
export function requestWords(url: string, failure: ConnectionFailure, target: { host: string; port: number }): string {
  return `Get ${JSON.stringify(url)}: ${exchangeWords(failure, target)}`;
}

function exchangeWords(failure: ConnectionFailure, { host, port }: { host: string; port: number }): string {
  switch (failure.reason) {
    case "timeout":
      return "context deadline exceeded (Client.Timeout exceeded while awaiting headers)";
    case "reset":
      return `read tcp ${joinHostPort(host, port)}: read: connection reset by peer`;
    case "closed":
      return "EOF";
    case "no-tls":
      return "http: server gave HTTP response to HTTPS client";
    case "too-many-redirects":
    case "other":
      return failure.message;
    default:
      return dialWords(failure, host, port);
  }
}

/** Go's message for an answer whose body broke off. */
export function bodyWords({ reason, message }: ConnectionFailure): string {
  if (reason === "timeout")
    return "context deadline exceeded (Client.Timeout or context cancellation while reading body)";
  return reason === "closed" ? "unexpected EOF" : message;
}
