import { ApiError, type ApiErrorReason } from "../../../api/api-error.ts";
import type { ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding } from "../../../api/gen/types.ts";
import { typed } from "../../../api/object.ts";
import { compileValidatingPolicy, type ValidatingProgram } from "../../cel/policies/compile-policy.ts";
import type { AdmissionPlugin, AdmissionRequest, Authorize } from "../../ports/request.ts";
import { isEffect } from "../matching/match-request.ts";
import { inView } from "../matching/viewed-request.ts";
import { refusal } from "../refusal.ts";
import { type BoundPoliciesDeps, createBoundPolicies, type Invocation, namespaceOfRequest } from "./bound-policies.ts";
import { evaluatePolicy, type PolicyComplaint } from "./evaluate-policy.ts";

const FAILURE_ANNOTATION = "validation.policy.admission.k8s.io/validation_failure";

interface PolicyDeps extends BoundPoliciesDeps {
  readonly authorize: Authorize;
}

interface Denial extends PolicyComplaint {
  readonly policy: string;
  readonly binding: string;
}

/** Judges requests by the policies of the cluster (`pkg/admission/plugin/policy/validating`). */
export function createValidatingPolicy(deps: PolicyDeps): AdmissionPlugin {
  const policies = createBoundPolicies(deps, {
    policies: "validatingadmissionpolicies.admissionregistration.k8s.io",
    bindings: "validatingadmissionpolicybindings.admissionregistration.k8s.io",
    readPolicy: (object) => typed("ValidatingAdmissionPolicy", object),
    readBinding: (object) => typed("ValidatingAdmissionPolicyBinding", object),
    compile: ({ spec = {} }) => compileValidatingPolicy(spec),
  });
  return {
    name: "ValidatingAdmissionPolicy",
    validate(request) {
      if (policies.isEmpty || isEffect(request)) return;
      const { invocations, problems } = policies.about(request);
      const denials: Denial[] = problems.map((problem) => ({ ...problem, reason: "Invalid", index: 0 }));
      const annotations = new Map<string, Set<string>>();
      for (const invocation of invocations) denials.push(...judge(deps, invocation, { request, annotations }));
      for (const [key, values] of annotations) request.annotate?.(key, [...values].join(", "));
      const [first] = denials;
      if (first) throw denial(request, first);
    },
  };
}

type ValidatingInvocation = Invocation<ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding, ValidatingProgram>;

interface Judged {
  readonly request: AdmissionRequest;
  /** The values of the policies' own annotations: each once, however many bindings there are. */
  readonly annotations: Map<string, Set<string>>;
}

/** A value of an annotation has no more characters than this, as upstream. */
const MAX_ANNOTATION = 10 * 1024;

/** The denials of a policy; what is only to be warned of or recorded is told on the way. */
function judge(deps: PolicyDeps, invocation: ValidatingInvocation, { request, annotations }: Judged): Denial[] {
  const { policy, binding, program, params, view } = invocation;
  const { failurePolicy = "Fail" } = policy.spec ?? {};
  const { validationActions = [] } = binding.spec ?? {};
  const named = { policy: policy.metadata?.name ?? "", binding: binding.metadata?.name ?? "" };
  const { complaints, annotations: found } = evaluatePolicy(program, {
    request: inView(view, request),
    namespace: namespaceOfRequest(request, deps),
    params,
    authorize: deps.authorize,
    failurePolicy,
  });
  for (const [name, value] of found) {
    const key = `${named.policy}/${name}`;
    annotations.set(key, (annotations.get(key) ?? new Set()).add(value.slice(0, MAX_ANNOTATION)));
  }
  if (validationActions.includes("Audit")) {
    for (const { message, index } of complaints) {
      const failure = { message, ...named, expressionIndex: index, validationActions };
      request.annotate?.(FAILURE_ANNOTATION, JSON.stringify([failure]));
    }
  }
  if (validationActions.includes("Warn")) {
    const subject = `Validation failed for ValidatingAdmissionPolicy '${named.policy}' with binding '${named.binding}'`;
    for (const { message } of complaints) request.warn(`${subject}: ${message}`);
  }
  return validationActions.includes("Deny") ? complaints.map((complaint) => ({ ...named, ...complaint })) : [];
}

const REASONS: ReadonlySet<string> = new Set(["Forbidden", "Invalid", "RequestEntityTooLarge", "Unauthorized"]);
const isReason = (reason: string): reason is ApiErrorReason => REASONS.has(reason);

function denial(request: AdmissionRequest, { policy, binding, message, reason }: Denial): ApiError {
  const text = `ValidatingAdmissionPolicy '${policy}' with binding '${binding}' denied request: ${message}`;
  const error = refusal(request, text);
  const details = { ...error.details, causes: [{ message: text }] };
  return new ApiError(isReason(reason) ? reason : "Invalid", error.message, details);
}
