import { describe, expect, it } from "vitest";
import type { Container, Pod, Volume } from "../../../src/api/gen/types.ts";
import { podContainers, podUid } from "../../../src/api/pods.ts";
import { computeQosClass } from "../../../src/api/qos.ts";
import { silentLog } from "../../../src/base/log.ts";
import { createFakeHost } from "../../../src/host/fake/create-fake-host.ts";
import {
  cgroupPathOf,
  nameOfAllPods,
  nameOfClass,
  nameOfPod,
} from "../../../src/node/resources/cgroups/cgroup-name.ts";
import { NO_FILES, NO_OBJECTS } from "../../../src/node/runtime/config/__fixtures__/no-objects.ts";
import { buildContainerConfig, type ContainerMount } from "../../../src/node/runtime/config/container-config.ts";
import { isSameContainer } from "../../../src/node/runtime/config/container-hash.ts";
import { buildEnvironment, type EnvironmentVariable } from "../../../src/node/runtime/config/environment.ts";
import { buildPodSandboxConfig } from "../../../src/node/runtime/config/pod-sandbox-config.ts";
import { terminationLogName } from "../../../src/node/runtime/config/system-mounts.ts";
import { createPodFiles } from "../../../src/node/runtime/pod-runtime/pod-files.ts";
import type { FilesVolume } from "../../../src/node/storage/volumes/container-mounts.ts";
import { createSubPaths } from "../../../src/node/storage/volumes/subpaths/sub-paths.ts";
import { volumeDirectories } from "../../../src/node/storage/volumes/volume-directories.ts";
import {
  RECORDED_NODE,
  type RecordedContainer,
  type Recording,
  readRecordings,
  readServiceVariables,
} from "./recording.ts";
import { toWireJson } from "./wire-json.ts";

/**
 * Our requests equal the recorded ones, but for these differences:
 * - the container hash: we record that of kubelet 1.31 and later; that ours accepts the recorded one is asserted instead;
 * - the paths that kubelets mask since then (listed below);
 * - the services' variables come in the order of a Go map: compared as a set;
 * - the name of a termination log is random there; ours tells which start it is of;
 * - given as input, since other parts decide them: image ids, the container that an ephemeral one targets, where the
 *   volumes are.
 */
const LATER_MASKED_PATHS = ["/proc/interrupts", "/sys/devices/virtual/powercap"];
const HASH = "io.kubernetes.container.hash";

const RECORDINGS = readRecordings();

it("the recordings are there", () => {
  expect(RECORDINGS).toHaveLength(31);
});

describe.each(RECORDINGS)("$name", (recording) => {
  it("RunPodSandbox", () => {
    const { pod, sandbox } = recording;
    const ofClass = nameOfClass(nameOfAllPods("/"), computeQosClass(pod));
    const cgroupParent = cgroupPathOf(nameOfPod(ofClass, podUid(pod)), "cgroupfs");
    const built = buildPodSandboxConfig({ pod, attempt: 0, node: RECORDED_NODE, cgroupParent });
    if (!built.ok) throw new Error(built.error);
    expect(built.warnings).toEqual([]);
    expect(toWireJson(built.config)).toEqual(sandbox);
  });

  const requests = recording.containers.map((recorded, index) => ({
    recorded,
    index,
    name: recorded.config.metadata.name,
  }));
  it.each(requests)("CreateContainer $index ($name)", async ({ recorded }) => {
    const container = containerOf(recording, recorded);
    const recordedHash = recorded.config.annotations[HASH] ?? "";
    expect(isSameContainer(container, recordedHash), `hash ${recordedHash}`).toBe(true);
    expect(await buildWireConfig(recording, recorded)).toEqual(expectedConfig(recorded));
  });
});

function expectedConfig({ config, services }: RecordedContainer): unknown {
  const expected = structuredClone(config);
  expected.annotations[HASH] = expect.any(String);
  expected.linux.security_context.masked_paths.push(...LATER_MASKED_PATHS);
  const terminationLog = expected.mounts.at(-1);
  if (terminationLog !== undefined) {
    terminationLog.host_path = terminationLog.host_path.replace(
      /[^/]+$/,
      terminationLogName(config.metadata.attempt ?? 0),
    );
  }
  const ofServices = readServiceVariables(services).map(({ name, value }) => [name, value]);
  return { ...expected, envs: { ...Object(config["envs"]), ...Object.fromEntries(ofServices) } };
}

