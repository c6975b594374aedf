import type { AppArmorProfile, Container, Pod, SeccompProfile } from "../../../api/gen/types.ts";
import { APPARMOR_ANNOTATION_PREFIX } from "../../../api/well-known.ts";
import { SecurityProfile_ProfileType as ProfileType, type SecurityProfile } from "../../../cri/gen/cri-v1.ts";
import type { NodeFacts } from "./node-facts.ts";

/** Returns the container's own profile, else its pod's, else the node's default. */
export function buildSeccompProfile(
  pod: Pod,
  container: Container,
  node: Pick<NodeFacts, "rootDirectory" | "seccompDefault">,
): SecurityProfile {
  const profile = seccompProfileOf(pod, container);
  if (profile === undefined) return plainProfile(node.seccompDefault ? "RuntimeDefault" : "Unconfined");
  if (profile.type !== "Localhost") return plainProfile(profile.type);
  const localhostRef = `${node.rootDirectory}/seccomp/${profile.localhostProfile ?? ""}`;
  return { profileType: ProfileType.Localhost, localhostRef };
}

/**
 * Returns both forms of the setting, because runtimes from before CRI's `apparmor` read the string. Neither is set when
 * the pod names no profile.
 */
export function buildAppArmor(
  pod: Pod,
  container: Container,
): { apparmor?: SecurityProfile; apparmorProfile?: string } {
  const profile = appArmorProfileOf(pod, container);
  if (profile === undefined) return {};
  if (profile.type !== "Localhost") {
    const apparmorProfile = profile.type === "RuntimeDefault" ? "runtime/default" : "unconfined";
    return { apparmor: plainProfile(profile.type), apparmorProfile };
  }
  const localhostRef = profile.localhostProfile ?? "";
  return {
    apparmor: { profileType: ProfileType.Localhost, localhostRef },
    apparmorProfile: `localhost/${localhostRef}`,
  };
}

/**
 * Returns why the container's profiles cannot be applied. A Localhost profile without a name must never mean
 * "unconfined".
 */
export function findProfileError(pod: Pod, container: Container): string | undefined {
  const seccomp = seccompProfileOf(pod, container);
  if (seccomp?.type === "Localhost" && !seccomp.localhostProfile) {
    return "localhostProfile must be set if seccompProfile type is Localhost.";
  }
  if (seccomp?.type === "Localhost" && !isBeneath(seccomp.localhostProfile)) {
    return "seccompProfile.localhostProfile must be a relative path without ..";
  }
  const appArmor = appArmorProfileOf(pod, container);
  if (appArmor?.type === "Localhost" && !appArmor.localhostProfile) {
    return "missing localhost apparmor profile name";
  }
  for (const [field, profile] of Object.entries({ seccompProfile: seccomp, appArmorProfile: appArmor })) {
    if (profile && !Object.hasOwn(ProfileType, profile.type)) return `unknown ${field} type "${profile.type}"`;
  }
  return undefined;
}

function seccompProfileOf(pod: Pod, container: Container): SeccompProfile | undefined {
  return container.securityContext?.seccompProfile ?? pod.spec?.securityContext?.seccompProfile;
}

function appArmorProfileOf(pod: Pod, container: Container): AppArmorProfile | undefined {
  const annotated = pod.metadata?.annotations?.[`${APPARMOR_ANNOTATION_PREFIX}${container.name}`];
  return (
    container.securityContext?.appArmorProfile ??
    parseAnnotation(annotated) ??
    pod.spec?.securityContext?.appArmorProfile
  );
}

function parseAnnotation(value: string | undefined): AppArmorProfile | undefined {
  if (value === undefined || value === "") return undefined;
  if (value === "runtime/default") return { type: "RuntimeDefault" };
  if (value === "unconfined") return { type: "Unconfined" };
  return value.startsWith("localhost/")
    ? { type: "Localhost", localhostProfile: value.slice("localhost/".length) }
    : { type: value };
}

function plainProfile(type: string): SecurityProfile {
  const profileType = type === "RuntimeDefault" ? ProfileType.RuntimeDefault : ProfileType.Unconfined;
  return { profileType, localhostRef: "" };
}

/** Profiles live in one directory of the node, and a pod must not name files outside it. */
function isBeneath(path: string | undefined): boolean {
  return path !== undefined && path !== "" && !path.startsWith("/") && !path.split("/").includes("..");
}
