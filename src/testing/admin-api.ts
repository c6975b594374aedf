import { Agent, request } from "node:https";
import { setTimeout as delay } from "node:timers/promises";
import { throwIfAborted } from "../base/abort.ts";
import { CodedError } from "../base/errors.ts";
import type { ClusterCertificates } from "../pki/cluster-certificates.ts";

export interface ApiAnswer {
  readonly status: number;
  /** The body is already parsed. */
  readonly body: unknown;
}

interface ApiCall {
  readonly body?: unknown;
  /** Default: JSON. */
  readonly contentType?: string;
}

interface Poll {
  readonly path: string;
  readonly signal?: AbortSignal | undefined;
  /** A throw of this function ends the wait. */
  isReached(answer: ApiAnswer): boolean;
}

/** The cluster's API as an administrator's client sees it. */
export interface AdminApi {
  call(method: string, path: string, call?: ApiCall): Promise<ApiAnswer>;
  /** Reads the path until the answer is the wanted one. Rejects when that takes far longer than it ever should. */
  poll(what: string, poll: Poll): Promise<void>;
  /** Ends the client's connections. */
  close(): void;
}

const POLL_INTERVAL_MS = 2;
/**
 * The bound of a wait. The event usually takes milliseconds, but a machine that runs many test processes may be slow.
 */
const POLL_LIMIT_MS = 30_000;

/**
 * Connects through the API like any client, so that its writes are authorized, defaulted and validated like all others.
 */
export function connectAdminApi(
  url: string,
  credentials: () => Pick<ClusterCertificates, "trustedPem" | "admin">,
): AdminApi {
  const agent = new Agent({ keepAlive: true });
  const call: AdminApi["call"] = (method, path, { body, contentType = "application/json" } = {}) =>
    new Promise((resolve, reject) => {
      const headers = { accept: "application/json", ...(body !== undefined && { "content-type": contentType }) };
      const { trustedPem: ca, admin } = credentials();
      const identity = { ca, cert: admin.certificatePem, key: admin.keyPem };
      const outgoing = request(`${url}${path}`, { method, agent, headers, ...identity }, (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", reject);
        response.on("end", () => {
          try {
            resolve({ status: response.statusCode ?? 0, body: JSON.parse(Buffer.concat(chunks).toString()) });
          } catch (error) {
            reject(new Error(`${method} ${path}: the answer is no JSON`, { cause: error }));
          }
        });
      });
      outgoing.on("error", reject);
      outgoing.end(body === undefined ? undefined : JSON.stringify(body));
    });
  return {
    call,
    async poll(what, { path, signal, isReached }) {
      const deadline = performance.now() + POLL_LIMIT_MS;
      while (!isReached(await call("GET", path))) {
        throwIfAborted(signal);
        if (performance.now() > deadline) throw new CodedError("start-timed-out", `no sign of ${what} after 30 s`);
        await delay(POLL_INTERVAL_MS);
      }
    },
    close: () => agent.destroy(),
  };
}
