import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { networkInterfaces } from "node:os";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { CodedError, messageOf, runAll } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { type Containerd, startContainerd } from "../cluster/containerd/start-containerd.ts";
import type { NodeCredentialPaths } from "../cluster/control-plane/node-credentials.ts";
import { judgeMachine } from "../cluster/doctor/judge-machine.ts";
import { readDoctorFacts } from "../cluster/doctor/read-doctor-facts.ts";
import { ensureImages } from "../cluster/images/ensure-images.ts";
import type { Daemon } from "../cluster/processes/daemon.ts";
import { clusterDnsAddressOf } from "../cluster/supervisor/cluster-dns.ts";
import { startAgent } from "../cluster/supervisor/start-agent.ts";
import { startDns } from "../cluster/supervisor/start-dns.ts";
import { startProxy } from "../cluster/supervisor/start-proxy.ts";
import { computeStateLayout } from "../cluster/supervisor/state-layout.ts";
import { removeNodeRunState } from "../cluster/supervisor/stop-node.ts";
import { LOCAL_NODE } from "./local-node.ts";

/** A node agent, a proxy of services, a DNS server and a containerd of their own, as children of this process. */
export interface TestNode {
  readonly name: string;
  /**
   * Stops them, ends the pods without a grace period, and removes everything that they made on the machine, except the
   * directory.
   */
  stop(): Promise<void>;
}

export interface TestNodeOptions {
  /** The directory exists, and everything of the node is beneath it. Its creator removes it after `stop`. */
  directory: string;
  /**
   * Called where something of the node could not be removed. It can then still be removed with `nodelet down --pods` on
   * the directory.
   */
  keepDirectory(): void;
  /** The cluster's own authority, in PEM. The node accepts the client certificates that it signed. */
  authorityPem: string;
  network: TestNodeNetwork;
  /** Writes kubeconfigs and client certificates of the node, its proxy and its DNS server, and keeps them up to date. */
  writeCredentials(paths: TestNodeCredentials): Promise<void>;
  writePrivately(path: string, text: string): Promise<void>;
  /** The archives of images to import. */
  images: readonly string[];
  log: Log;
  signal: AbortSignal;
}

/** Where each part of a node finds its credentials. */
export interface TestNodeCredentials {
  readonly node: NodeCredentialPaths;
  readonly proxy: NodeCredentialPaths;
  readonly dns: NodeCredentialPaths;
}

const NODE_NAME = LOCAL_NODE.name;
const EXIT_TIMEOUT_MS = 20_000;
/** The range `10.192.0.0/10` is cut into this many networks of 4,096 addresses. */
const NETWORKS = 1_024;

let nodes = 0;

/** Tells why no node can run on this machine, with advice; undefined when one can. */
export async function findNodeObstacle(directory: string): Promise<string | undefined> {
  const findings = judgeMachine(await readDoctorFacts(directory, []));
  const failed = findings.filter(({ level }) => level === "fail");
  if (failed.length === 0) return undefined;
  return failed
    .map(({ check, found, mend }) => `${check}: ${found}${mend === undefined ? "" : ` (${mend})`}`)
    .join("; ");
}

