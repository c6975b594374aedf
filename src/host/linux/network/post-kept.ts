import type { ClientRequest, IncomingMessage } from "node:http";
import { Agent, request as requestSecure } from "node:https";
import { isIP } from "node:net";
import { TLSSocket } from "node:tls";
import { AbortedError, throwIfAborted } from "../../../base/abort.ts";
import { CodedError, codeOf, messageOf } from "../../../base/errors.ts";
import type { Post, PostAnswer, PostCall } from "../../post-call.ts";
import { describeDialError } from "./dial.ts";
import { readBody } from "./read-body.ts";
import { distrustOf } from "./trust-server.ts";

const MAX_CONNECTIONS_A_SERVER = 32;
const MAX_IDLE_A_SERVER = 4;
/** Go's servers keep idle connections for longer by default, so that ours mostly ends first. */
const IDLE_MS = 30_000;

/** Connections whose server is believed. A connection serves one name and one bundle, and is judged once. */
const believed = new WeakSet<TLSSocket>();

/**
 * The real `PostCall`. When `stop` fires, all calls that are under way end with `AbortedError`, and no connection is
 * left.
 */
export function createPostCall(stop: AbortSignal): PostCall {
  const agent = new Agent({
    keepAlive: true,
    maxSockets: MAX_CONNECTIONS_A_SERVER,
    maxFreeSockets: MAX_IDLE_A_SERVER,
    timeout: IDLE_MS,
    // A resumed session does not show the certificate again, and it is judged here. Go keeps no sessions either.
    maxCachedSessions: 0,
  });
  stop.addEventListener("abort", () => agent.destroy(), { once: true });
  return async (post, signal) => {
    const both = AbortSignal.any([stop, signal]);
    try {
      return await postAgain(agent, post, both);
    } catch (error) {
      if (both.aborted) throw new AbortedError();
      if (codeOf(error) === "EFBIG") throw new CodedError("too-large", messageOf(error), { cause: error });
      throw new CodedError("call-failed", describe(error, post), { cause: error });
    }
  };
}

/** A kept connection that the server has ended meanwhile is no failure: the post goes out once more, on a new one. */
async function postAgain(agent: Agent, post: Post, signal: AbortSignal): Promise<PostAnswer> {
  for (;;) {
    throwIfAborted(signal);
    const request = begin(agent, post);
    try {
      return await exchange(request, post, signal);
    } catch (error) {
      const isStale = request.reusedSocket && codeOf(error) === "ECONNRESET";
      if (!isStale) throw error;
    } finally {
      request.destroy();
    }
  }
}

function begin(agent: Agent, { address, port, serverName, target, headers, ca }: Post): ClientRequest {
  const request = requestSecure({
    agent,
    host: address,
    port,
    method: "POST",
    path: target,
    headers,
    // No server name is sent for an address, which is what the certificate is compared with then.
    ...(isIP(serverName) === 0 && { servername: serverName }),
    ...(ca !== undefined && { ca }),
    // Judged below, before anything is sent.
    rejectUnauthorized: false,
  });
  request.once("socket", (socket) => {
    if (!(socket instanceof TLSSocket) || believed.has(socket)) return;
    const judge = () => {
      const distrust = distrustOf(socket, { name: serverName, ca });
      if (distrust) socket.destroy(distrust);
      else believed.add(socket);
    };
    // The handshake is over already where the request that the connection was opened for was given up meanwhile.
    if (socket.authorized || socket.authorizationError) judge();
    else socket.once("secureConnect", judge);
  });
  return request;
}

async function exchange(request: ClientRequest, { text, maxBytes }: Post, signal: AbortSignal): Promise<PostAnswer> {
  const onAbort = () => request.destroy(new AbortedError());
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    const message = await new Promise<IncomingMessage>((resolve, reject) => {
      request.on("error", reject);
      request.once("response", (answer: IncomingMessage) => {
        // The body may break before it is read.
        answer.on("error", () => undefined);
        resolve(answer);
      });
      request.end(text);
    });
    const body = await readBody(message, { maxBytes, atLimit: "refuse" });
    return { status: message.statusCode ?? 0, text: body.toString() };
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** The words of Go's x509 package for the codes of Node.js. */
const CERTIFICATE_WORDS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: "certificate has expired or is not yet valid",
  CERT_NOT_YET_VALID: "certificate has expired or is not yet valid",
  DEPTH_ZERO_SELF_SIGNED_CERT: "certificate signed by unknown authority",
  SELF_SIGNED_CERT_IN_CHAIN: "certificate signed by unknown authority",
  UNABLE_TO_GET_ISSUER_CERT: "certificate signed by unknown authority",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "certificate signed by unknown authority",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "certificate signed by unknown authority",
};

function describe(error: unknown, { address: host, port, serverName }: Post): string {
  const code = codeOf(error) ?? "";
  const words =
    code === "ERR_TLS_CERT_ALTNAME_INVALID"
      ? `certificate is not valid for ${serverName}: ${messageOf(error)}`
      : CERTIFICATE_WORDS[code];
  if (words !== undefined) return `tls: failed to verify certificate: x509: ${words}`;
  return describeDialError(error, { host, port });
}
