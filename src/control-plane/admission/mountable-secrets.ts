import type { Pod, ServiceAccount } from "../../api/gen/types.ts";
import { type AnyContainer, secretsOfEnvironment } from "./pod-references.ts";

/**
 * Describes the first secret that the pod uses and its account does not list; undefined when there is none. It is
 * called only for accounts with the annotation `kubernetes.io/enforce-mountable-secrets`. With `ephemeral`, only the
 * parts are checked that an update of the ephemeral containers can have added.
 */
export function findForeignSecret(pod: Pod, account: ServiceAccount, part: "all" | "ephemeral"): string | undefined {
  const name = account.metadata?.name ?? "";
  const mountable = new Set((account.secrets ?? []).map((secret) => secret.name));
  const notAllowed = `is not allowed because service account ${name} does not reference that`;
  const inContainers = (sort: string, containers: readonly AnyContainer[] = []): string[] => {
    return containers.flatMap((container) => {
      const foreign = secretsOfEnvironment(container).filter(({ secret }) => !mountable.has(secret));
      return foreign.map(({ variable, secret }) => {
        const place = variable === undefined ? "envFrom" : `envVar ${variable}`;
        return `${sort} ${container.name} with ${place} referencing secret.secretName="${secret}" ${notAllowed} secret`;
      });
    });
  };
  const { volumes = [], initContainers, containers, ephemeralContainers, imagePullSecrets = [] } = pod.spec ?? {};
  if (part === "ephemeral") return inContainers("ephemeral container", ephemeralContainers)[0];

  const ofVolumes = volumes.flatMap(({ secret }) => {
    if (secret === undefined || mountable.has(secret.secretName)) return [];
    return [`volume with secret.secretName="${secret.secretName ?? ""}" ${notAllowed} secret`];
  });
  const pullable = new Set((account.imagePullSecrets ?? []).map((secret) => secret.name));
  const ofPulls = imagePullSecrets.flatMap((secret, index) => {
    if (pullable.has(secret.name)) return [];
    return [`imagePullSecrets[${index}].name="${secret.name ?? ""}" ${notAllowed} imagePullSecret`];
  });
  const ofContainers = [...inContainers("init container", initContainers), ...inContainers("container", containers)];
  return [...ofVolumes, ...ofContainers, ...ofPulls][0];
}
