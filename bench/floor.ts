import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { podReference } from "../src/api/pods.ts";
import { silentLog } from "../src/base/log.ts";
import { readConfigurationFiles } from "../src/cli/kubelet/read-configuration-files.ts";
import { composeConfiguration } from "../src/config/compose-configuration.ts";
import { createNodeAgentConfig } from "../src/config/node-agent-config.ts";
import { parseFlags } from "../src/config/parse-flags.ts";
import * as cri from "../src/cri/gen/cri-v1.ts";
import { createLinuxHost } from "../src/host/linux/create-linux-host.ts";
import { readManifest } from "../src/node/pods/sources/read-manifest.ts";
import { readNodeFacts } from "../src/node/runtime/config/read-node-facts.ts";
import { podLogDirectory } from "../src/node/runtime/logs/container-log-paths.ts";
import { createPodConfigs, type PodConfigsDeps } from "../src/node/runtime/pod-runtime/create-pod-configs.ts";
import { createPodFiles } from "../src/node/runtime/pod-runtime/pod-files.ts";
import { createSubPaths } from "../src/node/storage/volumes/subpaths/sub-paths.ts";
import { NODE_NAME } from "./agent.ts";
import type { Manifest } from "./workload.ts";
import type { AgentPlace, World } from "./world.ts";

/** What no node agent can do without: the runtime's calls alone, with the very messages that nodelet would send. */
export interface Floor {
  /** Everything that comes before the first call; not part of the floor. */
  prepare(manifest: Manifest): Promise<PreparedPod>;
  /** RunPodSandbox, CreateContainer, StartContainer, one after another. */
  start(pod: PreparedPod): Promise<FloorPod>;
  /** StopContainer, StopPodSandbox, RemovePodSandbox. Returns how long that took, in milliseconds. */
  stop(pod: FloorPod): Promise<number>;
}

interface PreparedPod {
  sandboxConfig: cri.PodSandboxConfig;
  containerConfig: cri.ContainerConfig;
  gracePeriodSeconds: number;
}

export interface FloorPod {
  podSandboxId: string;
  containerId: string;
  gracePeriodSeconds: number;
  /** Milliseconds of each call. */
  sandboxMs: number;
  createMs: number;
  startMs: number;
}

/** The pods of the bench name no object. */
function nothingToRead(): PodConfigsDeps["refs"] {
  const refuse = async () => await Promise.reject(new Error("the floor has no objects"));
  return { secret: refuse, configMap: refuse, services: () => ({ hasSynced: true, list: () => [] }) };
}

/** With the facts of the node agent that works there. */
export async function createFloor(world: World, place: AgentPlace): Promise<Floor> {
  const host = createLinuxHost();
  const configs = createPodConfigs(await readFacts(place), {
    files: host.files,
    refs: nothingToRead(),
    userNamespaces: undefined,
    cgroupParentOf: undefined,
  });
  const { runtime, images } = world.cri;
  const directories = { root: join(world.floorDirectory, "kubelet"), logs: join(world.floorDirectory, "pods") };
  await mkdir(directories.root, { recursive: true });
  const subPaths = createSubPaths({ ...host, log: silentLog }, { rootDirectory: directories.root });
  const podFiles = createPodFiles(
    { files: host.files, subPaths, userNamespaces: undefined },
    { rootDirectory: directories.root, clusterDomain: "", seLinuxEnabled: false },
  );

  return {
    async prepare(manifest) {
      const pod = readPod(manifest);
      const [container] = pod.spec?.containers ?? [];
      if (container === undefined) throw new Error("a floor pod has one container");
      const request = cri.ImageStatusRequest.fromPartial({ image: { image: container.image ?? "" } });
      const imageRef = (await images.imageStatus(request)).image?.id ?? "";
      await podFiles.makeDirectories(pod);
      await host.files.makeDirectory(podLogDirectory(directories.logs, podReference(pod)), 0o755);
      const next = { container, kind: "main" as const, restartCount: 0, previousEndedAt: undefined };
      const nothing = { volumes: new Map(), environment: [], images: new Map(), supportsRecursiveReadOnly: false };
      const makeMounts = async () => await podFiles.makeMounts({ pod, next, podIps: ["192.0.2.1"], ...nothing });
      const input = { pod, next, imageRef, imageUser: { uid: undefined, username: "" }, podIps: [], makeMounts };
      const { signal } = new AbortController();
      const made = await configs.container({ ...input, ...nothing, targetContainerId: undefined }, signal);
      if ("reason" in made) throw new Error(made.message);
      const { config: sandboxConfig } = await configs.sandbox(pod, { attempt: 0, volumes: nothing.volumes });
      const logDirectory = podLogDirectory(directories.logs, podReference(pod));
      return {
        sandboxConfig: { ...sandboxConfig, logDirectory },
        containerConfig: made.config,
        gracePeriodSeconds: pod.spec?.terminationGracePeriodSeconds ?? 30,
      };
    },
    async start({ sandboxConfig, containerConfig, gracePeriodSeconds }) {
      const begun = performance.now();
      const sandbox = cri.RunPodSandboxRequest.fromPartial({ config: sandboxConfig });
      const { podSandboxId } = await runtime.runPodSandbox(sandbox);
      const sandboxAt = performance.now();
      const create = cri.CreateContainerRequest.fromPartial({ podSandboxId, config: containerConfig, sandboxConfig });
      const { containerId } = await runtime.createContainer(create);
      const createdAt = performance.now();
      await runtime.startContainer({ containerId });
      const startMs = performance.now() - createdAt;
      const times = { sandboxMs: sandboxAt - begun, createMs: createdAt - sandboxAt, startMs };
      return { podSandboxId, containerId, gracePeriodSeconds, ...times };
    },
    async stop({ podSandboxId, containerId, gracePeriodSeconds }) {
      const begun = performance.now();
      await runtime.stopContainer({ containerId, timeout: BigInt(gracePeriodSeconds) });
      await runtime.stopPodSandbox({ podSandboxId });
      await runtime.removePodSandbox({ podSandboxId });
      return performance.now() - begun;
    },
  };
}

/** The facts of this node as the agent reads them, from the same flags and the same file. */
async function readFacts(place: AgentPlace) {
  const parsed = parseFlags(place.flags);
  if (!parsed.ok) throw new Error(parsed.error);
  const flags = parsed.values;
  const files = await readConfigurationFiles({ config: String(flags.get("config")), configDir: "" }, "/");
  if (!files.ok) throw new Error(files.message);
  const { configuration, featureGates } = composeConfiguration({ ...files.sources, flags });
  const sources = { configuration, featureGates, flags, hostname: NODE_NAME, workingDirectory: "/" };
  return await readNodeFacts(createLinuxHost(), createNodeAgentConfig(sources).config);
}

function readPod(manifest: Manifest) {
  const origin = { source: "file" as const, location: `/floor/${manifest.metadata.name}.json`, nodeName: NODE_NAME };
  const { pods, errors } = readManifest(Buffer.from(JSON.stringify(manifest)), origin);
  const [first] = pods;
  if (first === undefined) throw new Error(errors.join("; "));
  return first.pod;
}
