import type { AdmissionRequest, Authorize } from "../ports/request.ts";
import type { ResourceReader } from "../ports/resources.ts";
import type { ParseCertificateRequest } from "./certificate-subjects.ts";

/** A request that comes from a node. */
export interface NodeRequest {
  readonly request: AdmissionRequest;
  readonly node: string;
}

/** What the rules for nodes look into. */
export interface NodeRestrictionDeps {
  reader: ResourceReader;
  authorize: Authorize;
  parseCertificateRequest: ParseCertificateRequest;
  /** What a token is for when nobody says. */
  apiAudiences: readonly string[];
}
