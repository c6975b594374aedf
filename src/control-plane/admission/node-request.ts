import type { AdmissionRequest, Authorize } from "../ports/request.ts";
import type { ResourceReader } from "../ports/resources.ts";
import type { ParseCertificateRequest } from "./certificate-subjects.ts";

/** A request that comes from a node. */
export interface NodeRequest {
  readonly request: AdmissionRequest;
  readonly node: string;
}

/** The dependencies of the rules for nodes. */
export interface NodeRestrictionDeps {
  reader: ResourceReader;
  authorize: Authorize;
  parseCertificateRequest: ParseCertificateRequest;
  /** The audiences of a token that names none. */
  apiAudiences: readonly string[];
}
