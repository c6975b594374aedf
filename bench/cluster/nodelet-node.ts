import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fetchText } from "../agent.ts";
import { type Build, commandOf } from "../build.ts";
import type { World } from "../world.ts";
import { startNode } from "./node-process.ts";
import type { NodeProgram } from "./node-program.ts";

interface NodeletOptions {
  build: Build;
  directory: string;
  kubeconfig: string;
}

/** More than the bench starts on one node at a time. */
const MAX_PODS = 1_500;

/** The built program, as `nodelet up` starts it. */
export async function nodeletNode(
  context: Parameters<typeof startNode>[0] & { world: World },
  { build, directory, kubeconfig }: NodeletOptions,
): Promise<NodeProgram> {
  const { world } = context;
  const path = (name: string) => join(directory, name);
  for (const made of [directory, path("manifests"), path("pods"), path("kubelet")]) await mkdir(made);
  const configuration = {
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    containerRuntimeEndpoint: world.containerd.endpoint,
    staticPodPath: path("manifests"),
    podLogsDir: path("pods"),
    ...world.cgroups,
    healthzPort: 0,
    enableServer: false,
    failSwapOn: false,
    makeIPTablesUtilChains: false,
    failCgroupV1: false,
    maxPods: MAX_PODS,
    // How full the machine's disk is must not decide.
    evictionHard: { "memory.available": "100Mi" },
  };
  await writeFile(path("kubelet.json"), JSON.stringify(configuration));
  const [nodeName, socket] = [build.name, path("node.sock")];
  const flags = [
    `--config=${path("kubelet.json")}`,
    `--root-dir=${path("kubelet")}`,
    `--cert-dir=${path("pki")}`,
    `--kubeconfig=${kubeconfig}`,
    `--nodelet-socket=${socket}`,
    `--hostname-override=${nodeName}`,
  ];
  const environment = Object.entries(build.runTime.environment).map(([name, value]) => `${name}=${value}`);
  const command = ["env", ...environment, ...commandOf(build, ["kubelet", ...flags])];
  const read = async (path: string) => await fetchText({ socketPath: socket, path });
  return {
    name: build.name,
    nodeName,
    rootDirectory: path("kubelet"),
    start: async (how) => await startNode(context, { nodeName, command, logFile: world.agentLog, read, ...how }),
  };
}
