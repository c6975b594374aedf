import { invalidError } from "../../api/api-error.ts";
import type { Condition, PodCertificateRequest } from "../../api/gen/types.ts";
import { type KubeObject, typed, untyped } from "../../api/object.ts";
import { forbidden, invalid } from "../../api/validation/problems.ts";
import { type Clock, formatTime, MINUTE, parseTime } from "../../base/clock.ts";
import type { AdmissionPlugin, AdmissionRequest, Authorize } from "../ports/request.ts";
import { writtenObject } from "./refusal.ts";
import { isSameValue } from "./same-value.ts";
import { isAllowedForSigner } from "./signer-access.ts";

const TARGET = "podcertificaterequests.certificates.k8s.io/status";
const KIND = "PodCertificateRequest";
/** How far a certificate's beginning may be from now. */
const MAX_SKEW_MS = 5 * MINUTE;

/**
 * Judges what signers write: a certificate is one of now, and whoever issues, denies or fails a request may `sign` for its
 * signer. A condition without a time gets one. Upstream does this in the strategy of the kind
 * (pkg/registry/certificates/podcertificaterequest), which sees a clock and an authorizer there.
 */
export function createPodCertificateSigning(authorize: Authorize, clock: Pick<Clock, "now">): AdmissionPlugin {
  return {
    name: "PodCertificateSigning",
    mutate(request) {
      const object = writtenObject(request, TARGET, ["UPDATE"]);
      if (object === undefined || request.current === undefined) return undefined;
      return withTimes(object, typed(KIND, request.current), formatTime(clock.now()));
    },
    validate(request) {
      const object = writtenObject(request, TARGET, ["UPDATE"]);
      if (object === undefined || request.current === undefined) return;
      if (isSameValue(object["status"] ?? {}, request.current["status"] ?? {})) return;
      checkBeginning(request, typed(KIND, object), clock.now());
      checkSigner(authorize, request, request.current);
    },
  };
}

/** Conditions as before keep the time that they have; new ones are of now. */
function withTimes(object: KubeObject, current: PodCertificateRequest, now: string): KubeObject | undefined {
  const request = typed(KIND, object);
  const { conditions = [] } = request.status ?? {};
  if (conditions.every(({ lastTransitionTime }) => lastTransitionTime)) return undefined;
  const before = current.status?.conditions ?? [];
  const timeOf = ({ type, status }: Condition) => {
    return before.find((each) => each.type === type && each.status === status)?.lastTransitionTime || now;
  };
  const timed = conditions.map((condition) => {
    return condition.lastTransitionTime ? condition : { ...condition, lastTransitionTime: timeOf(condition) };
  });
  return untyped({ ...request, status: { ...request.status, conditions: timed } });
}

function checkBeginning({ kind, name }: AdmissionRequest, { status }: PodCertificateRequest, now: number): void {
  const notBefore = parseTime(status?.notBefore);
  if (notBefore === undefined || Math.abs(notBefore - now) < MAX_SKEW_MS) return;
  const detail = "must be set to within 5 minutes of kube-apiserver's current time";
  throw invalidError(kind, name, [invalid("status.notBefore", status?.notBefore, detail)]);
}

function checkSigner(authorize: Authorize, { kind, name, user }: AdmissionRequest, current: KubeObject): void {
  const { signerName: signer } = typed(KIND, current).spec;
  if (isAllowedForSigner(authorize, { user, verb: "sign", signer })) return;
  const detail = `User ${JSON.stringify(user.username)} is not permitted to "sign" for signer ${JSON.stringify(signer)}`;
  throw invalidError(kind, name, [forbidden("spec.signerName", detail)]);
}
