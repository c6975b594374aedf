import { Readable } from "node:stream";
import { findJsonExcess } from "../../api/json-excess.ts";
import { throwIfAborted } from "../../base/abort.ts";
import { SECOND } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import { withDeadline } from "../../base/time-limit.ts";
import { readStart } from "../node-proxy/read-start.ts";
import type { ForeignQuestion, ReadForeign } from "../ports/foreign-reads.ts";
import type { Backend, Backends } from "./backends.ts";
import type { BackendCalls } from "./forward-request.ts";
import { backendTls, locateBackend, withAddresses } from "./locate-backend.ts";
import { userHeaders } from "./user-headers.ts";

/** For a whole answer. */
const READ_TIMEOUT_MS = 30 * SECOND;
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
/** Those of a page of objects, of which only names, owners and numbers are wanted. */
const MAX_ANSWER_VALUES = 250_000;

type ReadCalls = Omit<BackendCalls, "callUpgrade">;

/** Asks backends for the control plane's own parts. */
export function createBackendReads(calls: ReadCalls, backends: Backends): ReadForeign {
  return async (question, signal) => {
    const backend = backends.find(question);
    if (!backend?.isAvailable) return { kind: "unserved" };
    try {
      const limit = { timeoutMs: READ_TIMEOUT_MS, signal, what: `reading ${backend.name}` };
      const read = async (inner: AbortSignal) => await ask(calls, backend, { question, signal: inner });
      return await withDeadline(calls.clock, limit, read);
    } catch (error) {
      throwIfAborted(signal);
      return { kind: "failed", message: messageOf(error) };
    }
  };
}

async function ask(
  { callWeb, identity, reader, random, resolveHost }: ReadCalls,
  backend: Backend,
  { question, signal }: { question: ForeignQuestion; signal: AbortSignal },
): ReturnType<ReadForeign> {
  const location = locateBackend(reader, backend, random);
  if (!location.found) return { kind: "failed", message: location.message };
  const { group, version, path, user, method = "GET" } = question;
  const sent = bodyOf(question);
  const target = `/apis/${group}/${version}/${path}`;
  const headers = { accept: "application/json", ...userHeaders(user), ...sent.headers };
  const tls = backendTls(backend, identity);
  const server = await withAddresses(resolveHost, location.server, signal);
  const { status, body } = await callWeb({ ...server, method, target, headers, tls, ...sent.call }, signal);
  const text = await readStart(body, MAX_ANSWER_BYTES + 1);
  if (Buffer.byteLength(text) > MAX_ANSWER_BYTES) {
    return { kind: "failed", message: `the answer is longer than ${MAX_ANSWER_BYTES} bytes` };
  }
  const excess = findJsonExcess(text, { maxValues: MAX_ANSWER_VALUES });
  if (excess !== undefined) return { kind: "failed", message: `the answer holds ${excess}` };
  return { kind: "answered", status, text };
}

function bodyOf({ method, body }: ForeignQuestion) {
  if (body === undefined) return { headers: {}, call: {} };
  const text = JSON.stringify(body);
  const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
  const headers = { "content-type": type, "content-length": String(Buffer.byteLength(text)) };
  return { headers, call: { body: Readable.from([Buffer.from(text)]) } };
}
