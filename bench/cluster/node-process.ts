import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import type { Node } from "../../src/api/gen/types.ts";
import { expectStatus } from "../control-plane/connection.ts";
import { endProcess, startProcess } from "../control-plane/server-process.ts";
import type { World } from "../world.ts";
import type { Api } from "./cluster-case.ts";
import type { NodeProcess } from "./node-program.ts";
import type { WatchEvent } from "./object-watch.ts";

/** How a node agent is started. */
interface NodeCommand {
  nodeName: string;
  /** The program and its arguments, as they are given where containerd's mounts are seen. */
  command: readonly string[];
  logFile: string;
  /** What it answers to whoever asks on this machine. */
  read: (path: string) => Promise<string>;
  /** The cluster knows the node already, with its pods: nothing is forgotten, and nothing waited for. */
  rejoins?: boolean;
}

const NODES_PATH = "/api/v1/nodes";
/** After a pause it hears of everything that happened meanwhile; this long it takes to look at it. */
const SETTLE_MS = 500;
const LOG_TAIL_CHARACTERS = 4_000;

/** Starts a node agent on a node that the cluster does not know, and waits until a watcher sees it ready. */
export async function startNode(
  { world, api, signal }: { world: World; api: Api; signal: AbortSignal },
  { nodeName, command, logFile, read, rejoins = false }: NodeCommand,
): Promise<NodeProcess> {
  const forget = { method: "DELETE", path: `${NODES_PATH}/${nodeName}` } as const;
  if (!rejoins) expectStatus(await api.connection.request(forget), 200, 404);
  const names = rejoins ? [] : [nodeName];
  const ready = api.nodes.until({ names, what: "a Ready node", fits: showsReady, signal });
  // Looked at below, where the process may have ended first.
  ready.catch(() => undefined);
  const [program = "", ...args] = [...world.containerd.enterMountNamespace, ...command];
  const startedAt = performance.now();
  const child = startProcess(program, args, logFile);
  try {
    const seen = await Promise.race([ready, failAtExit(child)]);
    return {
      pid: child.pid ?? 0,
      readyAfterMs: (seen.get(nodeName) ?? startedAt) - startedAt,
      pause: () => void child.kill("SIGSTOP"),
      async resume() {
        child.kill("SIGCONT");
        await delay(SETTLE_MS);
      },
      metrics: async () => await read("/metrics"),
      read,
      async kill() {
        const exited = once(child, "exit");
        child.kill("SIGKILL");
        await exited;
      },
      async stop() {
        child.kill("SIGCONT");
        await endProcess(child);
      },
    };
  } catch (error) {
    await endProcess(child);
    const log = await readFile(logFile, "utf8").catch(() => "");
    throw new Error(`${nodeName}: ${String(error)}\n${log.slice(-LOG_TAIL_CHARACTERS)}`, { cause: error });
  }
}

function showsReady({ type, object }: WatchEvent<Node>): boolean {
  // What was told of a node of that name when it went does not count.
  if (type === "DELETED") return false;
  return (object.status?.conditions ?? []).some(
    (condition) => condition.type === "Ready" && condition.status === "True",
  );
}

async function failAtExit(child: ChildProcess): Promise<never> {
  const [code] = await once(child, "exit");
  throw new Error(`the node agent ended with ${code}`);
}
