import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Log } from "../../base/log.ts";
import { getOnce } from "../../host/linux/network/get-once.ts";
import { type Daemon, endDaemon, startDaemon } from "../processes/daemon.ts";
import { computeProgramWords } from "../processes/run-time.ts";
import { untilReady } from "../processes/until-ready.ts";
import { type ControlPlaneArguments, computeControlPlaneArguments, loopbackOf } from "./control-plane-arguments.ts";
import type { StateLayout } from "./state-layout.ts";

export interface ControlPlaneChildOptions extends ControlPlaneArguments {
  /** The JavaScript file that this program was started with. */
  entry: string;
  log: Log;
  /** Firing it gives up the wait for the API, and the child is stopped. */
  signal: AbortSignal;
}

const STOP_GRACE_PERIOD_MS = 10_000;

/** Starts the control plane and resolves when its API is ready. Rejects with `exited` or `start-timed-out`. */
export async function startControlPlane(layout: StateLayout, options: ControlPlaneChildOptions): Promise<Daemon> {
  const { NODE_EXTRA_CA_CERTS: _, ...environment } = process.env;
  const start = { node: process.execPath, entry: options.entry };
  const [command = start.node, ...words] = computeProgramWords(start, process.execArgv);
  const daemon = await startDaemon({
    ...identityOf(layout),
    command,
    args: [...words, ...computeControlPlaneArguments(layout, options)],
    environment,
    logFile: layout.controlPlaneLog,
    log: options.log,
  });
  try {
    await untilReady({
      name: "the control plane",
      daemon,
      logFile: layout.controlPlaneLog,
      signal: options.signal,
      check: async () => await checkReadiness(layout, loopbackOf(options.apiAddress), options.apiPort),
    });
  } catch (error) {
    await daemon.stop();
    throw error;
  }
  return daemon;
}

/** Ends the control plane of an earlier supervisor that was killed. */
export async function endControlPlane(layout: StateLayout, log: Log): Promise<void> {
  await endDaemon({ ...identityOf(layout), log });
}

function identityOf(layout: StateLayout) {
  return { pidFile: layout.controlPlanePidFile, gracePeriodMs: STOP_GRACE_PERIOD_MS };
}

const READINESS_TIMEOUT_MS = 10_000;
const MAX_READINESS_BYTES = 64 * 1024;

/**
 * Checks the readiness. It trusts only the cluster's own authority, because another server on the port is not our
 * control plane.
 */
async function checkReadiness(layout: StateLayout, host: string, port: number): Promise<void> {
  const ca = await readFile(join(layout.controlPlane, "pki", "ca.crt"), "utf8");
  const to = { scheme: "https", host, port } as const;
  const limits = { timeoutMs: READINESS_TIMEOUT_MS, maxBodyBytes: MAX_READINESS_BYTES };
  const { status } = await getOnce({ to, path: "/readyz", ca, ...limits });
  if (status !== 200) throw new Error(`/readyz answers ${status}`);
}
