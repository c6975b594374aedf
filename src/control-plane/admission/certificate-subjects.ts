import type { AdmissionPlugin } from "../ports/request.ts";
import { groupResource } from "../ports/resource-kind.ts";

/** The part of a PKCS #10 request that admission looks at. */
export interface RequestedSubject {
  readonly commonName: string;
  readonly organizations: readonly string[];
}

/** Reads `spec.request`, which is base64 of PEM. Throws when it is no request. */
export type ParseCertificateRequest = (request: string) => RequestedSubject;

/** Loads the code that reads the PEM text of a certificate request, and resolves with it. */
export type LoadSubjectReader = () => Promise<(requestPem: string) => RequestedSubject>;

/** Reads the subjects of certificate requests. */
export interface CertificateSubjects {
  /** Loads the reading code before the first certificate signing request is decided. */
  readonly settle: NonNullable<AdmissionPlugin["settle"]>;
  /** Throws when the text is no request, and when `settle` has not loaded the code yet. */
  readonly parse: ParseCertificateRequest;
}

/**
 * Reads with code that is loaded when the first request comes, because it is large. Admission decides without waiting,
 * so the loading happens in `settle`.
 */
export function createCertificateSubjects(load: LoadSubjectReader): CertificateSubjects {
  let readPem: ((requestPem: string) => RequestedSubject) | undefined;
  return {
    settle({ kind }) {
      const isNeeded = groupResource(kind) === "certificatesigningrequests.certificates.k8s.io";
      if (!isNeeded || readPem !== undefined) return undefined;
      return load().then((loaded) => {
        readPem = loaded;
      });
    },
    parse(request) {
      if (readPem === undefined) throw new Error("certificate requests cannot be read yet: try again");
      return readPem(Buffer.from(request, "base64").toString());
    },
  };
}
