import type { IncomingHttpHeaders } from "node:http";
import { CodedError, codeOf, messageOf } from "../../../base/errors.ts";
import type { HttpClient, HttpRequest, HttpResponse } from "../../port.ts";
import { addressOf, isWebUrl, pathAndQuery, redirectTarget } from "../../request-url.ts";
import { readBody } from "./read-body.ts";
import { sendRequest } from "./send-request.ts";
import { withinTime } from "./within-time.ts";

const MAX_REDIRECTS = 10;

/** The real `HttpClient`. */
export const httpClient: HttpClient = {
  async request(request, signal) {
    return await withinTime(request.timeoutMs, signal, async (deadline) => {
      try {
        return await followRedirects(request, deadline.signal);
      } catch (error) {
        if (!deadline.isOver()) throw error;
        throw new CodedError("ETIMEDOUT", `no answer within ${request.timeoutMs} ms`, { cause: error });
      }
    });
  },
};

async function followRedirects(request: HttpRequest, signal: AbortSignal): Promise<HttpResponse> {
  let url = parseUrl(request.url);
  for (let redirects = 0; ; redirects++) {
    const response = await exchange(request, url, signal);
    const next = redirects < MAX_REDIRECTS ? redirectOf(request, url, response) : undefined;
    if (next === undefined) return response;
    url = next;
  }
}

function parseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !isWebUrl(url)) throw new CodedError("EINVAL", `not an http or https URL: ${text}`);
  return url;
}

function redirectOf({ method }: HttpRequest, url: URL, { status, headers }: HttpResponse): URL | undefined {
  if (status < 300 || status > 399 || (method !== "GET" && method !== "HEAD")) return undefined;
  return redirectTarget(url.href, headers["location"], url.hostname);
}

async function exchange(request: HttpRequest, url: URL, signal: AbortSignal): Promise<HttpResponse> {
  const { method, headers = [], maxBodyBytes, verifyTls = false } = request;
  const outgoing = {
    to: addressOf(url),
    method,
    path: pathAndQuery(url),
    headers: groupHeaders(headers),
    auth: credentialsOf(url),
    tls: { rejectUnauthorized: verifyTls },
  };
  const reply = await sendRequest(outgoing, signal).catch((error: unknown) => {
    throw isPlainAnswer(error) ? new CodedError("ENOTTLS", NOT_TLS, { cause: error }) : error;
  });
  if (reply.kind === "upgraded") {
    reply.socket.destroy();
    throw new CodedError("EPROTO", "the server switched to a protocol that nobody asked for");
  }
  const body = await readBody(reply.message, { maxBytes: maxBodyBytes, atLimit: "refuse" });
  return { status: reply.status, headers: joinHeaders(reply.message.headers), body };
}

/** Undefined for a URL that names no user. */
function credentialsOf({ username, password }: URL): string | undefined {
  if (username === "" && password === "") return undefined;
  return `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
}

const NOT_TLS = "server gave HTTP response to HTTPS client";

/**
 * TLS takes the beginning of an answer in plain HTTP for a record of a version that does not exist. For an error during
 * the handshake Node.js gives the text of OpenSSL and nothing else.
 */
function isPlainAnswer(error: unknown): boolean {
  const code = codeOf(error);
  return (
    code === "ERR_SSL_WRONG_VERSION_NUMBER" || (code === "EPROTO" && /:wrong version number:/.test(messageOf(error)))
  );
}

/** Node.js sends a list as one line for each value, and `Host` must not be a list. */
function groupHeaders(headers: ReadonlyArray<readonly [string, string]>): Record<string, string | string[]> {
  const grouped: Record<string, string | string[]> = {};
  for (const [name, value] of headers) {
    const key = name.toLowerCase();
    const earlier = grouped[key];
    if (earlier === undefined || key === "host") grouped[key] = value;
    else grouped[key] = [earlier, value].flat();
  }
  return grouped;
}

function joinHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const joined: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) joined[name] = Array.isArray(value) ? value.join(", ") : value;
  }
  return joined;
}
