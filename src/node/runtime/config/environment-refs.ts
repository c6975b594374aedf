import { isApiError } from "../../../api/api-error.ts";
import type { ConfigMap, Container, Pod, Secret } from "../../../api/gen/types.ts";
import { isStaticPod, podReference } from "../../../api/pods.ts";
import { messageOf } from "../../../base/errors.ts";
import type { EnvironmentVariable } from "./environment.ts";
import type { ReferredObject, ReferredObjects } from "./referred-values.ts";
import { computeServiceVariables, type ServiceSource } from "./service-variables.ts";

/** The objects that environments are read from besides the pod. A missing object rejects with an ApiError NotFound. */
export interface EnvironmentRefs {
  secret(namespace: string, name: string, signal: AbortSignal): Promise<Secret>;
  configMap(namespace: string, name: string, signal: AbortSignal): Promise<ConfigMap>;
  services(): ServiceSource & { readonly hasSynced: boolean };
}

/** Everything that `buildEnvironment` needs from the API; the error is the message of a CreateContainerConfigError. */
type ResolvedEnvironment =
  | { ok: true; objects: ReferredObjects; serviceVariables: EnvironmentVariable[] }
  | { ok: false; error: string };

/**
 * Fetches what the container's environment names, all at once and each object once. A fetch that fails is noted in the
 * object's place, and `buildEnvironment` decides whether the object was needed. Rejects only on an abort.
 */
export async function resolveEnvironmentRefs(
  pod: Pod,
  container: Container,
  refs: EnvironmentRefs,
  signal: AbortSignal,
): Promise<ResolvedEnvironment> {
  const { namespace } = podReference(pod);
  const services = refs.services();
  // A pod that came from the API shows that the server answers, so its services are only a moment away. A static pod
  // may be that server.
  if (!services.hasSynced && !isStaticPod(pod)) {
    return { ok: false, error: "services have not yet been read at least once, cannot construct envvars" };
  }
  const names = referredNames(container);
  const [secrets, configMaps] = await Promise.all([
    fetchAll("secret", names.secrets, async (name) => await refs.secret(namespace, name, signal)),
    fetchAll("configmap", names.configMaps, async (name) => await refs.configMap(namespace, name, signal)),
  ]);
  signal.throwIfAborted();
  const links = pod.spec?.enableServiceLinks ?? true;
  return {
    ok: true,
    objects: { secrets, configMaps },
    serviceVariables: computeServiceVariables(services, namespace, links),
  };
}

function referredNames({ env = [], envFrom = [] }: Container): { secrets: Set<string>; configMaps: Set<string> } {
  const secrets = new Set<string>();
  const configMaps = new Set<string>();
  for (const { secretRef, configMapRef } of envFrom) {
    if (configMapRef) configMaps.add(configMapRef.name ?? "");
    else if (secretRef) secrets.add(secretRef.name ?? "");
  }
  for (const { value, valueFrom } of env) {
    // A value beside a source wins over it, and the source is not looked at.
    if (value || !valueFrom) continue;
    if (valueFrom.configMapKeyRef) configMaps.add(valueFrom.configMapKeyRef.name ?? "");
    else if (valueFrom.secretKeyRef) secrets.add(valueFrom.secretKeyRef.name ?? "");
  }
  return { secrets, configMaps };
}

async function fetchAll<T>(
  kind: "secret" | "configmap",
  names: ReadonlySet<string>,
  fetchOne: (name: string) => Promise<T>,
): Promise<Map<string, ReferredObject<T>>> {
  const fetched = [...names].map(async (name): Promise<[string, ReferredObject<T>]> => {
    const missing = `${kind} "${name}" not found`;
    // Validation lets a reference with an empty name pass. A request with an empty name would ask for something else.
    if (name === "") return [name, { state: "missing", error: missing }];
    try {
      return [name, { state: "found", object: await fetchOne(name) }];
    } catch (error) {
      // These are the words of kubelet's own caches, which name the kind in the singular. Whoever says more in the same
      // words is heard: what the node's own manifests lack has a mend.
      if (isApiError(error, "NotFound")) {
        return [name, { state: "missing", error: error.message.startsWith(missing) ? error.message : missing }];
      }
      return [name, { state: "failed", error: messageOf(error) }];
    }
  });
  return new Map(await Promise.all(fetched));
}
