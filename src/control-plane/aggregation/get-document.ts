import { CodedError } from "../../base/errors.ts";
import { readStart } from "../node-proxy/read-start.ts";
import type { Backend } from "./backends.ts";
import type { BackendCalls } from "./forward-request.ts";
import { type BackendServer, backendTls, withAddresses } from "./locate-backend.ts";
import { userHeaders } from "./user-headers.ts";

/** A document of a backend about itself. */
interface BackendDocument {
  readonly backend: Backend;
  readonly server: BackendServer;
  readonly path: string;
  readonly maxBytes: number;
}

const OK = 200;
const REDIRECT = 300;

/** The identity of the control plane itself: it may read any backend's documents. */
const READER = { username: "system:kube-aggregator", groups: ["system:masters"] };

/**
 * The document's text, or the beginning of one that is longer than `maxBytes`. Rejects with a CodedError `bad-status`, and
 * as the call does.
 */
export async function getDocument(
  { callWeb, identity, resolveHost }: Pick<BackendCalls, "callWeb" | "identity" | "resolveHost">,
  { backend, server, path, maxBytes }: BackendDocument,
  signal: AbortSignal,
): Promise<string> {
  const headers = { accept: "application/json", ...userHeaders(READER) };
  const tls = backendTls(backend, identity);
  const at = await withAddresses(resolveHost, server, signal);
  const { status, body } = await callWeb({ ...at, method: "GET", target: path, headers, tls }, signal);
  if (status < OK || status >= REDIRECT) {
    body.destroy();
    throw new CodedError("bad-status", `bad status: ${status}`);
  }
  return await readStart(body, maxBytes);
}
