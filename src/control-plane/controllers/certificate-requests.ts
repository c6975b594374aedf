import type { CertificateSigningRequest, CertificateSigningRequestCondition } from "../../api/gen/types.ts";
import { type KubeObject, typed, untyped } from "../../api/object.ts";
import { formatTime } from "../../base/clock.ts";
import type { ResourceFeed, ResourceReader } from "../ports/resources.ts";

/** The resource of certificate signing requests. */
export const REQUESTS = "certificatesigningrequests.certificates.k8s.io";

/** The content of a PKCS #10 request. */
export interface RequestedCertificate {
  readonly commonName: string;
  readonly organizations: readonly string[];
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
  readonly emailAddresses: readonly string[];
  readonly uris: readonly string[];
}

/** Reads a request in PEM. Rejects when the text is no request. */
export type ReadCertificateRequest = (requestPem: string) => Promise<RequestedCertificate>;

/** Calls `touch` with the name of every request that is created or changes. */
export function followRequests(feed: ResourceFeed, touch: (name: string) => void): () => void {
  return feed.follow(REQUESTS, ({ type, object }) => {
    if (type !== "DELETED") touch(object.metadata.name ?? "");
  });
}

/** The stored request of that name. */
export function findStoredRequest(reader: ResourceReader, name: string): CertificateSigningRequest | undefined {
  const found = reader.get({ resource: REQUESTS, namespace: "", name });
  return found && typed("CertificateSigningRequest", found);
}

/** The PEM text of `spec.request`, which is transported as base64. */
export function requestPemOf({ spec }: CertificateSigningRequest): string {
  return Buffer.from(spec.request, "base64").toString();
}

/** True when the request has the condition and the condition holds. */
export function hasCondition({ status }: CertificateSigningRequest, type: string): boolean {
  // Before v1, conditions had no status: a condition that was there held.
  return (status?.conditions ?? []).some(
    (condition) => condition.type === type && (condition.status || "True") === "True",
  );
}

/** The request with one more condition. */
export function withRequestCondition(
  request: CertificateSigningRequest,
  condition: Pick<CertificateSigningRequestCondition, "type" | "reason" | "message">,
  now: number,
): KubeObject {
  const at = formatTime(now);
  const added = { ...condition, status: "True", lastUpdateTime: at, lastTransitionTime: at };
  const conditions = [...(request.status?.conditions ?? []), added];
  return untyped({ ...request, status: { ...request.status, conditions } });
}
