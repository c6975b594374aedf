import type { Pod } from "../../../api/gen/types.ts";
import { podUid } from "../../../api/pods.ts";
import type { ContainerConfig, PodSandboxConfig } from "../../../cri/gen/cri-v1.ts";
import type { Files } from "../../../host/port.ts";
import type { NodeCpus } from "../../resources/cpus/node-cpus.ts";
import type { NodeDeviceClaims } from "../../resources/device-claims/node-device-claims.ts";
import type { ContainerDevices } from "../../resources/devices/container-devices.ts";
import { type DeviceOptions, NO_DEVICE_OPTIONS } from "../../resources/devices/device-options.ts";
import type { NodeMemory } from "../../resources/memory/node-memory.ts";
import { volumeGroups } from "../../storage/volumes/persistent/volume-gid.ts";
import type { ReadyVolume } from "../../storage/volumes/volume-plugin.ts";
import { buildContainerConfig, type ContainerMount, findContainerConfigError } from "../config/container-config.ts";
import { readEnvFiles } from "../config/env-files.ts";
import { buildEnvironment, type EnvironmentVariable } from "../config/environment.ts";
import { type EnvironmentRefs, resolveEnvironmentRefs } from "../config/environment-refs.ts";
import type { UserNamespaceMapping } from "../config/namespaces.ts";
import type { NodeFacts } from "../config/node-facts.ts";
import { buildPodSandboxConfig } from "../config/pod-sandbox-config.ts";
import type { ImageUser } from "../config/security-context.ts";
import type { ContainerToStart } from "../plan/pod-actions.ts";
import type { MadeMounts } from "./make-volume-mounts.ts";
import { PodSandboxError } from "./pod-sandbox-error.ts";
import type { StartFailure } from "./start-failure.ts";

/** The translation of pods into the runtime's messages, for this node. */
export interface PodConfigs {
  /** The config of a sandbox that exists or shall be made. Rejects with a PodSandboxError for a pod that cannot have one. */
  sandbox(pod: Pod, sandbox: WantedSandbox): Promise<SandboxConfig>;
  /** The config, or a CreateContainerConfigError; rejects on an abort and when files of the node cannot be made or read. */
  container(input: ContainerInput, signal: AbortSignal): Promise<ContainerStartConfig | StartFailure>;
}

/** A sandbox of a pod: its number, and what it depends on besides the pod and the node. */
export interface WantedSandbox {
  /** It is 0 for the pod's first sandbox. */
  attempt: number;
  /** The pod's volumes by name. */
  volumes: ReadonlyMap<string, ReadyVolume>;
}

interface SandboxConfig {
  config: PodSandboxConfig;
  /** What could not be done as the pod asks. Each warning is an event when the sandbox is made. */
  warnings: readonly ConfigWarning[];
}

interface ContainerStartConfig {
  config: ContainerConfig;
  /** What could not be done as the pod asks. Each warning is an event when the container is made. */
  warnings: readonly ConfigWarning[];
}

interface ConfigWarning {
  reason: string;
  message: string;
}

/** Everything that a container's config depends on besides the node. */
interface ContainerInput {
  pod: Pod;
  next: ContainerToStart;
  imageRef: string;
  imageUser: ImageUser;
  podIps: readonly string[];
  targetContainerId: string | undefined;
  /** The pod's volumes by name, for the variables that are in files. */
  volumes: ReadonlyMap<string, ReadyVolume>;
  /** Makes what is mounted on the host. It is called last: a container that cannot be made must leave nothing behind. */
  makeMounts(environment: readonly EnvironmentVariable[]): Promise<MadeMounts>;
}

