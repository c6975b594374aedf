import type { FieldError } from "../../../api/field-error.ts";
import type { Condition, PodCertificateRequest, PodCertificateRequestStatus } from "../../../api/gen/types.ts";
import { each, invalid, required, unsupported } from "../../../api/validation/problems.ts";
import { MINUTE, parseTime } from "../../../base/clock.ts";
import { isSame } from "../rules/semantic-changes.ts";
import { validateConditionList } from "../rules/workload-status.ts";
import { readIssuedChain } from "./issued-chain.ts";
import { readRequestedKey } from "./pod-certificate-key.ts";

/** What becomes of a request. Each is final: the status does not change after it. */
const OUTCOMES = ["Issued", "Denied", "Failed"] as const;

type Outcome = (typeof OUTCOMES)[number];

const CONDITIONS = "status.conditions";
const CHAIN = "status.certificateChain";
const TIMES = ["status.notBefore", "status.notAfter", "status.beginRefreshAt"] as const;
const MIN_LIFETIME_SECONDS = 3600;
const REFRESH_MARGIN_MS = 10 * MINUTE;

const conditionsOf = ({ status }: PodCertificateRequest): readonly Condition[] => status?.conditions ?? [];

/**
 * The problems of a change of a request's status: it may become issued, denied or failed, once
 * (`ValidatePodCertificateRequestStatusUpdate`). That it is issued at this time is for admission to check.
 */
export function validateRequestStatus(next: PodCertificateRequest, current: PodCertificateRequest): FieldError[] {
  const errors = [...validateOutcomes(conditionsOf(next)), ...validateConditionList(CONDITIONS, conditionsOf(next))];
  if (errors.length > 0) return errors;
  const [after, before] = [next.status ?? {}, current.status ?? {}];
  if (outcomeOf(current) !== undefined) {
    return unchanged(after, before, "immutable after PodCertificateRequest is issued, denied, or failed");
  }
  const outcome = outcomeOf(next);
  if (outcome === "Issued") return validateIssued(after, current);
  if (outcome === undefined) {
    return unchanged(after, before, 'status is immutable unless transitioning to "Issued", "Denied", or "Failed"');
  }
  const { conditions = [] } = after;
  const detail = "non-condition status fields must be empty when denying or failing the PodCertificateRequest";
  return unchanged(after, { conditions }, detail);
}

/** The outcome of a request; undefined while it is open. */
function outcomeOf(request: PodCertificateRequest): Outcome | undefined {
  const holds = (outcome: Outcome) => {
    return conditionsOf(request).some(({ type, status }) => type === outcome && status === "True");
  };
  return OUTCOMES.find(holds);
}

function unchanged(after: PodCertificateRequestStatus, before: PodCertificateRequestStatus, detail: string) {
  return isSame(before, after) ? [] : [invalid("status", "<value omitted>", detail)];
}

function validateOutcomes(conditions: readonly Condition[]): FieldError[] {
  let count = 0;
  return each(CONDITIONS, conditions, ({ type, status }, path) => {
    if (!OUTCOMES.some((outcome) => outcome === type)) return [unsupported(`${path}.type`, type, OUTCOMES)];
    count++;
    const detail = 'There may be at most one condition with type "Issued", "Denied", or "Failed"';
    return [
      ...(count > 1 ? [invalid(`${path}.type`, type, detail)] : []),
      ...(status === "True" ? [] : [unsupported(`${path}.status`, status, ["True"])]),
    ];
  });
}

function validateIssued(status: PodCertificateRequestStatus, { spec }: PodCertificateRequest): FieldError[] {
  const { leaf, errors } = readIssuedChain(status.certificateChain ?? "", readRequestedKey(spec));
  if (leaf === undefined) return [...errors];
  const [notBefore, notAfter, beginRefreshAt] = [status.notBefore, status.notAfter, status.beginRefreshAt].map((time) =>
    parseTime(time),
  );
  if (notBefore === undefined || notAfter === undefined || beginRefreshAt === undefined) {
    return validatePresence([notBefore, notAfter, beginRefreshAt]);
  }
  const [beforePath, afterPath, refreshPath] = TIMES;
  if (notBefore !== leaf.notBefore) {
    const detail = "must be set to the NotBefore time encoded in the leaf certificate";
    return [invalid(beforePath, status.notBefore, detail)];
  }
  if (notAfter !== leaf.notAfter) {
    return [invalid(afterPath, status.notAfter, "must be set to the NotAfter time encoded in the leaf certificate")];
  }
  const lifetimeErrors = validateLifetime((notAfter - notBefore) / 1000, spec.maxExpirationSeconds ?? 0);
  if (lifetimeErrors.length > 0) return lifetimeErrors;
  if (beginRefreshAt < notBefore + REFRESH_MARGIN_MS) {
    return [invalid(refreshPath, status.beginRefreshAt, "must be at least 10 minutes after status.notBefore")];
  }
  if (beginRefreshAt > notAfter - REFRESH_MARGIN_MS) {
    return [invalid(refreshPath, status.beginRefreshAt, "must be at least 10 minutes before status.notAfter")];
  }
  return [];
}

function validatePresence(times: ReadonlyArray<number | undefined>): FieldError[] {
  const consistent = "must be present and consistent with the issued certificate";
  const details = [consistent, consistent, "must be present and in the range [notbefore+10min, notafter-10min]"];
  return TIMES.flatMap((path, index) => (times[index] === undefined ? [required(path, details[index])] : []));
}

function validateLifetime(seconds: number, maxSeconds: number): FieldError[] {
  if (seconds < MIN_LIFETIME_SECONDS) {
    return [invalid(CHAIN, `${seconds}s`, "leaf certificate lifetime must be >= 1 hour")];
  }
  if (seconds <= maxSeconds) return [];
  const detail = `leaf certificate lifetime must be <= spec.maxExpirationSeconds (${maxSeconds})`;
  return [invalid(CHAIN, `${seconds}s`, detail)];
}

/**
 * The status that an update asks for. Where it has as many conditions of a type as there are, they stay as they are, so that
 * nobody changes a reason afterwards.
 */
export function takeRequestStatus(
  next: PodCertificateRequest,
  current: PodCertificateRequest,
): PodCertificateRequestStatus {
  const { conditions = [], ...rest } = next.status ?? {};
  const of = (list: readonly Condition[], wanted: string) => list.filter(({ type }) => type === wanted);
  const kept = conditions.map((condition) => {
    const before = of(conditionsOf(current), condition.type);
    const now = of(conditions, condition.type);
    if (!OUTCOMES.some((outcome) => outcome === condition.type) || before.length !== now.length) return condition;
    return before[now.indexOf(condition)] ?? condition;
  });
  return { ...rest, ...(kept.length > 0 && { conditions: kept }) };
}
