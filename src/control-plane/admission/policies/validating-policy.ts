import { LRUCache } from "lru-cache";
import { ApiError, type ApiErrorReason } from "../../../api/api-error.ts";
import type { ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding } from "../../../api/gen/types.ts";
import { typed } from "../../../api/object.ts";
import { type CompiledPolicy, compilePolicy } from "../../cel/policies/compile-policy.ts";
import type { AdmissionPlugin, AdmissionRequest, Authorize } from "../../ports/request.ts";
import { refusal } from "../refusal.ts";
import { evaluatePolicy, type PolicyComplaint } from "./evaluate-policy.ts";
import { matchesPolicy, namespaceOfRequest } from "./match-policy.ts";
import { findParams, type ParamsDeps } from "./policy-params.ts";

const POLICIES = "validatingadmissionpolicies.admissionregistration.k8s.io";
const BINDINGS = "validatingadmissionpolicybindings.admissionregistration.k8s.io";

interface PolicyDeps extends ParamsDeps {
  readonly authorize: Authorize;
}

/** What no policy judges: policies themselves, so that a wrong one can be taken away, and questions about access. */
const EXEMPT_GROUPS = new Set(["admissionregistration.k8s.io", "authentication.k8s.io", "authorization.k8s.io"]);

interface Denial extends PolicyComplaint {
  readonly policy: string;
  readonly binding: string | undefined;
}

/** Judges requests by the policies of the cluster (`pkg/admission/plugin/policy/validating`). */
export function createValidatingPolicy(deps: PolicyDeps): AdmissionPlugin {
  const compiled = new LRUCache<string, CompiledPolicy>({ max: 1_000 });

  function compile({ metadata, spec = {} }: ValidatingAdmissionPolicy): CompiledPolicy {
    const key = `${metadata?.uid}/${metadata?.generation}`;
    const known = compiled.get(key) ?? compilePolicy(spec);
    compiled.set(key, known);
    return known;
  }

  return {
    name: "ValidatingAdmissionPolicy",
    validate(request) {
      if (EXEMPT_GROUPS.has(request.kind.group)) return;
      const policies = deps.reader.list(POLICIES);
      if (policies.length === 0) return;
      const bindings = deps.reader.list(BINDINGS).map((object) => typed("ValidatingAdmissionPolicyBinding", object));
      for (const object of policies) {
        const policy = typed("ValidatingAdmissionPolicy", object);
        const bound = bindings.filter(({ spec }) => spec?.policyName === policy.metadata?.name);
        if (bound.length === 0) continue;
        const [first] = judge(deps, { policy, bound, compile }, request);
        if (first) throw denial(request, first);
      }
    },
  };
}

interface BoundPolicy {
  readonly policy: ValidatingAdmissionPolicy;
  readonly bound: readonly ValidatingAdmissionPolicyBinding[];
  compile(policy: ValidatingAdmissionPolicy): CompiledPolicy;
}

/** The denials of a policy by all its bindings; what is only to be warned of is told on the way. */
function judge(deps: PolicyDeps, { policy, bound, compile }: BoundPolicy, request: AdmissionRequest): Denial[] {
  const { spec = {}, metadata } = policy;
  const name = metadata?.name ?? "";
  if (!matchesPolicy(spec.matchConstraints ?? {}, request, deps.reader)) return [];
  const program = compile(policy);
  const { failurePolicy = "Fail" } = spec;
  return bound.flatMap((binding) => {
    const { matchResources, paramRef, validationActions = [] } = binding.spec ?? {};
    if (matchResources && !matchesPolicy(matchResources, request, deps.reader)) return [];
    const found = findParams(deps, spec.paramKind, paramRef, request.namespace);
    const named = { policy: name, binding: binding.metadata?.name };
    if ("problem" in found) {
      const message = `failed to configure binding: ${found.problem}`;
      return failurePolicy === "Ignore" ? [] : [{ ...named, message, reason: "Invalid" }];
    }
    const namespace = namespaceOfRequest(request, deps.reader);
    const { authorize } = deps;
    const complaints = found.params.flatMap((params) => {
      return evaluatePolicy(program, { request, namespace, params, authorize, failurePolicy });
    });
    if (validationActions.includes("Warn")) {
      const subject = `Validation failed for ValidatingAdmissionPolicy '${name}' with binding '${named.binding}'`;
      for (const { message } of complaints) request.warn(`${subject}: ${message}`);
    }
    return validationActions.includes("Deny") ? complaints.map((complaint) => ({ ...named, ...complaint })) : [];
  });
}

const REASONS: ReadonlySet<string> = new Set(["Forbidden", "Invalid", "RequestEntityTooLarge", "Unauthorized"]);
const isReason = (reason: string): reason is ApiErrorReason => REASONS.has(reason);

function denial(request: AdmissionRequest, { policy, binding, message, reason }: Denial): ApiError {
  const by = `ValidatingAdmissionPolicy '${policy}'${binding === undefined ? "" : ` with binding '${binding}'`}`;
  const text = `${by} denied request: ${message}`;
  const error = refusal(request, text);
  return new ApiError(isReason(reason) ? reason : "Invalid", error.message, {
    ...error.details,
    causes: [{ message: text }],
  });
}
