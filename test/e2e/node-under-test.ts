import { type ChildProcess, execFile, spawn } from "node:child_process";
import { createWriteStream, existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readlink, rm, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import type { Pod } from "../../src/api/gen/types.ts";
import { messageOf, runAll } from "../../src/base/errors.ts";
import { silentLog } from "../../src/base/log.ts";
import { createMetrics } from "../../src/base/metrics.ts";
import { removeRunState, removeRuntime } from "../../src/cluster/containerd/remove-runtime.ts";
import { computeRuntimeLayout } from "../../src/cluster/containerd/runtime-layout.ts";
import { type Containerd, startContainerd } from "../../src/cluster/containerd/start-containerd.ts";
import { buildImages } from "../../src/cluster/images/build-images.ts";
import { makeOwnCgroup, type OwnCgroup, removeOwnCgroup } from "../../src/cluster/supervisor/own-cgroup.ts";
import { connectCri } from "../../src/cri/connect.ts";
import type { Cri } from "../../src/cri/port.ts";
import { claimNetwork } from "../machine/claims.ts";

/** What `GET /status` on the node's socket answers. */
export interface StatusReport {
  node: { name: string; conditions: Array<{ type: string; status: string; message?: string }> };
  pods: Pod[];
  events: Array<{ pod: { name: string; uid: string }; type: string; reason: string; message: string; count: number }>;
}

/** A containerd of its own and, on it, the built program as `nodelet kubelet`, all beneath one directory. */
export interface NodeUnderTest {
  readonly directory: string;
  readonly manifests: string;
  readonly containerd: Containerd;
  readonly cri: Cri;
  /** The pods' cgroups are beneath it; undefined where this machine does not let us make any. */
  readonly cgroup: OwnCgroup | undefined;
  /**
   * Starts the node agent and waits until it answers. `flags` are added to the usual ones; `program` are arguments of
   * Node.js, of another program that takes the same command line.
   */
  start(flags?: readonly string[], program?: readonly string[]): Promise<void>;
  /**
   * SIGTERM, so often, and the exit code. Rejects when the agent left something under way, unless `leavesCalls`: calls that
   * nobody can end.
   */
  stop(options?: { signals?: number; leavesCalls?: boolean }): Promise<number | null>;
  kill(): Promise<void>;
  /** The exit code of the running agent, once it ends by itself. */
  exited(): Promise<number | null>;
  /** Ends containerd alone, by kill -9 or in order; its containers run on. */
  endContainerd(how: "killed" | "stopped"): Promise<void>;
  startContainerd(): Promise<void>;
  write(file: string, content: string | object): Promise<void>;
  remove(file: string): Promise<void>;
  report(): Promise<StatusReport>;
  /** The pod whose name begins with `<name>-`, once `until` holds. Fails with the pod's events when it does not in time. */
  pod(name: string, until: (pod: Pod) => boolean, timeoutMs?: number): Promise<Pod>;
  gone(name: string, timeoutMs?: number): Promise<void>;
  events(name: string): Promise<StatusReport["events"]>;
  /** Resolves when the agent's log says it, from `from` (a length of `log()`) on. */
  logged(words: RegExp, options?: { from?: number; timeoutMs?: number }): Promise<void>;
  /** All that the agent has logged, over restarts. */
  log(): string;
  /** Ends everything and removes everything that was made. */
  destroy(): Promise<void>;
}

/** What `npm run build` made; `NODELET_TEST_PROGRAM` names another build of it. */
export const PROGRAM =
  process.env["NODELET_TEST_PROGRAM"] ?? new URL("../../dist/nodelet.js", import.meta.url).pathname;
const CONTAINER_LOGS = "/var/log/containers";
const SOCKET_TIMEOUT_MS = 60_000;
/** Each question costs the agent and this process some milliseconds, and four files of tests share two processors. */
const POLL_MS = 50;
const WAIT_TIMEOUT_MS = 60_000;
/** The configuration for a machine that does not let us make cgroups. */
const WITHOUT_CGROUPS = { cgroupsPerQOS: false, enforceNodeAllocatable: [] };
const LEFT_CALLS = /Exiting while calls of the machine have no answer/;
/** Signals that come sooner may arrive as one. */
const SECOND_SIGNAL_MS = 100;

export interface NodeUnderTestOptions {
  /** Another containerd than the one on the search path. */
  binary?: string;
  /** Fields of the KubeletConfiguration. */
  configuration?: object;
  /** The time between two looks at the loopback guard. */
  guardPeriodMs?: number;
  /** Images and containers lie on a file system of their own, in memory, of so many bytes. Default: beside the pods. */
  imageDiskBytes?: number;
}

export async function createNodeUnderTest(options: NodeUnderTestOptions = {}): Promise<NodeUnderTest> {
  const directory = await mkdtemp(join(tmpdir(), "nodelet-e2e-"));
  const network = await claimNetwork();
  const runtimeDirectory = join(directory, "runtime");
  const startRuntime = async () =>
    await startContainerd({
      ...network,
      ...(options.binary && { binary: options.binary }),
      ...(options.guardPeriodMs && { guardPeriodMs: options.guardPeriodMs }),
      directory: runtimeDirectory,
      log: silentLog,
    });
  if (options.imageDiskBytes !== undefined) await mountImageDisk(runtimeDirectory, options.imageDiskBytes);
  let containerd = await startRuntime();
  for (const { tar } of await buildImages(join(directory, "images"))) await containerd.importImage(tar);
  const cri = connectCri({ endpoint: containerd.endpoint, log: silentLog, metrics: createMetrics() });
  const manifests = join(directory, "manifests");
  const socket = join(directory, "node.sock");
  const logFile = join(directory, "agent.log");
  for (const made of ["manifests", "pods", "kubelet", "containers"]) await mkdir(join(directory, made));
  const configFile = join(directory, "kubelet.yaml");
  const cgroup = await makeOwnCgroup(directory, silentLog);
  const configuration = { ...(cgroup ?? WITHOUT_CGROUPS), ...options.configuration };
  await writeFile(configFile, kubeletConfiguration(join(directory, "pods"), configuration));
  let agent: ChildProcess | undefined;
  let output = "";

  const flags = () => [
    `--pod-manifest-path=${manifests}`,
    `--container-runtime-endpoint=${containerd.endpoint}`,
    `--root-dir=${join(directory, "kubelet")}`,
    `--cert-dir=${join(directory, "pki")}`,
    `--config=${configFile}`,
    `--nodelet-socket=${socket}`,
    "--hostname-override=e2e",
    "--healthz-port=0",
    "--fail-swap-on=false",
    "--make-iptables-util-chains=false",
    "--nodelet-keep-kernel-tunables",
    "--v=2",
  ];

  const report = async (): Promise<StatusReport> => JSON.parse(await get(socket, "/status"));
  const end = async (signal: NodeJS.Signals, times = 1): Promise<number | null> => {
    const child = agent;
    agent = undefined;
    if (child === undefined || child.exitCode !== null) return child?.exitCode ?? null;
    const exited = new Promise<number | null>((resolve) => child.once("exit", resolve));
    for (let sent = 0; sent < times; sent++) {
      if (sent > 0) await delay(SECOND_SIGNAL_MS);
      child.kill(signal);
    }
    return await exited;
  };
  const find = async (name: string): Promise<Pod | undefined> => {
    const { pods } = await report();
    return pods.find((pod) => pod.metadata?.name === `${name}-e2e`);
  };
  const waitFor = async (what: string, check: () => Promise<boolean>, timeoutMs: number): Promise<void> => {
    const deadline = Date.now() + timeoutMs;
    for (;;) {
      try {
        if (await check()) return;
      } catch (error) {
        throw new Error(`the node agent does not answer (${messageOf(error)}):\n${output.slice(-5_000)}`, {
          cause: error,
        });
      }
      if (Date.now() > deadline) throw new Error(`${what} did not happen in ${timeoutMs} ms\n${await explain()}`);
      await delay(POLL_MS);
    }
  };
  const explain = async (): Promise<string> => {
    const { pods, events } = await report();
    const lines = events.map((event) => `${event.pod.name}: ${event.reason}: ${event.message} (x${event.count})`);
    return `${JSON.stringify(pods.map((pod) => [pod.metadata?.name, pod.status]))}\n${lines.join("\n")}\n${output.slice(-3_000)}`;
  };

  const node: NodeUnderTest = {
    directory,
    manifests,
    get containerd() {
      return containerd;
    },
    cri,
    cgroup,
    async start(more = [], program = [PROGRAM]) {
      const args = ["--enable-source-maps", ...program, "kubelet", ...flags(), ...more];
      const [command = process.execPath, ...rest] = [...containerd.enterMountNamespace, process.execPath, ...args];
      const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;
      const child = spawn(command, rest, { env, stdio: ["ignore", "pipe", "pipe"] });
      agent = child;
      const file = createWriteStream(logFile, { flags: "a" });
      for (const stream of [child.stdout, child.stderr]) {
        stream?.on("data", (chunk: Buffer) => {
          output += chunk.toString("utf8");
          file.write(chunk);
        });
      }
      const deadline = Date.now() + SOCKET_TIMEOUT_MS;
      for (;;) {
        const code = child.exitCode ?? child.signalCode;
        if (code !== null) throw new Error(`the node agent ended with ${code}:\n${output}`);
        const { node: answered } = await report().catch(() => ({ node: undefined }));
        if (answered?.conditions.some(({ type, status }) => type === "Ready" && status === "True")) return;
        if (Date.now() > deadline) throw new Error(`the node agent is not ready:\n${output}`);
        await delay(POLL_MS);
      }
    },
    async stop({ signals, leavesCalls = false } = {}) {
      const from = output.length;
      const code = await end("SIGTERM", signals);
      if (!leavesCalls && LEFT_CALLS.test(output.slice(from)))
        throw new Error(`not all has ended:\n${output.slice(from)}`);
      return code;
    },
    kill: async () => void (await end("SIGKILL")),
    async exited() {
      const child = agent;
      if (child === undefined || child.exitCode !== null) return child?.exitCode ?? null;
      return await new Promise((resolve) => child.once("exit", resolve));
    },
    async endContainerd(how) {
      if (how === "stopped") return await containerd.stop();
      process.kill(containerd.pid, "SIGKILL");
      await containerd.exited;
    },
    async startContainerd() {
      containerd = await startRuntime();
    },
    async write(file, content) {
      await writeFile(join(manifests, file), typeof content === "string" ? content : JSON.stringify(content));
    },
    remove: async (file) => await rm(join(manifests, file)),
    report,
    async pod(name, until, timeoutMs = WAIT_TIMEOUT_MS) {
      let found: Pod | undefined;
      const check = async () => {
        found = await find(name);
        return found !== undefined && until(found);
      };
      await waitFor(`pod ${name}: ${until.toString()}`, check, timeoutMs);
      if (found === undefined) throw new Error("unreachable: the wait ended without a pod");
      return found;
    },
    gone: async (name, timeoutMs = WAIT_TIMEOUT_MS) =>
      await waitFor(`end of pod ${name}`, async () => (await find(name)) === undefined, timeoutMs),
    async events(name) {
      const { events } = await report();
      return events.filter(({ pod }) => pod.name === `${name}-e2e`);
    },
    async logged(words, { from = 0, timeoutMs = WAIT_TIMEOUT_MS } = {}) {
      await waitFor(`log of ${words.source}`, async () => words.test(output.slice(from)), timeoutMs);
    },
    log: () => output,
    async destroy() {
      cri.close();
      await runAll(
        [
          async () => void (await end("SIGKILL")),
          async () => await containerd.stop(),
          async () => await removeRunState(runtimeDirectory),
          async () => await unmountImageDisk(runtimeDirectory, options),
          async () => await removeRuntime(runtimeDirectory),
          async () => await removeOwnCgroup(directory, silentLog),
          () => failIfThere(`/sys/class/net/${network.bridge}`),
          async () => await removeLogLinks(directory),
          async () => await rm(directory, { recursive: true, force: true }),
        ],
        "removing the node under test",
      );
    },
  };
  return node;
}

const run = promisify(execFile);

async function mountImageDisk(runtimeDirectory: string, bytes: number): Promise<void> {
  const { root } = computeRuntimeLayout(runtimeDirectory);
  await mkdir(root, { recursive: true, mode: 0o711 });
  await run("mount", ["-t", "tmpfs", "-o", `size=${bytes}`, "images", root]);
}

/** What a machine's owner has mounted there stays when the runtime is removed. */
async function unmountImageDisk(runtimeDirectory: string, options: NodeUnderTestOptions): Promise<void> {
  if (options.imageDiskBytes !== undefined) await run("umount", [computeRuntimeLayout(runtimeDirectory).root]);
}

function kubeletConfiguration(podLogsDir: string, more: object = {}): string {
  // Several nodes share this machine: only the tests of the node's own API open its port.
  const kind = { apiVersion: "kubelet.config.k8s.io/v1beta1", kind: "KubeletConfiguration", enableServer: false };
  // Nor does it matter to a test how full the machine's disk is.
  const evictionHard = { "memory.available": "100Mi" };
  return JSON.stringify({
    ...kind,
    podLogsDir,
    evictionHard,
    clusterDNS: ["10.96.0.10"],
    clusterDomain: "cluster.local",
    ...more,
  });
}

/** Pods that were killed rather than removed leave their links in the one directory that all kubelets use. */
async function removeLogLinks(directory: string): Promise<void> {
  for (const name of await readdir(CONTAINER_LOGS).catch(() => [])) {
    const target = await readlink(join(CONTAINER_LOGS, name)).catch(() => "");
    if (target.startsWith(`${directory}/`)) await rm(join(CONTAINER_LOGS, name), { force: true });
  }
}

/** What the removal of the runtime leaves behind stays on the machine for good. */
function failIfThere(path: string): void {
  if (existsSync(path)) throw new Error(`${path} is still there`);
}

async function get(socketPath: string, path: string): Promise<string> {
  return await new Promise((resolve, reject) => {
    const call = request({ socketPath, path, timeout: 5_000 }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => resolve(Buffer.concat(chunks).toString("utf8")));
      response.on("error", reject);
    });
    call.on("timeout", () => call.destroy(new Error("timed out")));
    call.on("error", reject);
    call.end();
  });
}
