import { AbortedError } from "../../../src/base/abort.ts";
import type { Clock } from "../../../src/base/clock.ts";
import type { ControlPlane } from "../../../src/control-plane/compose/control-plane.ts";
import { createFakeRequest } from "../../../src/host/fake/fake-request.ts";
import type { ServedAnswer, ServedRequest } from "../../../src/host/http-server.ts";
import { systemClock } from "../../../src/host/linux/system/system-clock.ts";
import { readAnswerError } from "../../../src/kube/http/answer-error.ts";
import type { ApiRequest, Caller } from "../../../src/kube/http/caller.ts";
import { type CallDeadline, createDeadline } from "../../../src/kube/http/deadline.ts";
import { createKubeVerbs } from "../../../src/kube/http/kube-verbs.ts";
import { type KubeClient, KubeUnreachableError } from "../../../src/kube/port.ts";
import { createEventQueue } from "./event-queue.ts";
import type { WrongAnswers } from "./wrong-answers.ts";

/** As whom a client calls: what its certificate would say. Undefined is the anonymous user. */
type DirectUser = { readonly commonName: string; readonly organizations: readonly string[] } | undefined;

interface DirectClientOptions {
  /** Default: the real one. */
  readonly clock?: Clock;
  /** Default 10 s. */
  readonly timeoutMs?: number;
  readonly userAgent?: string;
  /** What is said in place of what the control plane says. */
  readonly wrong?: Pick<WrongAnswers, "answer" | "events">;
}

/**
 * A client of a control plane in this process: the whole server is exercised, and HTTP and TLS are not. Everything
 * happens on promises and the given clock, so that a simulation replays.
 */
export function createDirectKubeClient(
  { handle }: Pick<ControlPlane, "handle">,
  user: DirectUser,
  options: DirectClientOptions = {},
): KubeClient {
  const { clock = systemClock, timeoutMs = 10_000, userAgent = "direct/1.0", wrong } = options;
  const ask = async (request: ApiRequest, deadline: CallDeadline): Promise<ServedAnswer> => {
    const { signal } = deadline;
    const web = describeRequest(request, { user, userAgent, signal });
    return await new Promise((resolve, reject) => {
      signal.addEventListener("abort", () => reject(new AbortedError()), { once: true });
      Promise.resolve(handle(web)).then(resolve, reject);
    });
  };
  const caller: Caller = {
    async call(request, callOptions) {
      const deadline = createDeadline(clock, {
        parents: [callOptions.signal],
        timeoutMs: callOptions.timeoutMs ?? timeoutMs,
      });
      try {
        const body = readSuccess(request, await ask(request, deadline));
        return wrong?.answer(request, body) ?? body;
      } catch (error) {
        throw explain(request, deadline, error);
      } finally {
        deadline.release();
      }
    },
    async stream(request, { endAfterMs, signal }) {
      const deadline = createDeadline(clock, { parents: [signal], timeoutMs: endAfterMs });
      try {
        const answer = await ask(request, deadline);
        if (answer.status !== 200) readSuccess(request, answer);
        const events = createEventQueue(answer.body, deadline.signal);
        return {
          read: async (onChunk) => {
            const told = (chunk: Buffer) => onChunk(wrong?.events(request, chunk) ?? chunk);
            await events.read(told).catch((error: unknown) => {
              throw explain(request, deadline, error);
            });
          },
          release() {
            events.close();
            deadline.release();
          },
        };
      } catch (error) {
        deadline.release();
        throw explain(request, deadline, error);
      }
    },
  };
  return createKubeVerbs({ caller, clock }, { timeoutMs });
}

function explain({ method, path }: ApiRequest, { isTimedOut, timeoutMs }: CallDeadline, error: unknown): unknown {
  if (!isTimedOut) return error;
  return new KubeUnreachableError("timed-out", `${method} ${path}: no answer within ${timeoutMs} ms`, { cause: error });
}

interface Sender {
  readonly user: DirectUser;
  readonly userAgent: string;
  readonly signal: AbortSignal;
}

function describeRequest(
  { method, path, body, contentType = "application/json" }: ApiRequest,
  { user, userAgent, signal }: Sender,
): ServedRequest {
  const peer = user && ({ kind: "verified", ...user, fingerprint: "", notAfter: Number.MAX_SAFE_INTEGER } as const);
  const headers = {
    accept: "application/json",
    "user-agent": userAgent,
    ...(body !== undefined && { "content-type": contentType }),
  };
  const bytes = body === undefined ? {} : { body: JSON.stringify(body) };
  return createFakeRequest(path, { method, headers, peer, remoteAddress: "127.0.0.1", signal, ...bytes });
}

function readSuccess({ method, path }: ApiRequest, { status, body }: ServedAnswer): Buffer {
  const bytes = bytesOf(body);
  if (status >= 200 && status < 300) return bytes;
  throw readAnswerError(`${method} ${path}`, status, bytes);
}

function bytesOf(body: ServedAnswer["body"]): Buffer {
  if (typeof body === "string") return Buffer.from(body);
  if (Buffer.isBuffer(body)) return body;
  if (!("length" in body)) throw new Error("the control plane streams what should be one answer");
  return Buffer.concat(body);
}
