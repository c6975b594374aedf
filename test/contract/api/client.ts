import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { Agent, request as httpsRequest } from "node:https";
import { isKubeObject, isRecord, type KubeObject } from "../../../src/api/object.ts";
import { openWatchStream, type WatchStream } from "./watch-stream.ts";

/** The server and the caller's credentials. Without a certificate and a token the caller is the anonymous user. */
export interface Credentials {
  readonly url: string;
  readonly caPem: string;
  readonly certificatePem?: string;
  readonly keyPem?: string;
  readonly token?: string;
}

type Query = Readonly<Record<string, string | number | boolean | readonly string[]>>;

export interface CallOptions {
  readonly query?: Query;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Parsed where the answer says that it is JSON, else its text. */
  readonly body: unknown;
}

/** The HTTP API as it is, without any client library's opinion of it. Connections are kept alive. */
export interface ApiClient {
  /** A body that is a string goes out as it stands, anything else as JSON. */
  json(method: string, path: string, body?: unknown, options?: CallOptions): Promise<Answer>;
  /** The answer as it arrives, of any form; a body that is bytes goes out as it stands. */
  open(method: string, path: string, body?: Buffer, options?: CallOptions): Promise<IncomingMessage>;
  /** As `json`; rejects unless the answer is a success and an object. */
  object(method: string, path: string, body?: unknown, options?: CallOptions): Promise<KubeObject>;
  /** PATCH in one of the four ways. */
  patch(type: PatchType, path: string, body: unknown, options?: CallOptions): Promise<Answer>;
  list(path: string, query?: Query): Promise<ObjectList>;
  /** Rejects with the answer's body when the server does not start to stream. */
  watch(path: string, query?: Query, headers?: CallOptions["headers"]): Promise<WatchStream>;
  /** Ends its connections and the watches that are still open. */
  close(): void;
}

interface ObjectList {
  readonly items: readonly KubeObject[];
  readonly resourceVersion: string;
  /** "" on the last page. */
  readonly next: string;
  readonly remainingItemCount: number | undefined;
}

const PATCH_TYPES = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml",
} as const;

export type PatchType = keyof typeof PATCH_TYPES;

/** No single call takes longer on a server that works. */
const CALL_TIMEOUT_MS = 30_000;

export function createApiClient(credentials: Credentials): ApiClient {
  const agent = new Agent({
    keepAlive: true,
    maxSockets: 512,
    ca: credentials.caPem,
    ...(credentials.certificatePem && { cert: credentials.certificatePem, key: credentials.keyPem ?? "" }),
  });
  const send = (call: Call) => sendRequest({ agent, credentials }, call);
  const json: ApiClient["json"] = async (method, path, body, options = {}) => {
    const response = await send({ method, path, body, ...options, timeoutMs: CALL_TIMEOUT_MS });
    return readAnswer(response);
  };
  return {
    json,
    open: (method, path, body, options = {}) => send({ method, path, body, ...options }),
    async object(method, path, body, options) {
      const answer = await json(method, path, body, options);
      if (answer.status >= 300 || !isKubeObject(answer.body)) throw unexpected(`${method} ${path}`, answer);
      return answer.body;
    },
    patch: (type, path, body, { headers, ...options } = {}) => {
      return json("PATCH", path, body, { ...options, headers: { "content-type": PATCH_TYPES[type], ...headers } });
    },
    async list(path, query = {}) {
      const answer = await json("GET", path, undefined, { query });
      if (answer.status !== 200 || !isRecord(answer.body)) throw unexpected(`GET ${path}`, answer);
      return readList(answer.body);
    },
    async watch(path, query = {}, headers = {}) {
      const response = await send({ method: "GET", path, query: { watch: true, ...query }, headers });
      if (response.statusCode === 200) return openWatchStream(response);
      throw unexpected(`watch ${path}`, await readAnswer(response));
    },
    close: () => agent.destroy(),
  };
}

interface Call extends CallOptions {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly timeoutMs?: number;
}

async function sendRequest(
  { agent, credentials }: { agent: Agent; credentials: Credentials },
  { method, path, body, query = {}, headers = {}, timeoutMs }: Call,
): Promise<IncomingMessage> {
  const url = new URL(path, credentials.url);
  for (const [name, value] of Object.entries(query)) {
    for (const item of [value].flat()) url.searchParams.append(name, String(item));
  }
  const payload = body === undefined ? undefined : bytesOf(body);
  const sent: Record<string, string | string[]> = {
    "user-agent": "contract/1.0",
    accept: "application/json",
    ...(payload && { "content-type": "application/json", "content-length": String(payload.length) }),
    ...(credentials.token && { authorization: `Bearer ${credentials.token}` }),
  };
  for (const [name, value] of Object.entries(headers)) sent[name] = typeof value === "string" ? value : [...value];
  return new Promise((resolve, reject) => {
    const signal = timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs);
    const request = httpsRequest(url, { method, agent, headers: sent, ...(signal && { signal }) });
    request.once("response", resolve);
    request.once("error", reject);
    request.end(payload);
  });
}

function bytesOf(body: unknown): Buffer {
  if (Buffer.isBuffer(body)) return body;
  return Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
}

async function readAnswer(response: IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(Buffer.from(chunk));
  const text = Buffer.concat(chunks).toString();
  const isJson = (response.headers["content-type"] ?? "").includes("json") && text !== "";
  const body: unknown = isJson ? JSON.parse(text) : text;
  return { status: response.statusCode ?? 0, headers: response.headers, body };
}

function readList(body: Readonly<Record<string, unknown>>): ObjectList {
  const { apiVersion, kind, metadata, items } = body;
  const { resourceVersion, continue: next = "", remainingItemCount } = isRecord(metadata) ? metadata : {};
  const entries: readonly unknown[] = Array.isArray(items) ? items : [];
  // The items of a list may leave out what the list says of them.
  const told = { apiVersion: String(apiVersion), kind: String(kind).replace(/List$/, "") };
  return {
    items: entries.flatMap((item) => {
      const object = isRecord(item) ? { ...told, ...item } : undefined;
      return isKubeObject(object) ? [object] : [];
    }),
    resourceVersion: String(resourceVersion),
    next: String(next),
    remainingItemCount: typeof remainingItemCount === "number" ? remainingItemCount : undefined,
  };
}

function unexpected(what: string, { status, body }: Answer): Error {
  return new Error(`${what} was answered with ${status}: ${typeof body === "string" ? body : JSON.stringify(body)}`);
}