/** Starts a node and resolves when the node agent answers. The API server shows the node as ready a moment later. */
export async function startNode(options: TestNodeOptions): Promise<TestNode> {
  const { log, signal } = options;
  const layout = computeStateLayout(options.directory);
  const entry = findProgram();
  const running: { containerd?: Containerd; agent?: Daemon; companions: ReadonlyArray<Promise<Daemon | undefined>> } = {
    companions: [],
  };
  // Pods must not be left behind either by a test that calls process.exit, or that dies of an error.
  const onExit = () => {
    const args = [entry, "down", "--pods", "--now", `--state-dir=${layout.directory}`];
    if (spawnSync(process.execPath, args, { timeout: EXIT_TIMEOUT_MS }).status !== 0) options.keepDirectory();
  };
  process.prependOnceListener("exit", onExit);
  const stop = async () => {
    process.removeListener("exit", onExit);
    const steps = [
      async () => await running.agent?.stop(),
      async () => {
        await Promise.all(running.companions.map(async (companion) => (await companion)?.stop()));
      },
      async () => await running.containerd?.stop(),
      async () => await removeNodeRunState(layout, log),
    ];
    await runAll(steps, "stopping the node").catch((error: unknown) => {
      options.keepDirectory();
      throw error;
    });
  };
  try {
    await mkdir(dirname(layout.clusterAuthority), { recursive: true });
    await options.writePrivately(layout.clusterAuthority, options.authorityPem);
    const authority = layout.clusterAuthority;
    await options.writeCredentials({
      node: { kubeconfig: layout.nodeKubeconfig, clientPair: layout.nodeClientPair, authority },
      proxy: { kubeconfig: layout.proxyKubeconfig, clientPair: layout.proxyClientPair, authority },
      dns: { kubeconfig: layout.dnsKubeconfig, clientPair: layout.dnsClientPair, authority },
    });
    await mkdir(layout.manifests);
    const containerd = await startContainerd({ ...options.network, directory: layout.runtime, log, signal });
    running.containerd = containerd;
    await ensureImages(containerd, layout);
    for (const archive of options.images) await importArchive(containerd, archive);
    // The flags of this process are for its tests: loaders, --test, --eval.
    const program = { entry, nodeFlags: [], log, signal };
    const companionOptions = { ...program, ...options.network, nodeName: NODE_NAME };
    const orTell = async (start: Promise<Daemon>, loss: string): Promise<Daemon | undefined> => {
      return await start.catch((error: unknown) => {
        log.error(loss, { error: messageOf(error) });
        return undefined;
      });
    };
    running.companions = [
      orTell(startProxy(layout, companionOptions), "services lead nowhere"),
      orTell(startDns(layout, companionOptions), "names of services do not resolve"),
    ];
    running.agent = await startAgent(layout, {
      ...program,
      endpoint: containerd.endpoint,
      enterMountNamespace: containerd.enterMountNamespace,
      manifests: layout.manifests,
      healthzPort: 0,
      clusterDns: options.network.dnsAddress,
      dns: true,
      serverAddress: LOCAL_NODE.address,
      podCidr: options.network.podCidr,
      serverPort: 0,
      // The fill level of the machine's disk must not decide how a test ends.
      evictionHard: { "memory.available": "100Mi" },
      kubeletArguments: [`--hostname-override=${NODE_NAME}`],
    });
    await Promise.all(running.companions);
    return { name: NODE_NAME, stop };
  } catch (error) {
    await stop().catch((failure: unknown) =>
      log.warn("a node that did not start was not removed", { error: messageOf(failure) }),
    );
    throw error;
  }
}

async function importArchive(containerd: Containerd, archive: string): Promise<void> {
  try {
    await containerd.importImage(archive);
  } catch (error) {
    throw new CodedError("image-unreadable", `cannot import the image archive ${archive}: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

/** Finds the program beside this module in the package, or the one that was built from this source. */
function findProgram(): string {
  const candidates = ["./nodelet.js", "../../dist/nodelet.js"].map((path) =>
    fileURLToPath(new URL(path, import.meta.url)),
  );
  const found = candidates.find((path) => existsSync(path));
  if (found === undefined)
    throw new CodedError("program-missing", `${candidates.join(" and ")} do not exist: npm run build`);
  return found;
}

/** The addresses of a node's pods and services, and where its pods reach the API server. */
export interface TestNodeNetwork {
  readonly bridge: string;
  readonly podCidr: string;
  readonly serviceCidr: string;
  readonly apiAddress: string;
  /** The address of the service of the cluster's DNS. */
  readonly dnsAddress: string;
}

/**
 * Chooses a network. Test processes run at the same time, so the bridge depends on the process's number, and the
 * addresses are in a range that no interface here has. Services have the same part of `10.128.0.0/10`, because all
 * clusters of a machine share its rules.
 */
export function chooseNetwork(): TestNodeNetwork {
  const taken = Object.values(networkInterfaces()).flatMap((addresses) =>
    (addresses ?? []).map(({ address }) => address),
  );
  const number = nodes++;
  for (let attempt = 0; ; attempt++) {
    const index = (process.pid * 31 + number * 7 + attempt) % NETWORKS;
    const prefix = `10.${192 + (index >> 4)}.`;
    const third = (index & 15) << 4;
    const isTaken = taken.some(
      (address) => address.startsWith(prefix) && Math.abs(Number(address.split(".")[2]) - third) < 16,
    );
    if (!isTaken || attempt === NETWORKS) {
      const serviceCidr = `10.${128 + (index >> 4)}.${third}.0/20`;
      return {
        bridge: `nlt${process.pid}x${number}`,
        podCidr: `${prefix}${third}.0/20`,
        serviceCidr,
        apiAddress: `${prefix}${third}.1`,
        dnsAddress: clusterDnsAddressOf(serviceCidr),
      };
    }
  }
}
