import { AbortedError, throwIfAborted, untilAborted } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import type {
  ConnectionFailure,
  GrpcProbe,
  GrpcProbeOutcome,
  HttpProbe,
  HttpProbeOutcome,
  ProbeClient,
  ProbeTarget,
  TcpProbeOutcome,
} from "../probe-port.ts";

/** A listener at an address, for probes. It leaves a protocol that it does not speak without an answer. */
export interface FakeListener {
  http?(probe: HttpProbe): FakeHttpAnswer;
  grpc?(probe: GrpcProbe): GrpcProbeOutcome | "silent";
  /** It neither accepts nor refuses connections. Default false. */
  isDeaf?: boolean;
}

/** `silent` never answers. `endless` sends the head, and then a body that does not end. `closed` hangs up. */
export type FakeHttpAnswer =
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string }
  | "silent"
  | "endless"
  | "closed";

/** A network of listeners, all of which tests put there. */
export interface FakeProbes extends ProbeClient {
  /** Sets the listener at `host:port` (`[…]:port` for IPv6) from now on; undefined for none. */
  listen(authority: string, listener: FakeListener | undefined): void;
  /**
   * Finds the listener for addresses where a test has put none: the rest of the world, in a simulation. Default none.
   */
  listenElsewhere(find: (target: ProbeTarget) => FakeListener | undefined): void;
}

const MAX_REDIRECTS = 10;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const REFUSED: ConnectionFailure = { reason: "refused", message: "connect ECONNREFUSED" };

export function createFakeProbes(clock: Clock): FakeProbes {
  const listeners = new Map<string, FakeListener>();
  let elsewhere: (target: ProbeTarget) => FakeListener | undefined = () => undefined;
  const find = (target: ProbeTarget) => listeners.get(authorityOf(target)) ?? elsewhere(target);

  /** Returns `answer`, or `late` when the time is over. An `undefined` answer never comes. */
  const inTime = async <T>(target: ProbeTarget, signal: AbortSignal, answer: T | undefined, late: T): Promise<T> => {
    throwIfAborted(signal);
    // An answer over a network comes later.
    await Promise.resolve();
    if (signal.aborted) throw new AbortedError();
    if (answer !== undefined) return answer;
    let cancel = () => {};
    const over = new Promise<T>((resolve) => {
      const timer = clock.setTimer(target.timeoutMs, () => resolve(late));
      cancel = () => timer.cancel();
    });
    try {
      return await untilAborted(over, signal);
    } finally {
      cancel();
    }
  };

  return {
    listen(authority, listener) {
      if (listener === undefined) listeners.delete(authority);
      else listeners.set(authority, listener);
    },
    listenElsewhere(other) {
      elsewhere = other;
    },
    async http(probe, signal) {
      const { outcome, isBody, url } = askHttp(find, probe);
      const failure = { reason: "timeout", message: "no answer in time" } as const;
      return await inTime(probe, signal, outcome, { kind: isBody ? "broken-body" : "no-answer", url, failure });
    },
    async tcp(target, signal) {
      const late = { kind: "failed", failure: { reason: "timeout", message: "timed out" } } as const;
      return await inTime<TcpProbeOutcome>(target, signal, connectTo(find(target)), late);
    },
    async grpc(probe, signal) {
      const listener = find(probe);
      if (listener === undefined || listener.isDeaf) {
        return await inTime<GrpcProbeOutcome>(probe, signal, undefined, { kind: "unreachable" });
      }
      const answer = listener.grpc?.(probe) ?? "silent";
      return await inTime(probe, signal, answer === "silent" ? undefined : answer, { kind: "late" });
    },
  };
}

function connectTo(listener: FakeListener | undefined): TcpProbeOutcome | undefined {
  if (listener === undefined) return { kind: "failed", failure: REFUSED };
  return listener.isDeaf ? undefined : { kind: "connected" };
}

type Find = (target: ProbeTarget) => FakeListener | undefined;
type Asked = { outcome: HttpProbeOutcome | undefined; isBody: boolean; url: string };

/** A result without an outcome means that none comes, and `isBody` tells which part is missing. */
function askHttp(find: Find, first: HttpProbe): Asked {
  let probe = first;
  for (let redirects = 0; redirects < MAX_REDIRECTS; redirects++) {
    const url = `${probe.scheme}://${authorityOf(probe)}${probe.path}`;
    const listener = find(probe);
    const broken = (failure: ConnectionFailure): Asked => ({
      outcome: { kind: "no-answer", url, failure },
      isBody: false,
      url,
    });
    if (listener === undefined) return broken(REFUSED);
    const answer = listener.isDeaf ? "silent" : (listener.http?.(probe) ?? "silent");
    if (answer === "closed") return broken({ reason: "closed", message: "socket hang up" });
    if (answer === "silent" || answer === "endless") return { outcome: undefined, isBody: answer === "endless", url };
    const next = redirectOf(first, url, answer);
    if (next === undefined) {
      const body = Buffer.from(answer.body ?? "").subarray(0, probe.maxBodyBytes);
      return { outcome: { kind: "answered", status: answer.status, body }, isBody: false, url };
    }
    probe = { ...probe, ...next };
  }
  const url = `${probe.scheme}://${authorityOf(probe)}${probe.path}`;
  const failure = { reason: "too-many-redirects", message: `stopped after ${MAX_REDIRECTS} redirects` } as const;
  return { outcome: { kind: "no-answer", url, failure }, isBody: false, url };
}

function redirectOf(
  first: HttpProbe,
  from: string,
  { status, headers }: Exclude<FakeHttpAnswer, string>,
): Pick<HttpProbe, "scheme" | "port" | "path"> | undefined {
  const location = headers?.["location"];
  if (location === undefined || !REDIRECTS.has(status) || !URL.canParse(location, from)) return undefined;
  const url = new URL(location, from);
  if (url.hostname !== new URL(`http://${authorityOf(first)}`).hostname) return undefined;
  const scheme = url.protocol === "https:" ? "https" : "http";
  const port = Number(url.port || (scheme === "https" ? 443 : 80));
  return { scheme, port, path: `${url.pathname}${url.search}` };
}

function authorityOf({ host, port }: ProbeTarget): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}
