import { typed, untyped } from "../../api/object.ts";
import type { AdmissionPlugin } from "../ports/request.ts";
import type { User } from "../ports/user.ts";
import { writtenObject } from "./refusal.ts";

/**
 * Writes the author into a new certificate request. Signers and approvers trust these fields, so values that were sent
 * do not count. Upstream does it in the kind's strategy, which knows the user there
 * (`pkg/registry/certificates/certificates/strategy.go`). It must run before every plugin that looks at the fields.
 */
export function createCertificateRequester(): AdmissionPlugin {
  return {
    name: "CertificateRequester",
    mutate(request) {
      const object = writtenObject(request, "certificatesigningrequests.certificates.k8s.io", ["CREATE"]);
      if (object === undefined) return undefined;
      const sent = typed("CertificateSigningRequest", object);
      const { username: _name, uid: _uid, groups: _groups, extra: _extra, ...asked } = sent.spec;
      return untyped({ ...sent, spec: { ...asked, ...requesterOf(request.user) } });
    },
  };
}

function requesterOf({ username, uid = "", groups, extra = {} }: User) {
  const copied = Object.entries(extra).map(([key, values]): [string, string[]] => [key, [...values]]);
  return {
    username,
    ...(uid !== "" && { uid }),
    groups: [...groups],
    ...(copied.length > 0 && { extra: Object.fromEntries(copied) }),
  };
}
