import { parseImageReference } from "../../../api/image-reference.ts";

/** When a pod must show that it may use an image that is on the machine: `imagePullCredentialsVerificationPolicy`. */
export interface VerificationPolicy {
  readonly name: "NeverVerify" | "NeverVerifyPreloadedImages" | "NeverVerifyAllowlistedImages" | "AlwaysVerify";
  /** Repositories, or prefixes of them that end in `/*`; validated with the configuration. */
  readonly allowlist: readonly string[];
}

/** The policy of a configuration, where an empty name is the default one. */
export function readVerificationPolicy(name: string, allowlist: readonly string[]): VerificationPolicy {
  switch (name) {
    case "NeverVerify":
    case "NeverVerifyAllowlistedImages":
    case "AlwaysVerify":
      return { name, allowlist };
    default:
      return { name: "NeverVerifyPreloadedImages", allowlist };
  }
}

/** `isPulledByNode`: the node agent pulled the image, or began to (pkg/kubelet/images/pullmanager/image_pull_policies.go). */
export function requiresVerification(
  { name, allowlist }: VerificationPolicy,
  image: string,
  isPulledByNode: boolean,
): boolean {
  switch (name) {
    case "NeverVerify":
      return false;
    case "NeverVerifyPreloadedImages":
      return isPulledByNode;
    case "NeverVerifyAllowlistedImages":
      return !allowlist.some((pattern) => matchesPattern(pattern, parseImageReference(image)?.repository ?? image));
    case "AlwaysVerify":
      return true;
  }
}

function matchesPattern(pattern: string, repository: string): boolean {
  return pattern.endsWith("/*") ? repository.startsWith(pattern.slice(0, -1)) : repository === pattern;
}
