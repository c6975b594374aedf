import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { networkInterfaces } from "node:os";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { CodedError, messageOf, runAll } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { type Containerd, startContainerd } from "../cluster/containerd/start-containerd.ts";
import { judgeMachine } from "../cluster/doctor/judge-machine.ts";
import { readDoctorFacts } from "../cluster/doctor/read-doctor-facts.ts";
import { ensureImages } from "../cluster/images/ensure-images.ts";
import type { Daemon } from "../cluster/processes/daemon.ts";
import { startAgent } from "../cluster/supervisor/start-agent.ts";
import { computeStateLayout } from "../cluster/supervisor/state-layout.ts";
import { removeNodeRunState } from "../cluster/supervisor/stop-node.ts";
import { LOCAL_NODE } from "./local-node.ts";

/** A node agent and a containerd of their own, as children of this process. */
export interface TestNode {
  readonly name: string;
  /** Stops both, ends the pods without grace, and removes what they made on the machine, but for the directory. */
  stop(): Promise<void>;
}

export interface TestNodeOptions {
  /** Exists; everything of the node is beneath it. Removed by who made it, after `stop`. */
  directory: string;
  /** Called where something of the node could not be removed: `nodelet down --pods` on the directory is the way left. */
  keepDirectory(): void;
  /** The cluster's own, in PEM: whose client certificates the node believes. */
  authorityPem: string;
  /** The text of the node's kubeconfig, by its name. */
  issueKubeconfig(nodeName: string): Promise<string>;
  writePrivately(path: string, text: string): Promise<void>;
  /** Archives of images to import. */
  images: readonly string[];
  log: Log;
  signal: AbortSignal;
}

const NODE_NAME = LOCAL_NODE.name;
const EXIT_TIMEOUT_MS = 20_000;
/** `10.192.0.0/10`, cut into networks of 4,096 addresses. */
const NETWORKS = 1_024;

let nodes = 0;

/** Why no node can run on this machine, with the mend; undefined when one can. */
export async function findNodeObstacle(directory: string): Promise<string | undefined> {
  const findings = judgeMachine(await readDoctorFacts(directory, []));
  const failed = findings.filter(({ level }) => level === "fail");
  if (failed.length === 0) return undefined;
  return failed
    .map(({ check, found, mend }) => `${check}: ${found}${mend === undefined ? "" : ` (${mend})`}`)
    .join("; ");
}

/** Resolves when the node agent answers; that the API server knows the node as ready comes a moment later. */
export async function startNode(options: TestNodeOptions): Promise<TestNode> {
  const { log, signal } = options;
  const layout = computeStateLayout(options.directory);
  const entry = findProgram();
  const running: { containerd?: Containerd; agent?: Daemon } = {};
  // A test that calls process.exit, or dies of an error, must not leave pods behind either.
  const onExit = () => {
    const args = [entry, "down", "--pods", "--now", `--state-dir=${layout.directory}`];
    if (spawnSync(process.execPath, args, { timeout: EXIT_TIMEOUT_MS }).status !== 0) options.keepDirectory();
  };
  process.prependOnceListener("exit", onExit);
  const stop = async () => {
    process.removeListener("exit", onExit);
    const steps = [
      async () => await running.agent?.stop(),
      async () => await running.containerd?.stop(),
      async () => await removeNodeRunState(layout),
    ];
    await runAll(steps, "stopping the node").catch((error: unknown) => {
      options.keepDirectory();
      throw error;
    });
  };
  try {
    await mkdir(dirname(layout.clusterAuthority), { recursive: true });
    await options.writePrivately(layout.clusterAuthority, options.authorityPem);
    await options.writePrivately(layout.nodeKubeconfig, await options.issueKubeconfig(NODE_NAME));
    await mkdir(layout.manifests);
    const containerd = await startContainerd({ ...chooseNetwork(), directory: layout.runtime, log });
    running.containerd = containerd;
    await ensureImages(containerd, layout.images);
    for (const archive of options.images) await importArchive(containerd, archive);
    running.agent = await startAgent(layout, {
      entry,
      // Those of this process are for its tests: loaders, --test, --eval.
      nodeFlags: [],
      endpoint: containerd.endpoint,
      enterMountNamespace: containerd.enterMountNamespace,
      manifests: layout.manifests,
      healthzPort: 0,
      serverAddress: LOCAL_NODE.address,
      serverPort: 0,
      // How full the machine's disk is must not decide how a test ends.
      evictionHard: { "memory.available": "100Mi" },
      kubeletArguments: [`--hostname-override=${NODE_NAME}`],
      log,
      signal,
    });
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

/** The program beside this module in the package, or the one that was built from this source. */
function findProgram(): string {
  const candidates = ["./nodelet.js", "../../dist/nodelet.js"].map((path) =>
    fileURLToPath(new URL(path, import.meta.url)),
  );
  const found = candidates.find((path) => existsSync(path));
  if (found === undefined)
    throw new CodedError("program-missing", `${candidates.join(" and ")} do not exist: npm run build`);
  return found;
}

/** Test processes run side by side: a bridge by the process's number, and addresses that no interface here has. */
function chooseNetwork(): { bridge: string; podCidr: string } {
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
    if (!isTaken || attempt === NETWORKS)
      return { bridge: `nlt${process.pid}x${number}`, podCidr: `${prefix}${third}.0/20` };
  }
}
