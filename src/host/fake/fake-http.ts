import { AbortedError, sleep } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import { CodedError } from "../../base/errors.ts";
import type { HttpClient, HttpRequest, HttpResponse } from "../port.ts";

/** An HTTP client whose servers are functions. */
export interface FakeHttp extends HttpClient {
  /**
   * Sets the server that answers at this URL from now on. `undefined` takes it away, and the connection is refused
   * again.
   */
  serve(url: string, server: HttpServer | undefined): void;
  /** Every request that was made, oldest first. */
  readonly requests: readonly HttpRequest[];
}

/** An answer, or a function that makes one. A function that throws breaks the connection with its error. */
type HttpServer = HttpAnswer | ((request: HttpRequest) => HttpAnswer | Promise<HttpAnswer>);

interface HttpAnswer {
  status: number;
  headers?: Readonly<Record<string, string>>;
  body?: string | Buffer;
  /** How long the answer takes; past the request's `timeoutMs` the request fails instead. Default 0. */
  delayMs?: number;
}

const MAX_REDIRECTS = 10;

export function createFakeHttp(clock: Clock): FakeHttp {
  const servers = new Map<string, HttpServer>();
  const requests: HttpRequest[] = [];

  const ask = async (request: HttpRequest): Promise<HttpAnswer> => {
    const server = servers.get(request.url);
    if (server === undefined) throw new CodedError("ECONNREFUSED", `connect ECONNREFUSED ${request.url}`);
    return typeof server === "function" ? server(request) : server;
  };

  const exchange = async (request: HttpRequest, deadline: Deadline): Promise<HttpResponse> => {
    let url = request.url;
    for (let redirects = 0; ; redirects++) {
      const answer = await Promise.race([ask({ ...request, url }), deadline.failed]);
      if (answer.delayMs !== undefined) {
        await Promise.race([sleep(clock, answer.delayMs, deadline.over), deadline.failed]);
      }
      const response = respond(request, answer);
      const next = redirects < MAX_REDIRECTS ? redirectOf(request, url, response) : undefined;
      if (next === undefined) return response;
      url = next;
    }
  };

  return {
    requests,
    serve(url, server) {
      if (server === undefined) servers.delete(url);
      else servers.set(url, server);
    },
    async request(request, signal) {
      if (signal.aborted) throw new AbortedError();
      requests.push(request);
      const deadline = startDeadline(clock, request.timeoutMs, signal);
      try {
        return await exchange(request, deadline);
      } finally {
        deadline.clear();
      }
    },
  };
}

function respond(request: HttpRequest, answer: HttpAnswer): HttpResponse {
  const body = Buffer.from(request.method === "HEAD" ? "" : (answer.body ?? ""));
  if (body.length > request.maxBodyBytes)
    throw new CodedError("EFBIG", `response body is longer than ${request.maxBodyBytes} bytes`);
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(answer.headers ?? {})) headers[name.toLowerCase()] = value;
  return { status: answer.status, headers, body };
}

function redirectOf(request: HttpRequest, url: string, response: HttpResponse): string | undefined {
  const location = response.headers["location"];
  if (response.status < 300 || response.status > 399 || location === undefined) return undefined;
  if (request.method !== "GET" && request.method !== "HEAD") return undefined;
  const target = new URL(location, url);
  return target.hostname === new URL(url).hostname ? target.href : undefined;
}

interface Deadline {
  /** Rejects when the time is up or the request was aborted. */
  failed: Promise<never>;
  /** Fires when the request has ended, in any way. */
  over: AbortSignal;
  clear(): void;
}

function startDeadline(clock: Clock, timeoutMs: number, signal: AbortSignal): Deadline {
  const over = new AbortController();
  const failed = new Promise<never>((_, reject) => {
    const onAbort = () => reject(new AbortedError());
    const timer = clock.setTimer(timeoutMs, () => {
      reject(new CodedError("ETIMEDOUT", `no answer within ${timeoutMs} ms`));
    });
    signal.addEventListener("abort", onAbort, { once: true });
    over.signal.addEventListener("abort", () => {
      timer.cancel();
      signal.removeEventListener("abort", onAbort);
    });
  });
  failed.catch(() => undefined);
  return { failed, over: over.signal, clear: () => over.abort() };
}
