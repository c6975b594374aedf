import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { Agent as Connections, request } from "node:http";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { NodeCondition, Pod } from "../src/api/gen/types.ts";
import { commandOf } from "./build.ts";
import type { Manifest } from "./workload.ts";
import type { AgentPlace, World } from "./world.ts";

/** The built program as `nodelet kubelet`, a child process. Times are milliseconds of `performance.now()`. */
export interface Agent {
  readonly pid: number;
  /** From the start of the process until the node said that it is ready. */
  readonly readyAfterMs: number;
  /** SIGSTOP: it cannot slow what others do meanwhile. */
  pause(): void;
  /** SIGCONT; resolves when it has looked at what happened meanwhile. */
  resume(): Promise<void>;
  /** Pauses it while `turn` runs. */
  whilePaused<T>(turn: () => Promise<T>): Promise<T>;
  /** Writes the manifest and returns when that began. */
  write(manifest: Manifest): Promise<number>;
  /** Removes it and returns when that began. */
  remove(name: string): Promise<number>;
  /** Pods as the node publishes them, by the name in their manifest. */
  pods(): Promise<ReadonlyMap<string, Pod>>;
  /** The text of `/metrics`. */
  metrics(): Promise<string>;
  /** SIGTERM; resolves when it has ended. Its pods run on. */
  stop(): Promise<void>;
}

export const NODE_NAME = "bench";
const READY_TIMEOUT_MS = 30_000;
const ANSWER_TIMEOUT_MS = 10_000;
/** The server keeps a connection for 5 s; one that lies idle for longer than this is not used again. */
const IDLE_MS = 2_000;
/** After a pause the agent hears of everything that happened meanwhile; this long it takes to look at it. */
const SETTLE_MS = 300;

export async function startAgent(world: World, place: AgentPlace, signal: AbortSignal): Promise<Agent> {
  const startedAt = performance.now();
  const child = spawnAgent(world, place);
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const connections = new Connections({ keepAlive: true, maxSockets: 1, timeout: IDLE_MS });
  const get = async (path: string) => await fetchText({ socketPath: place.socket, path, agent: connections });
  const file = (name: string) => join(place.manifests, `${name}.json`);
  const pause = () => void child.kill("SIGSTOP");
  const resume = async () => {
    child.kill("SIGCONT");
    await delay(SETTLE_MS);
  };
  const stop = async () => {
    connections.destroy();
    child.kill("SIGCONT");
    child.kill("SIGTERM");
    await exited;
  };
  try {
    await untilReady(child, get, signal);
  } catch (error) {
    await stop();
    throw new Error(`${String(error)}\n${readFileSync(world.agentLog, "utf8").slice(-2_000)}`, { cause: error });
  }
  return {
    pid: child.pid ?? 0,
    readyAfterMs: performance.now() - startedAt,
    pause,
    resume,
    async whilePaused(turn) {
      pause();
      try {
        return await turn();
      } finally {
        await resume();
      }
    },
    async write(manifest) {
      const writtenAt = performance.now();
      await writeFile(file(manifest.metadata.name), JSON.stringify(manifest));
      return writtenAt;
    },
    async remove(name) {
      const removedAt = performance.now();
      await rm(file(name));
      return removedAt;
    },
    async pods() {
      const list: { items: Pod[] } = JSON.parse(await get("/pods"));
      return new Map(list.items.map((pod) => [(pod.metadata?.name ?? "").replace(/-bench$/, ""), pod]));
    },
    metrics: async () => await get("/metrics"),
    stop,
  };
}

function spawnAgent(world: World, { build, flags }: AgentPlace): ChildProcess {
  const node = commandOf(build, ["kubelet", ...flags]);
  const [command = process.execPath, ...args] = [...world.containerd.enterMountNamespace, ...node];
  // Node.js would read these certificates at its start; nothing here speaks TLS.
  const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;
  const log = openSync(world.agentLog, "a");
  try {
    // In a session of its own: Ctrl-C is the bench's to handle.
    return spawn(command, args, {
      env: { ...env, ...build.runTime.environment },
      stdio: ["ignore", log, log],
      detached: true,
    });
  } finally {
    closeSync(log);
  }
}

async function untilReady(child: ChildProcess, get: (path: string) => Promise<string>, signal: AbortSignal) {
  const deadline = performance.now() + READY_TIMEOUT_MS;
  while (performance.now() < deadline) {
    signal.throwIfAborted();
    if (child.exitCode !== null) throw new Error(`the node agent ended with ${child.exitCode}`);
    const text = await get("/status").catch(() => undefined);
    if (text !== undefined && isReady(JSON.parse(text))) return;
    await delay(2);
  }
  throw new Error("the node agent does not become ready");
}

function isReady(report: { node: { conditions: NodeCondition[] } }): boolean {
  return report.node.conditions.some(({ type, status }) => type === "Ready" && status === "True");
}

/** Where a node agent answers without asking who calls: on its socket, or on a port of this machine. */
type Target = ({ socketPath: string } | { host: string; port: number }) & { path: string; agent?: Connections };

/** What the node agent answers there. */
export async function fetchText(target: Target): Promise<string> {
  return await new Promise((resolve, reject) => {
    const call = request({ ...target, timeout: ANSWER_TIMEOUT_MS }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => resolve(Buffer.concat(chunks).toString("utf8")));
      response.on("error", reject);
    });
    call.on("timeout", () => call.destroy(new Error("the node agent does not answer")));
    call.on("error", reject);
    call.end();
  });
}
