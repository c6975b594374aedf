import type { Pod } from "../../../api/gen/types.ts";
import { isHostNetworkPod, podReference } from "../../../api/pods.ts";
import { messageOf } from "../../../base/errors.ts";
import type { Timeline } from "../../../base/timeline.ts";
import * as cri from "../../../cri/gen/cri-v1.ts";
import type { Cri } from "../../../cri/port.ts";
import type { Host } from "../../../host/port.ts";
import { podLogDirectoryName } from "../logs/container-log-paths.ts";
import type { SandboxRuntimeStatus } from "../reading/pod-runtime-status.ts";
import { readSandboxStatus } from "../reading/read-pods.ts";
import { requirePathName } from "../reading/runtime-answers.ts";
import type { PodConfigs, WantedSandbox } from "./create-pod-configs.ts";
import type { RuntimeMetrics } from "./metrics.ts";
import { PodSandboxError } from "./pod-sandbox-error.ts";

export interface SandboxStarter {
  /** Makes and starts a sandbox; rejects with a PodSandboxError, which is an event of the pod too. */
  start(pod: Pod, wanted: WantedSandbox, signal: AbortSignal): Promise<StartedSandbox>;
  /** Computes the config that a sandbox of this pod and attempt was made with. */
  configOf(pod: Pod, wanted: WantedSandbox): Promise<cri.PodSandboxConfig>;
}

export interface StartedSandbox {
  id: string;
  config: cri.PodSandboxConfig;
  /** The sandbox's addresses, primary first; empty on the host network. */
  ips: string[];
  /** As it was before any container started; undefined where nothing had to be known of it. */
  status: SandboxRuntimeStatus | undefined;
}

/** What chooses a pod's runtime handler, and what is known of the handlers' abilities. */
export interface RuntimeHandlerDeps {
  /**
   * The handler of the pod's `runtimeClassName`, "" without one; asked anew for each sandbox. Rejects where there is no
   * such class. Undefined on a node without an API server: no pod may name a class.
   */
  runtimeHandlerOf: ((pod: Pod, signal: AbortSignal) => Promise<string>) | undefined;
  /**
   * Whether the runtime says that this handler ("" is its default) gives sandboxes users of their own: one that does not
   * know of them would run the pod with the host's.
   */
  supportsUserNamespaces(handler: string): boolean;
  /**
   * Whether the runtime says that it can leave out the groups that an image gives to its users: one that does not know of
   * the field would let them in.
   */
  supportsSupplementalGroupsPolicy(): boolean;
}

interface SandboxDeps extends RuntimeHandlerDeps {
  runtime: Cri["runtime"];
  host: Host;
  timeline: Timeline;
  metrics: RuntimeMetrics;
  configs: Pick<PodConfigs, "sandbox">;
  podLogsDirectory: string;
}

/** The set-up of the network may take long; upstream gives RunPodSandbox twice the usual time. */
const RUN_SANDBOX_TIMEOUT_MS = 240_000;

export function createSandboxStarter(deps: SandboxDeps): SandboxStarter {
  const { runtime, host, metrics } = deps;

  /** Finds the pod's handler, and refuses the pod rather than give it a sandbox that isolates less than it asks for. */
  const handlerOf = async (pod: Pod, signal: AbortSignal): Promise<string> => {
    const { runtimeClassName, hostUsers, securityContext } = pod.spec ?? {};
    if (runtimeClassName && deps.runtimeHandlerOf === undefined) {
      const message = `failed to lookup RuntimeClass ${runtimeClassName}: the node has no API server`;
      throw new PodSandboxError("no-runtime-class", message);
    }
    const handler = (await deps.runtimeHandlerOf?.(pod, signal)) ?? "";
    if (hostUsers === false && !deps.supportsUserNamespaces(handler)) {
      const who = handler === "" ? "runtime" : `RuntimeClass handler "${handler}"`;
      const message = `can't set \`spec.hostUsers: false\`, ${who} does not support user namespaces`;
      throw new PodSandboxError("unsupported", message);
    }
    if (securityContext?.supplementalGroupsPolicy === "Strict" && !deps.supportsSupplementalGroupsPolicy()) {
      // The words are upstream's, which refuses the pod at admission instead (pkg/kubelet/lifecycle/predicate.go).
      throw new PodSandboxError("unsupported", "SupplementalGroupsPolicy=Strict is not supported in this node");
    }
    return handler;
  };

  const run = async (
    pod: Pod,
    { config, runtimeHandler }: { config: cri.PodSandboxConfig; runtimeHandler: string },
    signal: AbortSignal,
  ): Promise<string> => {
    // A pod that writes to the logs of all pods may have put a link in its place.
    await host.files.makeDirectoryBeneath(deps.podLogsDirectory, podLogDirectoryName(podReference(pod)), 0o755);
    const begun = host.clock.monotonic();
    const request = cri.RunPodSandboxRequest.fromPartial({ config, runtimeHandler });
    const { podSandboxId } = await runtime.runPodSandbox(request, { signal, timeoutMs: RUN_SANDBOX_TIMEOUT_MS });
    metrics.runSandboxDuration.observe((host.clock.monotonic() - begun) / 1000, { runtime_handler: runtimeHandler });
    return requirePathName("a sandbox", podSandboxId);
  };

  return {
    configOf: async (pod, wanted) => (await deps.configs.sandbox(pod, wanted)).config,
    async start(pod, wanted, signal) {
      const hasOwnUsers = pod.spec?.hostUsers === false;
      metrics.startedPods.add();
      if (hasOwnUsers) metrics.startedUserNamespacedPods.add();
      let runtimeHandler = "";
      try {
        runtimeHandler = await handlerOf(pod, signal);
        const { config, warnings } = await deps.configs.sandbox(pod, wanted);
        const begun = host.clock.monotonic();
        const id = await run(pod, { config, runtimeHandler }, signal);
        const tookMs = Math.trunc(host.clock.monotonic() - begun);
        const started = { type: "Normal", reason: "SandboxStarted", message: "Pod sandbox started", tookMs } as const;
        deps.timeline.record(podReference(pod), started);
        for (const warning of warnings) deps.timeline.record(podReference(pod), { type: "Warning", ...warning });
        const status = isHostNetworkPod(pod) ? undefined : await readSandboxStatus(runtime, id, signal);
        return { id, config, ips: status?.ips ?? [], status };
      } catch (error) {
        signal.throwIfAborted();
        metrics.startedPodErrors.add();
        if (hasOwnUsers) metrics.startedUserNamespacedPodErrors.add();
        metrics.runSandboxErrors.add({ runtime_handler: runtimeHandler });
        const message = `Failed to create pod sandbox: ${messageOf(error)}`;
        deps.timeline.record(podReference(pod), { type: "Warning", reason: "FailedCreatePodSandBox", message });
        const code = error instanceof PodSandboxError ? error.code : "failed";
        throw new PodSandboxError(code, message, { cause: error });
      }
    },
  };
}
