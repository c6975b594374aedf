import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import type { Connection } from "../../control-plane/connection.ts";
import { endProcess, startProcess } from "../../control-plane/server-process.ts";

/** What a program is given that takes a part of ours over. */
export interface StandInPlace {
  /** For its files alone; it goes with the cluster. */
  readonly directory: string;
  /** An administrator's. */
  readonly connection: Connection;
  /** The directory of the cluster's certificates and keys. */
  readonly pki: string;
  readonly nodeName: string;
  readonly podCidr: string;
  readonly serviceCidr: string;
  /** Writes a kubeconfig of this user and returns its path. */
  issue(user: string, groups?: readonly string[]): Promise<string>;
  readonly signal: AbortSignal;
}

/** One that runs. */
export interface RunningStandIn {
  readonly pid: number;
  /** Ends it and removes what it made. */
  stop(): Promise<void>;
}

interface StandInCommand {
  readonly binary: string;
  readonly args: readonly string[];
  readonly logFile: string;
  /** Whether it does its work already; a rejection means that it does not. */
  works(): Promise<boolean>;
  readonly signal: AbortSignal;
}

const START_TIMEOUT_MS = 120_000;
const POLL_MS = 50;
const LOG_TAIL_CHARACTERS = 4_000;

/** Starts a program, and resolves when it works. */
export async function startStandIn({ binary, args, logFile, works, signal }: StandInCommand): Promise<RunningStandIn> {
  const child = startProcess(binary, args, logFile);
  const ended = failAtExit(child);
  // Looked at below, and no more once it works.
  ended.catch(() => undefined);
  try {
    await Promise.race([ended, untilTrue(works, signal)]);
    return { pid: child.pid ?? 0, stop: async () => await endProcess(child) };
  } catch (error) {
    await endProcess(child);
    const log = await readFile(logFile, "utf8").catch(() => "");
    throw new Error(`${binary}: ${String(error)}\n${log.slice(-LOG_TAIL_CHARACTERS)}`, { cause: error });
  }
}

async function untilTrue(works: () => Promise<boolean>, signal: AbortSignal): Promise<void> {
  const deadline = performance.now() + START_TIMEOUT_MS;
  while (!(await works().catch(() => false))) {
    if (performance.now() > deadline) throw new Error(`it does not work after ${START_TIMEOUT_MS / 1_000} s`);
    await delay(POLL_MS, undefined, { signal });
  }
}

async function failAtExit(child: ChildProcess): Promise<never> {
  if (child.pid === undefined) throw new Error("it cannot be started");
  const [code] = await once(child, "exit");
  throw new Error(`it ended with ${code}`);
}
