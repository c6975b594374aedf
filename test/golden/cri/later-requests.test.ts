import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { notFoundError } from "../../../src/api/api-error.ts";
import type { ConfigMap, Container, Pod, Secret, Service } from "../../../src/api/gen/types.ts";
import { silentLog } from "../../../src/base/log.ts";
import type { IDMapping } from "../../../src/cri/gen/cri-v1.ts";
import { createFakeHost } from "../../../src/host/fake/create-fake-host.ts";
import type { Host } from "../../../src/host/port.ts";
import type { EnvironmentVariable } from "../../../src/node/runtime/config/environment.ts";
import type { EnvironmentRefs } from "../../../src/node/runtime/config/environment-refs.ts";
import type { NodeFacts } from "../../../src/node/runtime/config/node-facts.ts";
import type { ContainerToStart } from "../../../src/node/runtime/plan/pod-actions.ts";
import { createPodConfigs } from "../../../src/node/runtime/pod-runtime/create-pod-configs.ts";
import { ensureVolumeImages } from "../../../src/node/runtime/pod-runtime/ensure-volume-images.ts";
import { createPodFiles } from "../../../src/node/runtime/pod-runtime/pod-files.ts";
import { createSubPaths } from "../../../src/node/storage/volumes/subpaths/sub-paths.ts";
import type { ReadyVolume } from "../../../src/node/storage/volumes/volume-plugin.ts";
import { RECORDED_NODE } from "./recording.ts";
import { toWireJson } from "./wire-json.ts";

/** A pod that uses what the recorded kubelet did not have or was not asked, with what our requests for it must be. */
interface LaterPod {
  name: string;
  pod: Pod;
  podIPs: string[];
  userNamespace?: IDMapping;
  secrets?: Record<string, Secret>;
  configMaps?: Record<string, ConfigMap>;
  services?: Service[];
  /** By name; default: none, and one mount of no volume. */
  volumes?: Record<string, ReadyVolume>;
  /** The content of files of the host, by their paths. */
  files?: Record<string, string>;
  /** Read by a person, not recorded: see the README. */
  sandbox: unknown;
  containers: unknown[];
}

const LATER_NODE: NodeFacts = {
  ...RECORDED_NODE,
  hostIps: ["192.0.2.2", "2001:db8::2"],
  cgroupVersion: 2,
  hasMemoryController: true,
  singleProcessOomKill: false,
  hugepageSizes: [],
};

const DIRECTORY = new URL("./later/", import.meta.url);
const LATER_PODS = readdirSync(DIRECTORY).map((file): LaterPod => {
  return { ...JSON.parse(readFileSync(new URL(file, DIRECTORY), "utf8")), name: file.replace(".json", "") };
});

it("the pods are there", () => {
  expect(LATER_PODS.map(({ name }) => name)).toEqual([
    "environment",
    "network",
    "security",
    "user-namespace",
    "volumes",
  ]);
});

describe.each(LATER_PODS)("$name", (later) => {
  const host = createFakeHost();
  for (const [path, content] of Object.entries(later.files ?? {})) host.files.put(path, content);
  const configs = createPodConfigs(LATER_NODE, {
    files: host.files,
    refs: createRefs(later),
    userNamespaces: {
      mappingOf: async () => ({ uids: mappingsOf(later), gids: mappingsOf(later) }),
    },
    cgroupParentOf: undefined,
  });

  it("RunPodSandbox", async () => {
    const { config } = await configs.sandbox(later.pod, { attempt: 0, volumes: new Map() });
    expect(toWireJson(config)).toEqual(later.sandbox);
  });

  it.each((later.pod.spec?.containers ?? []).map((container, index) => ({ container, index })))(
    "CreateContainer $index",
    async ({ container, index }) => {
      expect(await buildContainer(later, container)).toEqual(later.containers[index]);
    },
  );

  async function buildContainer(
    { pod, podIPs: podIps, volumes = {} }: LaterPod,
    container: Container,
  ): Promise<unknown> {
    const next = { container, kind: "main" as const, restartCount: 0, previousEndedAt: undefined };
    const makeMounts = await prepareMounts(host, later, next);
    const input = { pod, next, podIps, makeMounts, volumes: new Map(Object.entries(volumes)) };
    const made = await configs.container(
      { ...input, imageRef: "sha256:1", imageUser: { uid: 7n }, targetContainerId: undefined },
      new AbortController().signal,
    );
    if ("reason" in made) throw new Error(made.message);
    const envs = made.config.envs.map(({ key, value }) => [key, Buffer.from(value).toString()]);
    return { ...toWireJson({ ...made.config, envs: [] }), envs: Object.fromEntries(envs) };
  }
});

/** On a machine that has the volumes, and a runtime that can do all that is asked of it. */
async function prepareMounts(host: Host, { pod, podIPs: podIps, volumes }: LaterPod, next: ContainerToStart) {
  const mount = { containerPath: "/data", hostPath: "/host/data" };
  if (volumes === undefined) return async () => ({ ok: true as const, mounts: [mount], devices: [] });
  const { rootDirectory, clusterDomain } = LATER_NODE;
  const subPaths = createSubPaths({ ...host, log: silentLog }, { rootDirectory });
  const podFiles = createPodFiles(
    { files: host.files, subPaths, userNamespaces: undefined },
    { rootDirectory, clusterDomain, seLinuxEnabled: true },
  );
  await podFiles.makeDirectories(pod);
  for (const volume of Object.values(volumes)) {
    if (volume.kind === "files") await host.files.makeDirectory(volume.hostPath, 0o755);
  }
  const run = { pod, next, podIps, volumes: new Map(Object.entries(volumes)) };
  const ensureImage = async (_pod: Pod, { image = "" }: Container) => ({
    imageRef: `id of ${image}`,
    user: { uid: undefined, username: "" },
  });
  const images = await ensureVolumeImages(
    { ensureImage, runtimeVersion: () => ({ name: "", version: "" }) },
    run,
    new AbortController().signal,
  );
  if ("reason" in images) throw new Error(images.message);
  return async (environment: readonly EnvironmentVariable[]) =>
    await podFiles.makeMounts({ ...run, environment, images: images.found, supportsRecursiveReadOnly: true });
}

function mappingsOf({ userNamespace }: LaterPod): IDMapping[] {
  return userNamespace === undefined ? [] : [userNamespace];
}

function createRefs({ secrets = {}, configMaps = {}, services = [] }: LaterPod): EnvironmentRefs {
  const find = <T>(resource: string, objects: Record<string, T>, name: string): T => {
    const object = objects[name];
    if (object === undefined) throw notFoundError({ group: "", resource }, name);
    return object;
  };
  return {
    secret: async (_namespace, name) => find("secrets", secrets, name),
    configMap: async (_namespace, name) => find("configmaps", configMaps, name),
    services: () => ({
      hasSynced: true,
      list: (namespace) => services.filter(({ metadata }) => metadata?.namespace === namespace),
    }),
  };
}
