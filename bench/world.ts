import { mkdir, mkdtemp, readdir, readlink, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runAll } from "../src/base/errors.ts";
import { silentLog } from "../src/base/log.ts";
import { createMetrics } from "../src/base/metrics.ts";
import { removeRuntime } from "../src/cluster/containerd/remove-runtime.ts";
import { type Containerd, startContainerd } from "../src/cluster/containerd/start-containerd.ts";
import { buildImages } from "../src/cluster/images/build-images.ts";
import { makeOwnCgroup, type OwnCgroup, removeOwnCgroup } from "../src/cluster/supervisor/own-cgroup.ts";
import { connectCri } from "../src/cri/connect.ts";
import type { Cri } from "../src/cri/port.ts";
import { claimNetwork } from "../test/machine/claims.ts";
import type { Build } from "./build.ts";

/** A containerd of the bench's own, with the images, and directories for a node agent on it. */
export interface World {
  /** Everything is beneath it; it goes with the world. */
  directory: string;
  containerd: Pick<Containerd, "endpoint" | "version" | "enterMountNamespace">;
  cri: Cri;
  /** Configuration fields of a node agent: a cgroup of the bench's own for its pods, where it may make one. */
  cgroups: OwnCgroup | { cgroupsPerQOS: boolean; enforceNodeAllocatable: string[] };
  /** What all node agents write. */
  agentLog: string;
  /** The logs of the pods that the bench makes itself. */
  floorDirectory: string;
  /** Makes directories for a node agent of this build, which is the only one of its name. */
  makePlace(build: Build): Promise<AgentPlace>;
  /** Ends containerd with all its pods and removes everything that was made. */
  destroy(): Promise<void>;
}

/** Where a node agent works that takes its pods from manifests. */
export interface AgentPlace {
  build: Build;
  manifests: string;
  socket: string;
  /** The flags of `nodelet kubelet`. */
  flags: readonly string[];
}

const LEGACY_LOG_LINKS = "/var/log/containers";

export async function createWorld(): Promise<World> {
  const directory = await mkdtemp(join(tmpdir(), "nodelet-bench-"));
  const runtime = join(directory, "runtime");
  const destroyFiles = async () => {
    await runAll(
      [
        async () => await removeRuntime(runtime),
        async () => await removeOwnCgroup(directory, silentLog),
        async () => await removeLogLinks(directory),
        async () => await rm(directory, { recursive: true, force: true }),
      ],
      `removing ${directory}`,
    );
  };
  try {
    const network = await claimNetwork();
    const containerd = await startContainerd({ directory: runtime, ...network, log: silentLog });
    for (const { tar } of await buildImages(join(directory, "images"))) await containerd.importImage(tar);
    const cri = connectCri({ endpoint: containerd.endpoint, log: silentLog, metrics: createMetrics() });
    const cgroups = (await makeOwnCgroup(directory, silentLog)) ?? { cgroupsPerQOS: false, enforceNodeAllocatable: [] };
    const { endpoint } = containerd;
    return {
      directory,
      containerd,
      cri,
      cgroups,
      agentLog: join(directory, "agent.log"),
      floorDirectory: join(directory, "floor"),
      makePlace: async (build) => await makePlace(join(directory, build.name), { build, endpoint, cgroups }),
      async destroy() {
        cri.close();
        await runAll([async () => await containerd.stop(), destroyFiles], "ending the bench's containerd");
      },
    };
  } catch (error) {
    await destroyFiles();
    throw error;
  }
}

/** Makes the directories and writes the configuration. */
export async function makePlace(
  directory: string,
  { build, endpoint, cgroups }: { build: Build; endpoint: string; cgroups: World["cgroups"] },
): Promise<AgentPlace> {
  const path = (name: string) => join(directory, name);
  for (const made of [directory, path("manifests"), path("pods"), path("kubelet")]) await mkdir(made);
  const configuration = {
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    podLogsDir: path("pods"),
    staticPodPath: path("manifests"),
    containerRuntimeEndpoint: endpoint,
    ...cgroups,
    healthzPort: 0,
    enableServer: false,
    failSwapOn: false,
    makeIPTablesUtilChains: false,
    failCgroupV1: false,
    // How full the machine's disk is must not decide.
    evictionHard: { "memory.available": "100Mi" },
  };
  await writeFile(path("kubelet.json"), JSON.stringify(configuration));
  const socket = path("node.sock");
  const flags = [
    `--config=${path("kubelet.json")}`,
    `--root-dir=${path("kubelet")}`,
    `--nodelet-socket=${socket}`,
    "--hostname-override=bench",
  ];
  return { build, manifests: path("manifests"), socket, flags };
}

/** Those of pods that were killed with their containerd; every other pod took its own along. */
async function removeLogLinks(directory: string): Promise<void> {
  for (const name of await readdir(LEGACY_LOG_LINKS).catch(() => [])) {
    const link = join(LEGACY_LOG_LINKS, name);
    const target = await readlink(link).catch(() => "");
    if (target.startsWith(`${directory}/`)) await rm(link, { force: true });
  }
}
