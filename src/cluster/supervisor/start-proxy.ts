import { readFile, writeFile } from "node:fs/promises";
import { familyOf } from "../../api/validation/ip-address.ts";
import { codeOf, messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { getOnce } from "../../host/linux/network/get-once.ts";
import { DEFAULT_BRIDGE } from "../containerd/cni-config.ts";
import { listBridges } from "../containerd/remove-network.ts";
import { computeRuntimeLayout } from "../containerd/runtime-layout.ts";
import { type ChildLogging, loggingArguments } from "../processes/child-logging.ts";
import { type Daemon, endDaemon, startDaemon } from "../processes/daemon.ts";
import { runCommand } from "../processes/run-command.ts";
import { computeProgramWords, computeRunTimeFlags, RUN_TIME_ENVIRONMENT } from "../processes/run-time.ts";
import { untilReady } from "../processes/until-ready.ts";
import { choosePort, withChosenPort } from "./choose-port.ts";
import type { StateLayout } from "./state-layout.ts";

interface ProxyOptions {
  /** The JavaScript file that this program was started with. */
  entry: string;
  /** The flags of Node.js for the proxy. Default: those of this process. */
  nodeFlags?: readonly string[];
  nodeName: string;
  bridge?: string;
  podCidr: string;
  serviceCidr: string;
  /** How the child logs. Default: text, with verbosity 0. */
  logging?: ChildLogging;
  log: Log;
  /** Firing it gives up the wait for the proxy, which is then stopped. */
  signal: AbortSignal;
}

const LOOPBACK = "127.0.0.1";
const HEALTHZ_PORT = 10_256;
const STOP_GRACE_PERIOD_MS = 10_000;
const HEALTH_TIMEOUT_MS = 10_000;
const MAX_HEALTH_BYTES = 4_096;
/** The switches by which the kernel shows packets from pod to pod on one bridge to the rules of each family. */
const BRIDGE_SWITCHES = {
  IPv4: "/proc/sys/net/bridge/bridge-nf-call-iptables",
  IPv6: "/proc/sys/net/bridge/bridge-nf-call-ip6tables",
} as const;

/**
 * Starts the proxy of services and resolves when its rules are in force. Rejects with `exited` or `start-timed-out` and
 * the log's end, for example where nft is missing.
 */
export async function startProxy(layout: StateLayout, options: ProxyOptions): Promise<Daemon> {
  return await withChosenPort(async () => await launch(layout, options));
}

async function launch(layout: StateLayout, options: ProxyOptions): Promise<Daemon> {
  const port = await choosePort(LOOPBACK, HEALTHZ_PORT);
  const { NODE_EXTRA_CA_CERTS: _, ...environment } = process.env;
  const start = { node: process.execPath, entry: options.entry };
  const [command = start.node, ...words] = computeProgramWords(start, computeRunTimeFlags(options.nodeFlags));
  const daemon = await startDaemon({
    ...identityOf(layout),
    command,
    args: [
      ...words,
      "proxy",
      `--kubeconfig=${layout.proxyKubeconfig}`,
      `--hostname-override=${options.nodeName}`,
      `--cluster-cidr=${options.podCidr}`,
      `--service-cidr=${options.serviceCidr}`,
      "--network-policies",
      `--pod-bridge-interface=${options.bridge ?? DEFAULT_BRIDGE}`,
      `--nft-table=${tableOf(options.bridge ?? DEFAULT_BRIDGE)}`,
      `--healthz-bind-address=${LOOPBACK}:${port}`,
      "--metrics-bind-address=",
      ...loggingArguments(options.logging),
      ...((await showBridgedPackets(options.podCidr)) ? [] : ["--masquerade-all"]),
    ],
    environment: { ...RUN_TIME_ENVIRONMENT, ...environment },
    logFile: layout.proxyLog,
    log: options.log,
  });
  try {
    await untilReady({
      name: "the proxy of services",
      daemon,
      logFile: layout.proxyLog,
      signal: options.signal,
      check: async () => await checkHealth(port),
    });
  } catch (error) {
    await daemon.stop();
    throw error;
  }
  return daemon;
}

/** Ends the proxy of an earlier supervisor that was killed. Its rules stay. */
export async function endProxy(layout: StateLayout, log: Log): Promise<void> {
  await endDaemon({ ...identityOf(layout), log });
}

/** Removes the rules of services. Where there is no nft, there are none. */
export async function removeProxyRules(layout: StateLayout): Promise<void> {
  for (const bridge of await listBridges(computeRuntimeLayout(layout.runtime))) {
    for (const family of ["ip", "ip6"]) {
      const listed = await runCommand("nft", ["list", "tables", family]).catch((error: unknown) => {
        if (codeOf(error) === "not-found") return "";
        throw error;
      });
      const isThere = listed.split("\n").includes(`table ${family} ${tableOf(bridge)}`);
      if (isThere) await runCommand("nft", ["delete", "table", family, tableOf(bridge)]);
    }
  }
}

/** The nodes of one machine have bridges of different names, and tables as well. */
function tableOf(bridge: string): string {
  return bridge === DEFAULT_BRIDGE ? "nodelet-proxy" : `nodelet-proxy-${bridge}`;
}

function identityOf(layout: StateLayout) {
  return { pidFile: layout.proxyPidFile, gracePeriodMs: STOP_GRACE_PERIOD_MS };
}

async function checkHealth(port: number): Promise<void> {
  const to = { scheme: "http", host: LOOPBACK, port } as const;
  const limits = { timeoutMs: HEALTH_TIMEOUT_MS, maxBodyBytes: MAX_HEALTH_BYTES };
  const { status, body } = await getOnce({ to, path: "/healthz", ...limits });
  if (status !== 200) throw new Error(`/healthz answers ${status}: ${body.toString("utf8")}`);
}

/**
 * Makes the kernel show bridged packets to the rules. The answer of a pod to another one on its bridge would otherwise
 * pass them by, and come from an address that was not called. False where the kernel cannot for a family of the pods.
 * That of IPv6 is turned on in any case: pods have addresses of their link also where nobody gives them others.
 */
async function showBridgedPackets(podCidr: string): Promise<boolean> {
  const families = new Set(podCidr.split(",").map(familyOf));
  let areShown = true;
  await turnOn(BRIDGE_SWITCHES.IPv6);
  for (const family of families) areShown = (await turnOn(BRIDGE_SWITCHES[family])) && areShown;
  return areShown;
}

async function turnOn(path: string): Promise<boolean> {
  if ((await readSwitch(path)) === undefined) await runCommand("modprobe", ["br_netfilter"]).catch(messageOf);
  const state = await readSwitch(path);
  if (state === undefined || state === "1") return state === "1";
  return await writeFile(path, "1").then(
    () => true,
    () => false,
  );
}

async function readSwitch(path: string): Promise<string | undefined> {
  return await readFile(path, "utf8").then(
    (text) => text.trim(),
    () => undefined,
  );
}
