import {
  findBadContainers,
  findBadSetters,
  nameContainers,
  type PodCheck,
  plural,
  quoteAll,
  type SecuredPod,
  securedContainers,
  type Violation,
} from "./secured-pod.ts";

const POD_ANNOTATION = "seccomp.security.alpha.kubernetes.io/pod";
const CONTAINER_ANNOTATION = "container.seccomp.security.alpha.kubernetes.io/";

/** Seccomp is not switched off by the annotations that were in use before version 1.19. */
export const checkSeccompAnnotations: PodCheck = (pod) => {
  const names = securedContainers(pod).map(({ name }) => `${CONTAINER_ANNOTATION}${name}`);
  const bad = new Set(
    [POD_ANNOTATION, ...names].flatMap((annotation) => {
      const profile = pod.annotations[annotation];
      return profile === undefined || isGoodAnnotation(profile) ? [] : [`${annotation}=${JSON.stringify(profile)}`];
    }),
  );
  if (bad.size === 0) return undefined;
  return {
    reason: "seccompProfile",
    detail: `forbidden ${plural(bad.size, "annotation")} ${[...bad].sort().join(", ")}`,
  };
};

const isGoodAnnotation = (profile: string) => {
  return profile === "runtime/default" || profile === "docker/default" || profile.startsWith("localhost/");
};

const isGoodProfile = (type: string) => type === "RuntimeDefault" || type === "Localhost";

/** Seccomp is not switched off. */
export const checkSeccompNotOff: PodCheck = (pod) => findSwitchedOff(pod);

/** Seccomp is switched on, for the pod or for each container. */
export const checkSeccompOn: PodCheck = (pod) => {
  const off = findSwitchedOff(pod);
  if (off || pod.spec.securityContext?.seccompProfile !== undefined) return off;
  const { names } = findBadContainers(pod, ({ securityContext }) => {
    return securityContext?.seccompProfile === undefined ? ["none"] : [];
  });
  if (names.length === 0) return undefined;
  return {
    reason: "seccompProfile",
    detail: `pod or ${nameContainers(names)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"`,
  };
};

function findSwitchedOff(pod: SecuredPod): Violation | undefined {
  const { setters, values } = findBadSetters(pod, ({ seccompProfile }) => {
    return seccompProfile === undefined || isGoodProfile(seccompProfile.type) ? [] : [seccompProfile.type];
  });
  if (setters.length === 0) return undefined;
  const detail = `${setters.join(" and ")} must not set securityContext.seccompProfile.type to ${quoteAll(values)}`;
  return { reason: "seccompProfile", detail };
}
