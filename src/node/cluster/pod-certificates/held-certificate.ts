import type { Pod } from "../../../api/gen/types.ts";
import { SECOND } from "../../../base/clock.ts";
import { describeKubeFailure } from "../../../kube/outage-log.ts";
import type { Credential } from "./credential.ts";
import type { CertificateProjection } from "./pod-projections.ts";

/** A key with its certificates, or why there is none, in upstream's words. */
export type CredentialAnswer =
  | { readonly kind: "issued"; readonly keyPem: string; readonly chainPem: string }
  /** `isUsual`: there is nothing wrong yet. */
  | { readonly kind: "waiting"; readonly message: string; readonly isUsual: boolean }
  | { readonly kind: "refused"; readonly message: string };

/** A source of a pod that is there, with what it has. */
export interface HeldCertificate extends CertificateProjection {
  pod: Pod;
  readonly since: number;
  credential: Credential;
  /** A step is under way; `again` says that there is news for another one. */
  isBusy: boolean;
  again: boolean;
  failures: number;
  failure: unknown;
  /** The complaints about the certificate that is shown, each of which is made once. */
  complaints: Set<string>;
}

/** A signer that answers sooner is no event of the pod. */
const USUAL_WAIT_MS = 10 * SECOND;
/** A source that has nothing yet. `since` is of the clock that does not jump. */
export function newlyHeld(pod: Pod, source: CertificateProjection, since: number): HeldCertificate {
  const credential = { state: "initial" } as const;
  const news = { isBusy: false, again: false, failures: 0, failure: undefined, complaints: new Set<string>() };
  return { ...source, pod, since, credential, ...news };
}

/** What the source can be shown; `now` is of the clock that does not jump. */
export function credentialAnswer(one: HeldCertificate | undefined, now: number): CredentialAnswer {
  const message = "credential bundle is not issued yet";
  if (one === undefined) return { kind: "waiting", message, isUsual: true };
  const { credential, failure, since } = one;
  switch (credential.state) {
    case "initial":
    case "waiting": {
      if (failure === undefined) return { kind: "waiting", message, isUsual: now - since < USUAL_WAIT_MS };
      return { kind: "waiting", message: `${message}: ${describeKubeFailure(failure)}`, isUsual: false };
    }
    case "denied":
    case "failed": {
      const why = `reason=${JSON.stringify(credential.reason)} message=${JSON.stringify(credential.message)}`;
      return { kind: "refused", message: `PodCertificateRequest was permanently ${credential.state}: ${why}` };
    }
    case "fresh":
    case "renewing":
      return { kind: "issued", keyPem: credential.bundle.keyPem, chainPem: credential.bundle.chainPem };
  }
}
