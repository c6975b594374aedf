import { type IncomingHttpHeaders, type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { AbortedError, childController, throwIfAborted } from "../../../base/abort.ts";
import { CodedError, codeOf, messageOf } from "../../../base/errors.ts";
import type { HttpClient, HttpRequest, HttpResponse } from "../../port.ts";

const MAX_REDIRECTS = 10;

export const httpClient: HttpClient = { request };

async function request(request: HttpRequest, signal: AbortSignal): Promise<HttpResponse> {
  throwIfAborted(signal);
  const { controller, release } = childController(signal);
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    controller.abort();
  }, request.timeoutMs);
  try {
    return await followRedirects(request, controller.signal);
  } catch (error) {
    if (signal.aborted) throw new AbortedError();
    if (timedOut) throw new CodedError("ETIMEDOUT", `no answer within ${request.timeoutMs} ms`, { cause: error });
    throw error;
  } finally {
    clearTimeout(timer);
    release();
  }
}

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
  if (url?.protocol !== "http:" && url?.protocol !== "https:") {
    throw new CodedError("EINVAL", `not an http or https URL: ${text}`);
  }
  return url;
}

function redirectOf(request: HttpRequest, url: URL, response: HttpResponse): URL | undefined {
  const location = response.headers["location"];
  if (response.status < 300 || response.status > 399 || location === undefined) return undefined;
  if (request.method !== "GET" && request.method !== "HEAD") return undefined;
  if (!URL.canParse(location, url.href)) return undefined;
  const target = new URL(location, url);
  const isHttp = target.protocol === "http:" || target.protocol === "https:";
  return isHttp && target.hostname === url.hostname ? target : undefined;
}

async function exchange(request: HttpRequest, url: URL, signal: AbortSignal): Promise<HttpResponse> {
  const incoming = await new Promise<IncomingMessage>((resolve, reject) => {
    const send = url.protocol === "https:" ? requestHttps : requestHttp;
    const outgoing = send(url, {
      method: request.method,
      headers: groupHeaders(request.headers ?? []),
      agent: false,
      rejectUnauthorized: request.verifyTls ?? false,
      signal,
    });
    outgoing.on("error", (error) =>
      reject(isPlainAnswer(error) ? new CodedError("ENOTTLS", NOT_TLS, { cause: error }) : error),
    );
    outgoing.on("response", resolve);
    outgoing.end();
  });
  const body = await readBody(incoming, request.maxBodyBytes);
  return { status: incoming.statusCode ?? 0, headers: joinHeaders(incoming.headers), body };
}

const NOT_TLS = "server gave HTTP response to HTTPS client";

/**
 * What TLS takes the beginning of an answer in plain HTTP for: a record of a version that there is not. Of its errors
 * while hands are shaken, Node.js gives OpenSSL's text and nothing else.
 */
function isPlainAnswer(error: unknown): boolean {
  const code = codeOf(error);
  return (
    code === "ERR_SSL_WRONG_VERSION_NUMBER" || (code === "EPROTO" && /:wrong version number:/.test(messageOf(error)))
  );
}

/** A body that is too long is not read to its end: leaving the loop closes the connection. */
async function readBody(incoming: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of incoming) {
    const bytes = Buffer.from(chunk);
    length += bytes.length;
    if (length > maxBytes) throw new CodedError("EFBIG", `response body is longer than ${maxBytes} bytes`);
    chunks.push(bytes);
  }
  return Buffer.concat(chunks, length);
}

/** Node.js sends an array as one line a value, and `Host` must not be one. */
function groupHeaders(headers: ReadonlyArray<readonly [string, string]>): Record<string, string | string[]> {
  const grouped: Record<string, string | string[]> = {};
  for (const [name, value] of headers) {
    const key = name.toLowerCase();
    const earlier = grouped[key];
    if (earlier === undefined || key === "host") grouped[key] = value;
    else grouped[key] = Array.isArray(earlier) ? [...earlier, value] : [earlier, value];
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
