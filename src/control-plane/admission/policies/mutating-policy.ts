import { isDeepStrictEqual } from "node:util";
import { ApiError } from "../../../api/api-error.ts";
import type { MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding } from "../../../api/gen/types.ts";
import { type KubeObject, typed } from "../../../api/object.ts";
import { compileMutatingPolicy, type MutatingProgram } from "../../cel/policies/compile-policy.ts";
import type { AdmissionPlugin, AdmissionRequest, Authorize } from "../../ports/request.ts";
import { isEffect } from "../matching/match-request.ts";
import { createRounds, type Rounds } from "../matching/rounds.ts";
import { inView, shownAs } from "../matching/viewed-request.ts";
import { refusal } from "../refusal.ts";
import {
  type BindingProblem,
  type BoundPolicies,
  type BoundPoliciesDeps,
  createBoundPolicies,
  type Invocation,
  namespaceOfRequest,
} from "./bound-policies.ts";
import { meetsConditions } from "./evaluate-conditions.ts";
import { mutateObject } from "./mutate-object.ts";

interface PolicyDeps extends BoundPoliciesDeps {
  readonly authorize: Authorize;
}

type MutatingInvocation = Invocation<MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding, MutatingProgram>;
type MutatingPolicies = BoundPolicies<MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding, MutatingProgram>;

/** The reason why a request is refused. */
interface Denial extends BindingProblem {
  /** The reason of the status, whose code is that of a Forbidden all the same, as upstream has it. */
  readonly reason: "Forbidden" | "Invalid";
}

const NAME = "MutatingAdmissionPolicy";

/** Changes objects by the policies of the cluster (`pkg/admission/plugin/policy/mutating`). */
export function createMutatingPolicy(deps: PolicyDeps): AdmissionPlugin {
  const policies = createBoundPolicies(deps, {
    policies: "mutatingadmissionpolicies.admissionregistration.k8s.io",
    bindings: "mutatingadmissionpolicybindings.admissionregistration.k8s.io",
    readPolicy: (object) => typed("MutatingAdmissionPolicy", object),
    readBinding: (object) => typed("MutatingAdmissionPolicyBinding", object),
    compile: ({ spec = {} }) => compileMutatingPolicy(spec),
  });
  return { name: NAME, forRequest: () => (policies.isEmpty ? undefined : mutateOneRequest(deps, policies)) };
}

function mutateOneRequest(deps: PolicyDeps, policies: MutatingPolicies): AdmissionPlugin {
  let rounds = createRounds();
  return {
    name: NAME,
    mutate(request) {
      if (request.object === undefined || isEffect(request)) return undefined;
      if (request.isReinvocation) rounds.begin(request.object);
      else rounds = createRounds();
      const { invocations, problems } = policies.about(request);
      const denials: Denial[] = problems.map((problem) => ({ ...problem, reason: "Forbidden" }));
      const turn: Turn = { deps, request, rounds, denials, object: request.object, hasMutated: false };
      for (const invocation of invocations) invoke(turn, invocation);
      const [first] = denials;
      if (first) throw denial(request, first, denials);
      // Upstream calls for a second round after any mutation, also after one that has changed nothing.
      if (turn.hasMutated) rounds.recall();
      rounds.output = turn.object;
      return turn.object;
    },
    wantsReinvocation: () => rounds.wantsAnother,
  };
}

/** One round of all policies. */
interface Turn {
  readonly deps: PolicyDeps;
  readonly request: AdmissionRequest;
  readonly rounds: Rounds;
  readonly denials: Denial[];
  /** The object as the policies have left it so far. */
  object: KubeObject;
  hasMutated: boolean;
}

function invoke(turn: Turn, { policy, binding, program, params, view }: MutatingInvocation): void {
  const { deps, request, rounds } = turn;
  const { failurePolicy, reinvocationPolicy } = policy.spec ?? {};
  const named = { policy: policy.metadata?.name ?? "", binding: binding.metadata?.name ?? "" };
  const fail = (message: string) => {
    if (failurePolicy !== "Ignore") turn.denials.push({ ...named, message, reason: "Invalid" });
  };
  const inputOf = (object: KubeObject) => {
    const shown = inView(view, { ...request, object });
    return { request: shown, object: shown.object ?? object, params, authorize: deps.authorize };
  };
  const [problem] = program.problems;
  const met = problem ? { error: problem.message } : meetsConditions(program.matchConditions, inputOf(turn.object));
  if (typeof met !== "boolean") fail(met.error);
  const id = JSON.stringify([named.policy, named.binding, params?.metadata.namespace, params?.metadata.name]);
  if (met !== true || !rounds.includes(id)) return;

  const namespace = namespaceOfRequest(request, deps);
  const before = turn.object;
  for (const mutation of program.mutations) {
    const mutated = mutateObject(mutation, program.variables, { ...inputOf(turn.object), namespace });
    if ("problem" in mutated) fail(mutated.problem);
    else {
      turn.object = shownAs(request.kind, view, mutated.object);
      turn.hasMutated = true;
    }
  }
  const changed = !isDeepStrictEqual(before, turn.object);
  rounds.end(id, { changed, isReinvocable: reinvocationPolicy === "IfNeeded" });
}

function denial(request: AdmissionRequest, first: Denial, all: readonly Denial[]): ApiError {
  const textOf = ({ policy, binding, message }: Denial) =>
    `policy '${policy}' with binding '${binding}' denied request: ${message}`;
  const { details, code } = refusal(request, "");
  const causes = all.map((each) => ({ message: textOf(each) }));
  return new ApiError("Forbidden", textOf(first), { ...details, causes }, { foreign: { code, reason: first.reason } });
}
