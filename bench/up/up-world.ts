import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runAll } from "../../src/base/errors.ts";
import { removeRuntime } from "../../src/cluster/containerd/remove-runtime.ts";
import { issueKubeconfig } from "../../src/cluster/control-plane/issue-kubeconfig.ts";
import { runCommand } from "../../src/cluster/processes/run-command.ts";
import { readRuntimeOptions } from "../../src/cluster/supervisor/runtime-options.ts";
import { claimNetwork, claimPort } from "../../test/machine/claims.ts";
import { type Build, commandOf } from "../build.ts";
import type { Endpoint } from "../control-plane/api-server.ts";
import { type Connection, connect } from "../control-plane/connection.ts";
import { readEndpoint } from "../control-plane/nodelet.ts";
import { prepareNamespace } from "../control-plane/workload.ts";
import { startCoreDns } from "./stand-ins/core-dns.ts";
import { startKubeControllers } from "./stand-ins/kube-controllers.ts";
import { startKubeProxy } from "./stand-ins/kube-proxy.ts";
import type { Part, StandIn } from "./stand-ins/stand-in.ts";
import type { RunningStandIn, StandInPlace } from "./stand-ins/stand-in-process.ts";

/** A whole cluster of one node, as `nodelet up` starts it. */
export interface UpWorld {
  /** An administrator's connection. */
  readonly connection: Connection;
  /** Another one, for watches and what goes on beside. */
  connect(): Connection;
  /** The range of the services' addresses, which holds 65,534. */
  readonly serviceCidr: string;
  /**
   * The processes by what they do: `supervisor`, `agent`, `control-plane` with the controllers, `proxy` and `dns`. The
   * runtime is none of them.
   */
  readPids(): Promise<ReadonlyMap<string, readonly number[]>>;
  /** Ends all of it and removes everything that was made. */
  destroy(): Promise<void>;
}

const DAY_MS = 24 * 60 * 60 * 1_000;
const STARTS: Readonly<Record<Part, (place: StandInPlace, binary: string) => Promise<RunningStandIn>>> = {
  proxy: startKubeProxy,
  dns: startCoreDns,
  controllers: startKubeControllers,
};
const START_TIMEOUT_MS = 120_000;
const SUPERVISOR = "supervisor";

/** Starts it in a directory and a network of its own, with programs of others for the parts that they take over. */
export async function createUpWorld(build: Build, standIns: readonly StandIn[], signal: AbortSignal): Promise<UpWorld> {
  const { bridge, podCidr } = await claimNetwork();
  const port = await claimPort();
  const directory = await mkdtemp(join(tmpdir(), "nodelet-bench-up-"));
  const state = join(directory, "state");
  const serviceCidr = `172.${16 + (Number(podCidr.split(".")[1]) % 16)}.0.0/16`;
  const teardown = [
    async () => await rm(directory, { recursive: true, force: true }),
    async () => await removeRuntime(join(state, "containerd")),
    async () => void (await run(build, ["down", "--pods", "--now", "--state-dir", state])),
  ];
  const destroy = async () => await runAll(teardown.toReversed(), "ending the bench's cluster");
  try {
    await run(build, [
      ...["up", "--detach", "--state-dir", state, "--healthz-port", "0", "--api-port", `${port}`],
      ...["--bridge", bridge, "--pod-cidr", podCidr, "--service-cidr", serviceCidr],
      ...["--kubelet-arg=--fail-swap-on=false", ...standIns.map(({ part }) => `--no-${part}`)],
    ]);
    const endpoint = await readEndpoint(join(state, "kubeconfig"), port);
    if (endpoint === undefined) throw new Error(`nodelet up has written no kubeconfig for port ${port}`);
    const open = () => {
      const connection = connect(endpoint, { protocol: "HTTP/2", connections: 1 });
      teardown.push(async () => connection.close());
      return connection;
    };
    const connection = open();
    await prepareNamespace(connection);
    const { nodeName = "" } = await readRuntimeOptions(state);
    const pki = join(state, "control-plane", "pki");
    const issue = async (user: string, groups: readonly string[] = []) =>
      await writeKubeconfig({ directory, pki, endpoint }, user, groups);
    const place = { directory, connection, pki, nodeName, podCidr, serviceCidr, issue, signal };
    const running = new Map<Part, number>();
    for (const { part, binary } of standIns) {
      const { pid, stop } = await STARTS[part](place, binary);
      teardown.push(stop);
      running.set(part, pid);
    }
    const readAll = async () => joinPids(await readPids(state), running);
    return { connection, connect: open, serviceCidr, readPids: readAll, destroy };
  } catch (error) {
    await destroy();
    throw error;
  }
}

async function run(build: Build, args: readonly string[]): Promise<string> {
  const [program = "", ...rest] = commandOf(build, args);
  return await runCommand(program, rest, { timeoutMs: START_TIMEOUT_MS });
}

async function writeKubeconfig(
  { directory, pki, endpoint }: { directory: string; pki: string; endpoint: Endpoint },
  user: string,
  groups: readonly string[],
): Promise<string> {
  const { host, port, caPem } = endpoint;
  const authority = { certificatePem: caPem, keyPem: await readFile(join(pki, "ca.key"), "utf8") };
  const as = { url: `https://${host}:${port}`, name: user, groups, lifetimeMs: DAY_MS };
  const path = join(directory, `${user.replaceAll(":", "-")}.kubeconfig`);
  await writeFile(path, await issueKubeconfig({ authority, trustedPem: caPem }, as), { mode: 0o600 });
  return path;
}

/** Controllers that are a program of their own count for the control plane, where ours are. */
function joinPids(
  own: ReadonlyMap<string, number>,
  standIns: ReadonlyMap<Part, number>,
): ReadonlyMap<string, readonly number[]> {
  const joined = new Map([...own].map(([name, pid]) => [name, [pid]]));
  for (const [part, pid] of standIns) {
    const name = part === "controllers" ? "control-plane" : part;
    joined.set(name, [...(joined.get(name) ?? []), pid]);
  }
  return joined;
}

async function readPids(state: string): Promise<ReadonlyMap<string, number>> {
  const names = (await readdir(state)).filter((name) => name.endsWith(".pid") || name === `${SUPERVISOR}.lock`);
  const read = names.map(async (name): Promise<[string, number]> => {
    const [pid = ""] = (await readFile(join(state, name), "utf8")).split(" ");
    return [name.replace(/\.(pid|lock)$/, ""), Number(pid)];
  });
  return new Map(await Promise.all(read));
}
