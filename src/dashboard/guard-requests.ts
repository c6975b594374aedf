import { createHash, timingSafeEqual } from "node:crypto";
import type { ServedAnswer, ServedRequest } from "../host/http-server.ts";

/**
 * No page but ours runs here, nothing is loaded from elsewhere, no text becomes code, and no other page holds this one in
 * a frame. There are no exceptions for inline styles or scripts.
 */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

/** The headers of every answer. */
export const SECURITY_HEADERS = {
  "content-security-policy": CONTENT_SECURITY_POLICY,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "cache-control": "no-store",
} as const;

type Headed = Pick<ServedRequest, "header">;

/**
 * Refuses what no page of this server sends: a name that somebody else's DNS has turned to this machine, a request that a
 * page from elsewhere makes. Undefined for a request that may go on; whether it is allowed is another question.
 */
export function refuseStranger(request: Headed, port: number): ServedAnswer | undefined {
  const hosts = ["127.0.0.1", "localhost", "[::1]"].map((name) => `${name}:${port}`);
  const [host = "", ...others] = request.header("host");
  if (others.length > 0 || !hosts.includes(host.toLowerCase())) {
    return refuse(421, `This server is ${hosts[0]}. Through a tunnel, use the same port on both ends.`);
  }
  const origin = request.header("origin")[0];
  if (origin !== undefined && origin !== `http://${host}`) return refuse(403, "Another page may not ask this server.");
  const site = request.header("sec-fetch-site")[0];
  if (site !== undefined && site !== "same-origin" && site !== "none") {
    return refuse(403, "Another page may not ask this server.");
  }
  return undefined;
}

/** Tells whether the request shows the token. The comparison takes the same time for every other token. */
export function showsToken(request: Headed, token: string): boolean {
  const [scheme, shown = ""] = (request.header("authorization")[0] ?? "").split(" ", 2);
  return scheme === "Bearer" && timingSafeEqual(digest(shown), digest(token));
}

/** A digest, because texts of different lengths cannot be compared in the same time. */
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** An answer that says why, as plain text. */
export function refuse(status: number, message: string): ServedAnswer {
  return { status, headers: { "content-type": "text/plain; charset=utf-8" }, body: `${message}\n` };
}
