import type { Volume } from "../../../api/gen/types.ts";
import { findBadContainers, findBadSetters, nameContainers, type PodCheck, plural, quoteAll } from "./secured-pod.ts";

/** No process gains more privileges than its parent has. */
export const checkPrivilegeEscalation: PodCheck = (pod) => {
  const { names } = findBadContainers(pod, ({ securityContext }) => {
    return securityContext?.allowPrivilegeEscalation === false ? [] : ["allowed"];
  });
  if (names.length === 0) return undefined;
  const detail = `${nameContainers(names)} must set securityContext.allowPrivilegeEscalation=false`;
  return { reason: "allowPrivilegeEscalation != false", detail };
};

/** All capabilities are dropped; only that of low ports may be added. */
export const checkDroppedCapabilities: PodCheck = (pod) => {
  const keeping = findBadContainers(pod, ({ securityContext }) => {
    return securityContext?.capabilities?.drop?.includes("ALL") ? [] : ["kept"];
  });
  const adding = findBadContainers(pod, ({ securityContext }) => {
    return (securityContext?.capabilities?.add ?? []).filter((capability) => capability !== "NET_BIND_SERVICE");
  });
  const details: string[] = [];
  if (keeping.names.length > 0) {
    details.push(`${nameContainers(keeping.names)} must set securityContext.capabilities.drop=["ALL"]`);
  }
  if (adding.names.length > 0) {
    const capabilities = quoteAll(adding.values);
    details.push(
      `${nameContainers(adding.names)} must not include ${capabilities} in securityContext.capabilities.add`,
    );
  }
  return details.length === 0 ? undefined : { reason: "unrestricted capabilities", detail: details.join("; ") };
};

const ALLOWED_VOLUMES = [
  "configMap",
  "csi",
  "downwardAPI",
  "emptyDir",
  "ephemeral",
  "image",
  "persistentVolumeClaim",
  "projected",
  "secret",
] as const satisfies readonly (keyof Volume)[];

/** Volumes come from the API, the node's scratch space, a claim, an image or a driver. */
export const checkVolumeTypes: PodCheck = ({ spec }) => {
  const bad = (spec.volumes ?? []).filter((volume) => ALLOWED_VOLUMES.every((type) => volume[type] === undefined));
  if (bad.length === 0) return undefined;
  const names = bad.map(({ name }) => name);
  const types = [...new Set(bad.map(typeOf))].sort();
  const verb = names.length === 1 ? "uses" : "use";
  const what = plural(types.length, "restricted volume type");
  const detail = `${plural(names.length, "volume")} ${quoteAll(names)} ${verb} ${what} ${quoteAll(types)}`;
  return { reason: "restricted volume types", detail };
};

/** The name of the field that holds the volume's source. */
function typeOf({ name: _name, ...sources }: Volume): string {
  const [found] = Object.entries(sources).find(([, source]) => source !== undefined) ?? [];
  return found ?? "unknown";
}

/** No container runs as root. */
export const checkRunAsNonRoot: PodCheck = (pod) => {
  const reason = "runAsNonRoot != true";
  const { setters } = findBadSetters(pod, ({ runAsNonRoot }) => (runAsNonRoot === false ? ["false"] : []));
  if (setters.length > 0) {
    return { reason, detail: `${setters.join(" and ")} must not set securityContext.runAsNonRoot=false` };
  }
  if (pod.spec.securityContext?.runAsNonRoot === true) return undefined;
  const { names } = findBadContainers(pod, ({ securityContext }) => {
    return securityContext?.runAsNonRoot === undefined ? ["unset"] : [];
  });
  if (names.length === 0) return undefined;
  return { reason, detail: `pod or ${nameContainers(names)} must set securityContext.runAsNonRoot=true` };
};

/** No user is given by the number 0. */
export const checkRunAsUser: PodCheck = (pod) => {
  const { setters } = findBadSetters(pod, ({ runAsUser }) => (runAsUser === 0 ? ["0"] : []));
  if (setters.length === 0) return undefined;
  return { reason: "runAsUser=0", detail: `${setters.join(" and ")} must not set runAsUser=0` };
};