export interface PodConfigsDeps {
  /** Where the files with variables are. */
  files: Pick<Files, "openBeneath">;
  /** Where environments are read from. */
  refs: EnvironmentRefs;
  /** For pods with `hostUsers: false`; undefined: such a pod gets no sandbox. */
  userNamespaces: { mappingOf(uid: string): Promise<UserNamespaceMapping> } | undefined;
  /** The pod's cgroup, which exists; undefined: the runtime places containers where it likes. */
  cgroupParentOf: ((pod: Pod) => string) | undefined;
  /** The devices that containers were given. Default: none has any. */
  devices?: Pick<ContainerDevices, "prepare"> | undefined;
  /** What containers get by the claims of their pods. Default: nothing. */
  deviceClaims?: Pick<NodeDeviceClaims, "cdiDevicesOf"> | undefined;
  /** The CPUs that containers were given. Default: all run on all of them. */
  cpus?: Pick<NodeCpus, "cpuListOf" | "sizingOf"> | undefined;
  /** The memory that containers were given. Default: all share all of it. */
  memory?: Pick<NodeMemory, "nodeListOf"> | undefined;
}

export function createPodConfigs(facts: NodeFacts, deps: PodConfigsDeps): PodConfigs {
  const factsOf = (pod: Pod, container?: string) => deps.cpus?.sizingOf(facts, podUid(pod), container) ?? facts;
  const userNamespaceOf = async (pod: Pod): Promise<UserNamespaceMapping | undefined> =>
    pod.spec?.hostUsers === false ? await deps.userNamespaces?.mappingOf(podUid(pod)) : undefined;

  return {
    async sandbox(pod, { attempt, volumes }) {
      const userNamespace = await userNamespaceOf(pod);
      const cgroupParent = deps.cgroupParentOf?.(pod) ?? "";
      const shared = { cgroupParent, userNamespace, volumeGroups: volumeGroups(volumes) };
      const result = buildPodSandboxConfig({ pod, attempt, node: factsOf(pod), ...shared });
      if (!result.ok) throw new PodSandboxError("invalid-config", result.error);
      return { config: result.config, warnings: result.warnings };
    },
    async container(input, signal) {
      const { pod, podIps, imageRef, imageUser, targetContainerId } = input;
      const { container, restartCount } = input.next;
      const node = factsOf(pod, container.name);
      const read = await resolveEnvironmentRefs(pod, container, deps.refs, signal);
      if (!read.ok) return configError(read.error);
      const { objects, serviceVariables } = read;
      const envFiles = await readEnvFiles(deps.files, { container, volumes: input.volumes });
      const environment = buildEnvironment({ pod, container, podIps, node, serviceVariables, objects, envFiles });
      if (!environment.ok) return configError(environment.error);
      const owned = await deps.devices?.prepare({ podUid: podUid(pod), container }, signal);
      if (owned !== undefined && !owned.ok) return configError(owned.error);
      const claimed = deps.deviceClaims?.cdiDevicesOf(pod, container) ?? { ok: true, names: [] };
      if (!claimed.ok) return configError(claimed.error);
      const userNamespace = await userNamespaceOf(pod);
      const shared = { userNamespace, volumeGroups: volumeGroups(input.volumes) };
      const wanted = { pod, container, restartCount, imageRef, imageUser, node, targetContainerId, ...shared };
      const error = findContainerConfigError(wanted);
      if (error !== undefined) return configError(error);
      const made = await input.makeMounts(environment.variables);
      if (!made.ok) return configError(made.error);
      const { mounts, devices } = made;
      const { options = NO_DEVICE_OPTIONS } = owned ?? {};
      const result = buildContainerConfig({
        ...wanted,
        // What a plugin sets comes first, so that the pod may set it otherwise.
        mounts: [...options.mounts.map(mountOf), ...mounts],
        devices: [...options.devices, ...devices],
        environment: [...options.envs, ...environment.variables],
        annotations: options.annotations,
        cdiDevices: [...new Set([...claimed.names, ...options.cdiDevices])],
        cpuList: deps.cpus?.cpuListOf(podUid(pod), container.name),
        numaNodeList: deps.memory?.nodeListOf(podUid(pod), container.name),
      });
      return result.ok ? { config: result.config, warnings: environment.warnings } : configError(result.error);
    },
  };
}

function mountOf({ readOnly, ...paths }: DeviceOptions["mounts"][number]): ContainerMount {
  return { ...paths, readonly: readOnly };
}

function configError(message: string): StartFailure {
  return { reason: "CreateContainerConfigError", message };
}
