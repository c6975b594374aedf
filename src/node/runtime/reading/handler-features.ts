import type { Pod } from "../../../api/gen/types.ts";
import type { RuntimeHealth } from "./runtime-health.ts";

/** Tells what the runtime and its handlers can do, as the runtime reports it. An unknown handler can do nothing. */
export interface HandlerFeatures {
  supportsUserNamespaces(handler: string): boolean;
  supportsRecursiveReadOnly(handler: string): boolean;
  /** True where the pod's handler is known and can make the mounts beneath a mount read-only too. */
  supportsRecursiveReadOnlyOf(pod: Pod): boolean;
  supportsSupplementalGroupsPolicy(): boolean;
}

interface HandlerFeaturesDeps {
  readonly health: Pick<RuntimeHealth, "runtime">;
  /** The runtime classes; undefined without an API server, where only pods without a class have a known handler. */
  readonly classes: { knownHandlerOf(pod: Pod): string | undefined } | undefined;
}

export function createHandlerFeatures({ health, classes }: HandlerFeaturesDeps): HandlerFeatures {
  const featuresOf = (handler: string) => health.runtime().handlers.find(({ name }) => name === handler)?.features;
  const knownHandlerOf = (pod: Pod) => {
    if (classes !== undefined) return classes.knownHandlerOf(pod);
    return pod.spec?.runtimeClassName ? undefined : "";
  };
  const supportsRecursiveReadOnly = (handler: string) => featuresOf(handler)?.recursiveReadOnlyMounts === true;
  return {
    supportsUserNamespaces: (handler) => featuresOf(handler)?.userNamespaces === true,
    supportsRecursiveReadOnly,
    supportsRecursiveReadOnlyOf(pod) {
      const handler = knownHandlerOf(pod);
      return handler !== undefined && supportsRecursiveReadOnly(handler);
    },
    supportsSupplementalGroupsPolicy: () => health.runtime().features?.supplementalGroupsPolicy === true,
  };
}
