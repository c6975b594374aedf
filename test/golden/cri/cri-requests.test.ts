import { describe, expect, it } from "vitest";
import { podContainers, podUid } from "../../../src/api/pods.ts";
import { buildContainerConfig, type ContainerMount } from "../../../src/node/runtime/config/container-config.ts";
import { isSameContainer } from "../../../src/node/runtime/config/container-hash.ts";
import { buildEnvironment } from "../../../src/node/runtime/config/environment.ts";
import { buildPodSandboxConfig } from "../../../src/node/runtime/config/pod-sandbox-config.ts";
import { buildSystemMounts, podHostsPath, terminationLogPath } from "../../../src/node/runtime/config/system-mounts.ts";
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
 * - given as input, since other parts decide them: cgroup parents, image ids, the container that an ephemeral one
 *   targets, the volumes' mounts, the random name of a termination log.
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
    const cgroupParent = sandbox.linux.cgroup_parent;
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
  it.each(requests)("CreateContainer $index ($name)", ({ recorded }) => {
    const container = containerOf(recording, recorded);
    const recordedHash = recorded.config.annotations[HASH] ?? "";
    expect(isSameContainer(container, recordedHash), `hash ${recordedHash}`).toBe(true);
    expect(buildWireConfig(recording, recorded)).toEqual(expectedConfig(recorded));
  });
});

function expectedConfig({ config, services }: RecordedContainer): unknown {
  const expected = structuredClone(config);
  expected.annotations[HASH] = expect.any(String);
  expected.linux.security_context.masked_paths.push(...LATER_MASKED_PATHS);
  const ofServices = readServiceVariables(services).map(({ name, value }) => [name, value]);
  return { ...expected, envs: { ...Object(config["envs"]), ...Object.fromEntries(ofServices) } };
}

function buildWireConfig(recording: Recording, recorded: RecordedContainer): unknown {
  const { pod, podIPs } = recording;
  const { config } = recorded;
  const container = containerOf(recording, recorded);
  const serviceVariables = readServiceVariables(recorded.services);
  const environment = buildEnvironment({ pod, container, podIps: podIPs, node: RECORDED_NODE, serviceVariables });
  if (!environment.ok) throw new Error(environment.error);
  const built = buildContainerConfig({
    pod,
    container,
    restartCount: config.metadata.attempt ?? 0,
    imageRef: config.image.image,
    imageUser: {},
    node: RECORDED_NODE,
    environment: environment.variables,
    mounts: [...volumeMounts(recorded), ...systemMounts(recording, recorded)],
    targetContainerId: config.linux.security_context.namespace_options.target_id,
  });
  if (!built.ok) throw new Error(built.error);
  const wire = toWireJson({ ...built.config, envs: [] });
  const envs = built.config.envs.map(({ key, value }) => [key, Buffer.from(value).toString()]);
  expect(new Set(envs.map(([key]) => key)).size).toBe(envs.length);
  return { ...wire, envs: Object.fromEntries(envs) };
}

function volumeMounts({ config }: RecordedContainer): ContainerMount[] {
  return config.mounts.slice(0, -2).map(({ container_path, host_path, readonly = false }) => ({
    containerPath: container_path,
    hostPath: host_path,
    readonly,
  }));
}

function systemMounts(recording: Recording, recorded: RecordedContainer): ContainerMount[] {
  const uid = podUid(recording.pod);
  const instance = recorded.config.mounts.at(-1)?.host_path.split("/").at(-1) ?? "";
  const { rootDirectory } = RECORDED_NODE;
  return buildSystemMounts(containerOf(recording, recorded), {
    hosts: podHostsPath(rootDirectory, uid),
    terminationLog: terminationLogPath(rootDirectory, uid, { name: recorded.config.metadata.name, instance }),
  });
}

function containerOf({ pod }: Recording, { config }: RecordedContainer) {
  const found = podContainers(pod).find(({ container }) => container.name === config.metadata.name);
  if (found === undefined) throw new Error(`no container ${config.metadata.name} in the pod`);
  return found.container;
}
