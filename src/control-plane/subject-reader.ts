import type { RequestedSubject } from "./admission/certificates.ts";
import type { ClusterAuthority } from "./control-plane-deps.ts";
import { groupResource, type ResourceKind } from "./ports/resource-kind.ts";

/** Reads certificate requests in admission, which cannot wait, with code that is loaded when the first one comes. */
export interface SubjectReader {
  /** Of a CSR's `spec.request`, base64 of PEM. Throws when it is no request. */
  read(request: string): RequestedSubject;
  /** To be awaited before objects of the kind are written. */
  prepare(kind: ResourceKind): Promise<void>;
}

export function createSubjectReader(authority: Pick<ClusterAuthority, "loadSubjectReader">): SubjectReader {
  let readPem: ((requestPem: string) => RequestedSubject) | undefined;
  return {
    read(request) {
      if (readPem === undefined) throw new Error("certificate requests cannot be read yet: try again");
      return readPem(Buffer.from(request, "base64").toString());
    },
    async prepare(kind) {
      if (groupResource(kind) !== "certificatesigningrequests.certificates.k8s.io") return;
      readPem ??= await authority.loadSubjectReader();
    },
  };
}
