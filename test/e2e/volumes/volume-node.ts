import { mkdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Pod } from "../../../src/api/gen/types.ts";
import { runCommand } from "../../../src/cluster/processes/run-command.ts";
import { type ClusterNode, createClusterNode } from "../cluster/cluster-node.ts";
import type { NodeUnderTest, NodeUnderTestOptions } from "../node-under-test.ts";
import { isRunning, RUN_FOR_EVER, shellPod } from "../pods.ts";
import { readRunningContainers } from "../runtime-state.ts";

/** A line of the mount table of containerd and the node agent, which may be another than that of this process. */
interface SeenMount {
  /** What of the file system is shown. */
  root: string;
  path: string;
  options: string;
  fileSystem: string;
  source: string;
}

/** What a test of volumes needs of a node beyond its pods: the host as containerd and the agent see it. */
export interface VolumeHost {
  /** A directory of the host that goes with the node. */
  readonly scratch: string;
  /** kubelet's directory of a pod. */
  podDirectory(uid: string): string;
  /** Runs a program where the node's mounts are seen; gives what it printed. */
  inNamespace(program: string, ...args: string[]): Promise<string>;
  mounts(): Promise<SeenMount[]>;
  /** What is left of a pod that is gone: its directory and every mount that names it. Empty is right. */
  leftovers(uid: string): Promise<string[]>;
  /** The path of the host by which a running container's file can be read without entering it. */
  rootOf(pod: string, container?: string): Promise<string>;
}

/** A node of a cluster, with its host. */
export interface VolumeNode extends ClusterNode, VolumeHost {
  /** Creates the pod and waits until it runs. */
  run(pod: object): Promise<Pod>;
  /** Deletes the pod, waits for its end, and gives what is left of it. */
  end(name: string): Promise<string[]>;
}

export async function createVolumeHost(node: NodeUnderTest): Promise<VolumeHost> {
  const scratch = join(node.directory, "scratch");
  await mkdir(scratch);
  const podDirectory = (uid: string) => join(node.directory, "kubelet/pods", uid);
  const mounts = async () => parseMounts(await readFile(`/proc/${node.containerd.pid}/mountinfo`, "utf8"));
  return {
    scratch,
    podDirectory,
    async inNamespace(program, ...args) {
      const [command = program, ...rest] = [...node.containerd.enterMountNamespace, program, ...args];
      return await runCommand(command, rest);
    },
    mounts,
    async leftovers(uid) {
      const found = (await mounts()).filter(({ path }) => path.includes(uid)).map(({ path }) => path);
      const directory = podDirectory(uid);
      return (await exists(directory)) ? [directory, ...found] : found;
    },
    async rootOf(pod, container = "main") {
      const running = await readRunningContainers(node);
      const found = running.find((candidate) => candidate.pod === pod && candidate.name === container);
      if (found === undefined) throw new Error(`no container ${container} of ${pod} runs`);
      return `/proc/${found.pid}/root`;
    },
  };
}

/** Started, unless `isStarted` is false, which leaves it to the test. */
export async function createVolumeNode(
  options: NodeUnderTestOptions & { isStarted?: boolean } = {},
): Promise<VolumeNode> {
  const { isStarted = true, ...rest } = options;
  const world = await createClusterNode(rest);
  const host = await createVolumeHost(world.node);
  if (isStarted) await world.node.start(world.flags);
  return {
    ...world,
    ...host,
    async run(pod) {
      const { metadata } = await world.create(pod);
      return await world.pod(metadata?.name ?? "", isRunning);
    },
    async end(name) {
      const uid = (await world.read(name))?.metadata?.uid ?? "";
      await world.remove(name);
      await world.gone(name);
      return await host.leftovers(uid);
    },
  };
}

/** What a pod of one container mounts where, by the volumes' names. */
interface Mounting {
  volumes: Readonly<Record<string, object>>;
  /** Fields of the volume mounts; where there are none, each volume is at `/` and its name. */
  mounts?: ReadonlyArray<{ name: string } & Readonly<Record<string, unknown>>>;
  spec?: object;
  container?: object;
  script?: string;
}

/** A pod that sleeps, or does what its script says, with these volumes. */
export function mountingPod(name: string, mounting: Mounting): object {
  const { volumes, spec, container, script = RUN_FOR_EVER } = mounting;
  const names = Object.keys(volumes);
  const volumeMounts = (mounting.mounts ?? names.map((volume) => ({ name: volume }))).map((mount) => {
    return { mountPath: `/${mount.name}`, ...mount };
  });
  const podVolumes = Object.entries(volumes).map(([volume, source]) => ({ name: volume, ...source }));
  // No token: what is mounted is what the test says.
  const podSpec = { automountServiceAccountToken: false, volumes: podVolumes, ...spec };
  return shellPod(name, script, podSpec, { volumeMounts, ...container });
}

async function exists(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  );
}

function parseMounts(text: string): SeenMount[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const fields = line.split(" ");
      const separator = fields.indexOf("-", 6);
      const [fileSystem = "", source = "", superOptions = ""] = fields.slice(separator + 1);
      const [root = "", path = "", options = ""] = fields.slice(3);
      return { root, path, options: `${options},${superOptions}`, fileSystem, source };
    });
}
