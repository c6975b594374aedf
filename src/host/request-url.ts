import type { WebServer } from "./web-call.ts";

/** The server that a URL of http or https leads to. */
export function addressOf({ protocol, hostname, port }: URL): WebServer {
  const scheme = protocol === "https:" ? "https" : "http";
  const host = hostname.replace(/^\[|\]$/g, "");
  return { scheme, host, port: port === "" ? (scheme === "https" ? 443 : 80) : Number(port) };
}

/** The part of a URL that a request line holds. */
export function pathAndQuery({ pathname, search }: URL): string {
  return `${pathname}${search}`;
}

/** True for http and https. */
export function isWebUrl({ protocol }: URL): boolean {
  return protocol === "http:" || protocol === "https:";
}

/** The target of a redirect; undefined unless that is on the same host. `hostname` has the form of `URL.hostname`. */
export function redirectTarget(from: string, location: string | undefined, hostname: string): URL | undefined {
  if (location === undefined || location === "" || !URL.canParse(location, from)) return undefined;
  const target = new URL(location, from);
  return isWebUrl(target) && target.hostname === hostname ? target : undefined;
}
