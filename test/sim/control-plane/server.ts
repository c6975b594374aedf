import { isKubeObject, type KubeObject } from "../../../src/api/object.ts";
import { AbortedError } from "../../../src/base/abort.ts";
import { CodedError, codeOf, messageOf } from "../../../src/base/errors.ts";
import { withDeadline } from "../../../src/base/time-limit.ts";
import type { FakeClock } from "../../../src/host/fake/fake-clock.ts";
import { createFakeRequest } from "../../../src/host/fake/fake-request.ts";
import { createSimulatedApiServer, type SimulatedApiServer } from "../api/create-api-server.ts";
import type { Trace } from "../trace.ts";
import type { Disk } from "./disk.ts";
import type { Estate } from "./estate/estate.ts";
import { createLife, type DeathPoint, type Life } from "./life.ts";
import type { Webhook } from "./webhook.ts";

/** A request of a user or of a node: `PATCH`, `/api/v1/namespaces/shop/pods/web-1`. */
interface Asked {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly body?: object;
  readonly contentType?: string;
}

/** The control plane as its supervisor has it: one process after the other, on one disk. */
export interface Server {
  /** Begins a process, unless there is one. */
  start(deathPoint?: DeathPoint): Promise<void>;
  /** Ends the process as kill -9 does. */
  crash(why: string): void;
  /** Stops it in order. */
  stop(): Promise<void>;
  readonly isUp: boolean;
  /** Rejects with a CodedError `refused` for an answer that is no success, `down` when nobody answers. */
  ask(asked: Asked): Promise<KubeObject | undefined>;
}

interface ServerDeps {
  clock: FakeClock;
  disk: Disk;
  webhook: Webhook;
  trace: Trace;
  seed: number;
  estate: Pick<Estate, "directories" | "usage"> | undefined;
  restartDelayMs(): number;
  count(kind: string): void;
  fail(invariant: string, message: string): void;
}

/** Nodes report nothing here, and are not given up for it. */
const PATIENT = { graceMs: 1e12, startupGraceMs: 1e12 };
const ANSWER_MS = 10_000;
const ADMIN = { kind: "verified", commonName: "admin", organizations: ["system:masters"], fingerprint: "" } as const;

interface Process {
  readonly life: Life;
  server: SimulatedApiServer | undefined;
}

export function createServer(deps: ServerDeps): Server {
  const { clock, disk, webhook, trace, count, fail } = deps;
  let process: Process | undefined;
  let lives = 0;

  const restartLater = () => clock.setTimer(deps.restartDelayMs(), () => void start());
  const crash = (why: string) => {
    if (process === undefined) return;
    trace.note(`the control plane is killed ${why}`);
    count("control plane killed");
    process.life.kill();
    process = undefined;
  };
  const start = async (deathPoint?: DeathPoint) => {
    if (process !== undefined) return;
    lives += 1;
    const life = createLife(clock, {
      deathPoint,
      onDeathPoint(phase) {
        crash(`${phase} its write ${deathPoint?.write ?? 0}`);
        restartLater();
      },
    });
    const own: Process = { life, server: undefined };
    process = own;
    trace.note(`the control plane starts, for the ${lives}. time`);
    const leave = (error: unknown) => {
      if (life.isDead) return;
      // A disk that is full when the first objects are to be written ends the process, and it is started again.
      if (codeOf(error) !== "bootstrap-failed") fail("no controller contradicts itself", describe(error));
      crash(`by itself: ${messageOf(error)}`);
      restartLater();
    };
    try {
      const seed = deps.seed + lives;
      const { usage, directories } = deps.estate ?? {};
      own.server = await createSimulatedApiServer({
        ...{ clock: life.clock, seed, journal: disk.open(life), post: webhook.post, nodeMonitor: PATIENT },
        ...(usage !== undefined && { callNode: usage.call }),
        ...(directories !== undefined && { localDirectories: directories.open(life) }),
      });
      own.server.ended.catch(leave);
    } catch (error) {
      leave(error);
    }
  };
  const ask = async ({ method, path, body, contentType = "application/json" }: Asked) => {
    const { server, life } = process ?? {};
    if (server === undefined || life === undefined) throw new CodedError("down", "nobody answers");
    const request = createFakeRequest(path, {
      method,
      headers: { accept: "application/json", ...(body !== undefined && { "content-type": contentType }) },
      peer: { ...ADMIN, notAfter: Number.MAX_SAFE_INTEGER },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const limit = { timeoutMs: ANSWER_MS, signal: new AbortController().signal, what: path };
    const answer = await withDeadline(clock, limit, async (signal) => {
      return await new Promise<Awaited<ReturnType<typeof server.controlPlane.handle>>>((resolve, reject) => {
        signal.addEventListener("abort", () => reject(new AbortedError()), { once: true });
        Promise.resolve(server.controlPlane.handle(request)).then(resolve, reject);
      });
    });
    const text = textOf(answer.body);
    if (answer.status >= 400) throw new CodedError("refused", `${method} ${path}: ${answer.status} ${messageIn(text)}`);
    const object: unknown = JSON.parse(text);
    return isKubeObject(object) ? object : undefined;
  };
  return {
    start,
    crash,
    async stop() {
      const stopping = process;
      process = undefined;
      await stopping?.server?.stop();
      stopping?.life.kill();
    },
    get isUp() {
      return process?.server !== undefined;
    },
    ask,
  };
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

function textOf(body: unknown): string {
  if (typeof body === "string") return body;
  if (Buffer.isBuffer(body)) return body.toString();
  return Array.isArray(body) ? Buffer.concat(body.filter((part) => Buffer.isBuffer(part))).toString() : "";
}

function messageIn(text: string): string {
  const status: unknown = JSON.parse(text);
  return isKubeObject(status) || typeof status !== "object" || status === null || !("message" in status)
    ? text.slice(0, 200)
    : String(status.message);
}
