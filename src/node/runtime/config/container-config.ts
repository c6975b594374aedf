import type { Container } from "../../../api/gen/types.ts";
import { ContainerConfig, type Device, LinuxContainerConfig, Mount, Signal } from "../../../cri/gen/cri-v1.ts";
import { MEMORY_LIMIT_ERROR } from "../../../host/memory-controller.ts";
import { computeContainerResources } from "../../resources/sizes/container-size.ts";
import { containerLogName } from "../logs/container-log-paths.ts";
import type { EnvironmentVariable } from "./environment.ts";
import { expandWords } from "./expansion.ts";
import { buildContainerAnnotations, buildContainerLabels } from "./labels.ts";
import type { NodeFacts } from "./node-facts.ts";
import { buildContainerSecurityContext, type ContainerSecurityInput, findSecurityError } from "./security-context.ts";
import { criStopSignal } from "./stop-signal.ts";

/**
 * A mount whose host side exists. A field that is left out has CRI's zero value (read-write, private, not relabelled).
 */
export type ContainerMount = Pick<Mount, "containerPath" | "hostPath"> & Partial<Mount>;

export interface ContainerConfigInput extends ContainerSecurityInput {
  /** It is 0 for the first start. It also is the attempt, as kubelet counts. */
  restartCount: number;
  /** The image's id in the runtime, so that the image that was checked is the one that runs. */
  imageRef: string;
  node: NodeFacts;
  environment: readonly EnvironmentVariable[];
  /** In mounting order. */
  mounts: readonly ContainerMount[];
  devices?: readonly Device[];
  /** Qualified names (`vendor.example/class=name`). */
  cdiDevices?: readonly string[];
  /** Annotations that device plugins add. The node agent's own come before them. */
  annotations?: Readonly<Record<string, string>>;
  /** The kernel's list of the CPUs on which the container runs. Default: any. */
  cpuList?: string | undefined;
  /** The NUMA nodes from which the container's memory comes, as in `0,2`. Default: any. */
  numaNodeList?: string | undefined;
}

/** The error is the message of a CreateContainerConfigError. */
type ContainerConfigResult = { ok: true; config: ContainerConfig } | { ok: false; error: string };

/** Returns why no container can be made of this input, whatever its environment and mounts are. */
export function findContainerConfigError(
  input: ContainerSecurityInput & Pick<ContainerConfigInput, "node">,
): string | undefined {
  const signal = input.container.lifecycle?.stopSignal;
  if (signal !== undefined && criStopSignal(signal) === undefined) return `unknown stop signal "${signal}"`;
  const { memoryLimitInBytes } = computeContainerResources(input.pod, input.container, input.node);
  if (memoryLimitInBytes > 0n && !input.node.hasMemoryController) return MEMORY_LIMIT_ERROR;
  return findSecurityError(input);
}

/** Builds the config that CreateContainer takes. Follows kuberuntime_container.go (generateContainerConfig). */
export function buildContainerConfig(input: ContainerConfigInput): ContainerConfigResult {
  const { pod, container, restartCount } = input;
  const error = findContainerConfigError(input);
  if (error !== undefined) return { ok: false, error };
  const signal = container.lifecycle?.stopSignal;
  const words = expandCommand(container, input.environment);
  if (words === undefined)
    return { ok: false, error: "command and arguments have more bytes than a program can be given" };

  const config = ContainerConfig.fromPartial({
    metadata: { name: container.name, attempt: restartCount },
    image: { image: input.imageRef, userSpecifiedImage: container.image ?? "" },
    ...words,
    workingDir: container.workingDir ?? "",
    envs: input.environment.map(({ name, value, bytes }) => ({ key: name, value: bytes ?? Buffer.from(value) })),
    mounts: input.mounts.map((mount) => withMappedIds(mount, input)),
    devices: [...(input.devices ?? [])],
    CDIDevices: (input.cdiDevices ?? []).map((name) => ({ name })),
    labels: buildContainerLabels(pod, container),
    annotations: { ...input.annotations, ...buildContainerAnnotations(pod, container, restartCount) },
    logPath: containerLogName(container.name, restartCount),
    stdin: container.stdin === true,
    stdinOnce: container.stdinOnce === true,
    tty: container.tty === true,
    stopSignal: (signal === undefined ? undefined : criStopSignal(signal)) ?? Signal.SIGNAL_RUNTIME_DEFAULT,
    linux: LinuxContainerConfig.fromPartial({
      resources: {
        ...computeContainerResources(pod, container, input.node),
        cpusetCpus: input.cpuList ?? "",
        cpusetMems: input.numaNodeList ?? "",
      },
      securityContext: buildContainerSecurityContext(input),
    }),
  });
  return { ok: true, config };
}

function expandCommand(
  { command = [], args = [] }: Container,
  environment: readonly EnvironmentVariable[],
): Pick<ContainerConfig, "command" | "args"> | undefined {
  // An environment may have tens of thousands of variables, and few commands name one.
  let values: ReadonlyMap<string, string> | undefined;
  const lookup = (name: string) => {
    values ??= new Map(environment.map((variable) => [variable.name, variable.value]));
    return values.get(name);
  };
  const words = expandWords([...command, ...args], lookup);
  return words && { command: words.slice(0, command.length), args: words.slice(command.length) };
}

/** A container in a user namespace of its own sees files as owned by its users only if the mounts are mapped too. */
function withMappedIds(mount: ContainerMount, { userNamespace }: ContainerConfigInput): Mount {
  const { uids, gids } = userNamespace ?? { uids: [], gids: [] };
  return Mount.fromPartial({ ...mount, uidMappings: uids, gidMappings: gids });
}
