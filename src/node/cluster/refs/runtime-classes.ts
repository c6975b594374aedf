import { isApiError, notFoundError } from "../../../api/api-error.ts";
import type { Pod } from "../../../api/gen/types.ts";
import { RUNTIME_CLASSES } from "../../../api/kube-resource.ts";
import { isAbort } from "../../../base/abort.ts";
import { SECOND } from "../../../base/clock.ts";
import { createReflector, type ReflectorDeps } from "../../../kube/create-reflector.ts";
import { describeKubeFailure } from "../../../kube/outage-log.ts";
import type { KubeClient } from "../../../kube/port.ts";

/** Tells which of the runtime's handlers runs a pod. */
export interface RuntimeClasses {
  run(signal: AbortSignal): Promise<void>;
  /** Resolves when all runtime classes have been read once. */
  synced(signal: AbortSignal): Promise<void>;
  /**
   * Returns the handler of the pod's runtime class; "" for a pod without one, which is the runtime's default. Rejects
   * with an ApiError NotFound for a class that does not exist, and with another error when the server could not be
   * asked.
   */
  handlerOf(pod: Pod, signal: AbortSignal): Promise<string>;
  /** Returns the same without asking the server; undefined for a class that is not known yet. */
  knownHandlerOf(pod: Pod): string | undefined;
}

interface RuntimeClassesDeps extends ReflectorDeps {
  readonly client: Pick<KubeClient, "get" | "list" | "watch">;
}

const GET_TIMEOUT_MS = 10 * SECOND;

/**
 * Follows all runtime classes. The server is asked for a class that is not among them before the class counts as
 * missing: the class and its pod may have been made together, and the watch may be late. Upstream fails such a pod once
 * (pkg/kubelet/runtimeclass).
 */
export function createRuntimeClasses(deps: RuntimeClassesDeps): RuntimeClasses {
  const reflector = createReflector(deps, { resource: RUNTIME_CLASSES });

  const ask = async (name: string, signal: AbortSignal) => {
    try {
      return await deps.client.get(RUNTIME_CLASSES, { namespace: "", name }, { timeoutMs: GET_TIMEOUT_MS, signal });
    } catch (error) {
      if (isAbort(error)) throw error;
      // Upstream's lister names the singular, and so do the events that users search for. This message does the same.
      if (isApiError(error, "NotFound")) throw notFoundError({ group: "node.k8s.io", resource: "runtimeclass" }, name);
      throw new Error(`failed to lookup RuntimeClass ${name}: ${describeKubeFailure(error)}`, { cause: error });
    }
  };

  const knownHandlerOf = ({ spec }: Pod): string | undefined => {
    const { runtimeClassName: name = "" } = spec ?? {};
    return name === "" ? "" : reflector.get("", name)?.handler;
  };

  return {
    run: async (signal) => reflector.run(signal),
    synced: async (signal) => reflector.synced(signal),
    handlerOf: async (pod, signal) =>
      knownHandlerOf(pod) ?? (await ask(pod.spec?.runtimeClassName ?? "", signal)).handler,
    knownHandlerOf,
  };
}
