import type { Pod } from "../../api/gen/types.ts";
import type { ContainerConfig, PodSandboxConfig } from "../../cri/gen/cri-v1.ts";
import { buildContainerConfig, type ContainerMount } from "./config/container-config.ts";
import { buildEnvironment } from "./config/environment.ts";
import type { NodeFacts } from "./config/node-facts.ts";
import { buildPodSandboxConfig } from "./config/pod-sandbox-config.ts";
import type { ImageUser } from "./config/security-context.ts";
import type { ContainerToStart } from "./pod-actions.ts";
import type { StartFailure } from "./start-failure.ts";

/** The translation of pods into the runtime's messages, for this node. */
export interface PodConfigs {
  /** Throws, saying why, for a pod that cannot have a sandbox. */
  sandbox(pod: Pod, attempt: number): SandboxConfig;
  /** The config, or a CreateContainerConfigError. */
  container(input: ContainerInput): { config: ContainerConfig } | StartFailure;
}

export interface SandboxConfig {
  config: PodSandboxConfig;
  /** What could not be done as asked; for an event when the sandbox is made. */
  warnings: ReadonlyArray<{ reason: string; message: string }>;
}

/** What a container's config depends on besides the node. */
export interface ContainerInput {
  pod: Pod;
  next: ContainerToStart;
  imageRef: string;
  imageUser: ImageUser;
  podIps: readonly string[];
  mounts: readonly ContainerMount[];
  targetContainerId: string | undefined;
}

export function createPodConfigs(node: NodeFacts): PodConfigs {
  return {
    sandbox(pod, attempt) {
      // The pods' own cgroups come with a later version; until then the runtime places them.
      const result = buildPodSandboxConfig({ pod, attempt, node, cgroupParent: "" });
      if (!result.ok) throw new Error(result.error);
      return { config: result.config, warnings: result.warnings };
    },
    container({ pod, next, imageRef, imageUser, podIps, mounts, targetContainerId }) {
      const { container, restartCount } = next;
      const environment = buildEnvironment({ pod, container, podIps, node, serviceVariables: [] });
      if (!environment.ok) return configError(environment.error);
      const result = buildContainerConfig({
        pod,
        container,
        restartCount,
        imageRef,
        imageUser,
        node,
        mounts,
        environment: environment.variables,
        targetContainerId,
      });
      return result.ok ? { config: result.config } : configError(result.error);
    },
  };
}

function configError(message: string): StartFailure {
  return { reason: "CreateContainerConfigError", message };
}
