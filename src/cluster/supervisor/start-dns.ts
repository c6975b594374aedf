import type { Log } from "../../base/log.ts";
import { getOnce } from "../../host/linux/network/get-once.ts";
import { bridgeAddressOf } from "../containerd/ensure-bridge.ts";
import { type ChildLogging, loggingArguments } from "../processes/child-logging.ts";
import { type Daemon, endDaemon, startDaemon } from "../processes/daemon.ts";
import { computeProgramWords, computeRunTimeFlags, RUN_TIME_ENVIRONMENT } from "../processes/run-time.ts";
import { untilReady } from "../processes/until-ready.ts";
import { CLUSTER_DOMAIN } from "./cluster-dns.ts";
import type { StateLayout } from "./state-layout.ts";

interface DnsChildOptions {
  /** The JavaScript file that this program was started with. */
  entry: string;
  /** The flags of Node.js for the server. Default: those of this process. */
  nodeFlags?: readonly string[];
  /** The server listens at the bridge's address in this range, where pods reach it. */
  podCidr: string;
  /** How the child logs. Default: text, with verbosity 0. */
  logging?: ChildLogging;
  log: Log;
  /** Firing it gives up the wait for the server, and the child is stopped. */
  signal: AbortSignal;
}

const STOP_GRACE_PERIOD_MS = 5_000;
const CALL_TIMEOUT_MS = 10_000;
const MAX_BODY_BYTES = 1_024;
/** The port of CoreDNS' metrics. The other pages are there too: ports of the bridge belong to pods of the host network. */
const PAGES_PORT = 9_153;

/** Starts the DNS server and resolves when it knows the cluster's names. Rejects with `exited` or `start-timed-out`. */
export async function startDns(layout: StateLayout, options: DnsChildOptions): Promise<Daemon> {
  const { podCidr, entry, log, signal } = options;
  const { address } = bridgeAddressOf(podCidr);
  const { NODE_EXTRA_CA_CERTS: _, ...environment } = process.env;
  const start = { node: process.execPath, entry };
  const [command = start.node, ...words] = computeProgramWords(start, computeRunTimeFlags(options.nodeFlags));
  const daemon = await startDaemon({
    ...identityOf(layout),
    command,
    args: [
      ...words,
      "dns",
      `--kubeconfig=${layout.dnsKubeconfig}`,
      `--address=${address}`,
      `--cluster-domain=${CLUSTER_DOMAIN}`,
      `--metrics-port=${PAGES_PORT}`,
      "--health-port=0",
      "--ready-port=0",
      ...loggingArguments(options.logging),
    ],
    environment: { ...RUN_TIME_ENVIRONMENT, ...environment },
    logFile: layout.dnsLog,
    log,
  });
  try {
    await untilReady({
      name: "the DNS server",
      daemon,
      logFile: layout.dnsLog,
      signal,
      check: async () => await checkReady(address),
    });
  } catch (error) {
    await daemon.stop();
    throw error;
  }
  return daemon;
}

/** Ends the DNS server of an earlier supervisor that was killed. */
export async function endDns(layout: StateLayout, log: Log): Promise<void> {
  await endDaemon({ ...identityOf(layout), log });
}

function identityOf(layout: StateLayout) {
  return { pidFile: layout.dnsPidFile, gracePeriodMs: STOP_GRACE_PERIOD_MS };
}

async function checkReady(host: string): Promise<void> {
  const to = { scheme: "http", host, port: PAGES_PORT } as const;
  const { status } = await getOnce({ to, path: "/ready", timeoutMs: CALL_TIMEOUT_MS, maxBodyBytes: MAX_BODY_BYTES });
  if (status !== 200) throw new Error(`/ready answers ${status}`);
}
