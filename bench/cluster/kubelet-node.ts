import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { goKubeletConfiguration } from "../../test/clusters/go-kubelet-configuration.ts";
import { fetchText } from "../agent.ts";
import { findFreePorts } from "../control-plane/server-process.ts";
import { GO_KUBELET } from "../measure.ts";
import { startNode } from "./node-process.ts";
import type { NodeProgram } from "./node-program.ts";

interface KubeletOptions {
  binary: string;
  directory: string;
  kubeconfig: string;
}

/** The Go kubelet, with what it needs to run on whatever machine this is; all that costs time is as it is by default. */
export async function kubeletNode(
  context: Parameters<typeof startNode>[0],
  { binary, directory, kubeconfig }: KubeletOptions,
): Promise<NodeProgram> {
  const { world } = context;
  const path = (name: string) => join(directory, name);
  for (const made of [directory, path("kubelet")]) await mkdir(made);
  const [port = 0, readOnlyPort = 0] = await findFreePorts(2);
  const configuration = {
    ...goKubeletConfiguration(port),
    // Its metrics, without credentials.
    readOnlyPort,
    containerRuntimeEndpoint: world.containerd.endpoint,
    enforceNodeAllocatable: [],
    // Whether the machine's disk is nearly full must not decide.
    evictionHard: { "memory.available": "0%", "nodefs.available": "0%", "imagefs.available": "0%" },
    failSwapOn: false,
    failCgroupV1: false,
  };
  await writeFile(path("kubelet.json"), JSON.stringify(configuration));
  const nodeName = "kubelet";
  const flags = [
    `--config=${path("kubelet.json")}`,
    `--root-dir=${path("kubelet")}`,
    `--cert-dir=${path("pki")}`,
    `--kubeconfig=${kubeconfig}`,
    `--hostname-override=${nodeName}`,
  ];
  const logFile = path("kubelet.log");
  const read = async (path: string) => await fetchText({ host: "127.0.0.1", port: readOnlyPort, path });
  return {
    name: GO_KUBELET,
    nodeName,
    rootDirectory: path("kubelet"),
    start: async (how) => await startNode(context, { nodeName, command: [binary, ...flags], logFile, read, ...how }),
  };
}