async function buildWireConfig(recording: Recording, recorded: RecordedContainer): Promise<unknown> {
  const { pod, podIPs } = recording;
  const { config } = recorded;
  const container = containerOf(recording, recorded);
  const restartCount = config.metadata.attempt ?? 0;
  const serviceVariables = readServiceVariables(recorded.services);
  const named = { pod, container, serviceVariables, objects: NO_OBJECTS, envFiles: NO_FILES };
  const environment = buildEnvironment({ ...named, podIps: podIPs, node: RECORDED_NODE });
  if (!environment.ok) throw new Error(environment.error);
  const built = buildContainerConfig({
    pod,
    container,
    restartCount,
    imageRef: config.image.image,
    imageUser: {},
    node: RECORDED_NODE,
    environment: environment.variables,
    mounts: await makeMounts(recording, { container, environment: environment.variables, restartCount }),
    targetContainerId: config.linux.security_context.namespace_options.target_id,
  });
  if (!built.ok) throw new Error(built.error);
  const wire = toWireJson({ ...built.config, envs: [] });
  const envs = built.config.envs.map(({ key, value }) => [key, Buffer.from(value).toString()]);
  expect(new Set(envs.map(([key]) => key)).size).toBe(envs.length);
  return { ...wire, envs: Object.fromEntries(envs) };
}

/** On a machine that has the pod's volumes where a kubelet has them. */
async function makeMounts(
  { pod, podIPs }: Recording,
  { environment, ...next }: { container: Container; environment: EnvironmentVariable[]; restartCount: number },
): Promise<readonly ContainerMount[]> {
  const host = createFakeHost();
  const { rootDirectory, clusterDomain } = RECORDED_NODE;
  const subPaths = createSubPaths({ ...host, log: silentLog }, { rootDirectory });
  const podFiles = createPodFiles(
    { files: host.files, subPaths, userNamespaces: undefined },
    { rootDirectory, clusterDomain, seLinuxEnabled: false },
  );
  const volumes = recordedVolumes(pod);
  host.files.put("/etc/hosts", "127.0.0.1 localhost\n");
  await podFiles.makeDirectories(pod);
  for (const { hostPath } of volumes.values()) await host.files.makeDirectory(hostPath, 0o755);
  const made = await podFiles.makeMounts({
    pod,
    next: { ...next, kind: "main", previousEndedAt: undefined },
    podIps: podIPs,
    volumes,
    environment,
    images: new Map(),
    supportsRecursiveReadOnly: false,
  });
  if (!made.ok) throw new Error(made.error);
  expect(made.devices).toEqual([]);
  return made.mounts;
}

/** The kinds of volumes that were recorded, by their fields: their plugin, and whether containers may write them. */
const RECORDED_PLUGINS = {
  emptyDir: { plugin: "kubernetes.io/empty-dir", readOnly: false },
  configMap: { plugin: "kubernetes.io/configmap", readOnly: true },
  secret: { plugin: "kubernetes.io/secret", readOnly: true },
  downwardAPI: { plugin: "kubernetes.io/downward-api", readOnly: true },
  projected: { plugin: "kubernetes.io/projected", readOnly: true },
};

function recordedVolumes(pod: Pod): Map<string, FilesVolume> {
  const directories = volumeDirectories(RECORDED_NODE.rootDirectory, podUid(pod));
  const ready = (volume: Volume): FilesVolume => {
    const common = { kind: "files", relabel: true } as const;
    if (volume.hostPath) return { ...common, hostPath: volume.hostPath.path, readOnly: false };
    const kind = Object.entries(RECORDED_PLUGINS).find(([field]) => field in volume)?.[1];
    if (kind === undefined) throw new Error(`no volume of this kind was recorded: ${Object.keys(volume).join()}`);
    return { ...common, hostPath: directories.of(kind.plugin, volume.name), readOnly: kind.readOnly };
  };
  return new Map((pod.spec?.volumes ?? []).map((volume) => [volume.name, ready(volume)]));
}

function containerOf({ pod }: Recording, { config }: RecordedContainer) {
  const found = podContainers(pod).find(({ container }) => container.name === config.metadata.name);
  if (found === undefined) throw new Error(`no container ${config.metadata.name} in the pod`);
  return found.container;
}
