import type { FieldError } from "../../../api/field-error.ts";
import type { CertificateSigningRequest, CertificateSigningRequestCondition } from "../../../api/gen/types.ts";
import { duplicate, each, forbidden, invalid, required, unsupported } from "../../../api/validation/problems.ts";
import { isSame } from "../rules/semantic-changes.ts";

type Condition = CertificateSigningRequestCondition;

/** The conditions that are decisions. A decision exists or does not, and is never taken back. */
const DECISIONS = ["Approved", "Denied", "Failed"];
const PATH = "status.conditions";

const conditionsOf = ({ status }: CertificateSigningRequest): readonly Condition[] => status?.conditions ?? [];

/** The problems of the conditions by themselves. */
export function validateRequestConditions(request: CertificateSigningRequest): FieldError[] {
  const seen = new Set<string>();
  return each(PATH, conditionsOf(request), ({ type, status }, path) => {
    const errors = type === "" ? [required(`${path}.type`)] : [];
    const allowed = DECISIONS.includes(type) ? ["True"] : ["False", "True", "Unknown"];
    if (status === "") errors.push(required(`${path}.status`));
    else if (!allowed.includes(status)) errors.push(unsupported(`${path}.status`, status, allowed));
    const opposite = type === "Approved" ? "Denied" : "Approved";
    if ((type === "Approved" || type === "Denied") && seen.has(opposite)) {
      errors.push(invalid(`${path}.type`, type, "Approved and Denied conditions are mutually exclusive"));
    }
    if (seen.has(type)) errors.push(duplicate(`${path}.type`, type));
    seen.add(type);
    return errors;
  });
}

/** The problems of a change of conditions. Decisions are not taken back, and approval has a subresource of its own. */
export function validateDecisions(
  next: CertificateSigningRequest,
  current: CertificateSigningRequest,
  { mayDecide }: { mayDecide: boolean },
): FieldError[] {
  return DECISIONS.flatMap((type) => {
    const [before, after] = [current, next].map((request) =>
      conditionsOf(request).filter((each) => each.type === type),
    );
    const [had, has] = [before?.length ?? 0, after?.length ?? 0];
    if (has < had) return [forbidden(PATH, `updates may not remove a condition of type "${type}"`)];
    if (mayDecide || type === "Failed") return [];
    if (has > had) return [forbidden(PATH, `updates may not add a condition of type "${type}"`)];
    return isSame(before, after) ? [] : [forbidden(PATH, `updates may not modify a condition of type "${type}"`)];
  });
}
