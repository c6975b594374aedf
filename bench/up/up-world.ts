import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runAll } from "../../src/base/errors.ts";
import { removeRuntime } from "../../src/cluster/containerd/remove-runtime.ts";
import { runCommand } from "../../src/cluster/processes/run-command.ts";
import { claimNetwork, claimPort } from "../../test/machine/claims.ts";
import { type Build, commandOf } from "../build.ts";
import { type Connection, connect } from "../control-plane/connection.ts";
import { readEndpoint } from "../control-plane/nodelet.ts";
import { prepareNamespace } from "../control-plane/workload.ts";

/** A whole cluster of one node, as `nodelet up` starts it. */
export interface UpWorld {
  /** An administrator's connection. */
  readonly connection: Connection;
  /** Another one, for watches and what goes on beside. */
  connect(): Connection;
  /** The range of the services' addresses, which holds 65,534. */
  readonly serviceCidr: string;
  /** The processes of nodelet: the supervisor, `agent`, `control-plane`, `proxy` and `dns`. The runtime is none of them. */
  readPids(): Promise<ReadonlyMap<string, number>>;
  /** Ends all of it and removes everything that was made. */
  destroy(): Promise<void>;
}

const START_TIMEOUT_MS = 120_000;
const SUPERVISOR = "supervisor";

/** Starts it in a directory and a network of its own. */
export async function createUpWorld(build: Build): Promise<UpWorld> {
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
      ...["--kubelet-arg=--fail-swap-on=false"],
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
    return { connection, connect: open, serviceCidr, readPids: async () => await readPids(state), destroy };
  } catch (error) {
    await destroy();
    throw error;
  }
}

async function run(build: Build, args: readonly string[]): Promise<string> {
  const [program = "", ...rest] = commandOf(build, args);
  return await runCommand(program, rest, { timeoutMs: START_TIMEOUT_MS });
}

async function readPids(state: string): Promise<ReadonlyMap<string, number>> {
  const names = (await readdir(state)).filter((name) => name.endsWith(".pid") || name === `${SUPERVISOR}.lock`);
  const read = names.map(async (name): Promise<[string, number]> => {
    const [pid = ""] = (await readFile(join(state, name), "utf8")).split(" ");
    return [name.replace(/\.(pid|lock)$/, ""), Number(pid)];
  });
  return new Map(await Promise.all(read));
}
