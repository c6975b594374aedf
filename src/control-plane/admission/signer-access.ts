import type { Authorize } from "../ports/request.ts";
import type { User } from "../ports/user.ts";

/** An action of a user as, or for, a signer of certificates. */
interface SignerAccess {
  readonly user: User;
  readonly verb: "approve" | "attest" | "sign";
  /** `example.com/name`. */
  readonly signer: string;
}

/**
 * True when the action is allowed for the signer itself or for all signers of its domain, `example.com/*`
 * (pkg/certauthorization).
 */
export function isAllowedForSigner(authorize: Authorize, { user, verb, signer }: SignerAccess): boolean {
  const [domain = ""] = signer.split("/");
  const target = { group: "certificates.k8s.io", version: "*", resource: "signers", subresource: "", namespace: "" };
  return [signer, `${domain}/*`].some((name) => authorize({ user, verb, ...target, name }).allowed);
}
