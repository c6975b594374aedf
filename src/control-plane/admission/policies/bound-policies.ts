import { LRUCache } from "lru-cache";
import type { MatchResources, ObjectMeta, ParamKind, ParamRef } from "../../../api/gen/types.ts";
import type { KubeObject } from "../../../api/object.ts";
import type { AdmissionRequest } from "../../ports/request.ts";
import { groupResource, type ResourceKind } from "../../ports/resource-kind.ts";
import {
  isMigration,
  type MatchDeps,
  matchRequest,
  namespaceOf,
  type RequestSelection,
  requestSelectionOf,
} from "../matching/match-request.ts";
import { missing } from "../refusal.ts";
import { findParams, type ParamsDeps } from "./policy-params.ts";

export interface BoundPoliciesDeps extends ParamsDeps, Pick<MatchDeps, "viewsOf"> {}

/** What policies of all kinds have. */
interface AnyPolicy {
  metadata?: ObjectMeta;
  spec?: { failurePolicy?: string; matchConstraints?: MatchResources; paramKind?: ParamKind };
}

/** What bindings of all kinds have. */
interface AnyBinding {
  metadata?: ObjectMeta;
  spec?: { policyName?: string; matchResources?: MatchResources; paramRef?: ParamRef };
}

/** A kind of policies with the kind of its bindings. */
interface PolicyKind<Policy extends AnyPolicy, Binding extends AnyBinding, Program> {
  /** The resources: `validatingadmissionpolicies.admissionregistration.k8s.io`. */
  readonly policies: string;
  readonly bindings: string;
  readPolicy(object: KubeObject): Policy;
  readBinding(object: KubeObject): Binding;
  compile(policy: Policy): Program;
}

/** A policy that is about a request by one of its bindings, with one object of parameters. */
export interface Invocation<Policy, Binding, Program> {
  readonly policy: Policy;
  readonly binding: Binding;
  readonly program: Program;
  /** Null where there are no parameters. */
  readonly params: KubeObject | null;
  /** The kind in which the policy sees the request's objects. */
  readonly view: ResourceKind;
}

/** The reason why a binding cannot be asked; it refuses the request. */
export interface BindingProblem {
  readonly policy: string;
  readonly binding: string;
  readonly message: string;
}

/** The policies of one kind. */
export interface BoundPolicies<Policy extends AnyPolicy, Binding extends AnyBinding, Program> {
  /** True when no request needs to be shown to them: there are none. */
  readonly isEmpty: boolean;
  /** All that is to be asked about the request, by the names of policies and bindings. */
  about(request: AdmissionRequest): {
    readonly invocations: ReadonlyArray<Invocation<Policy, Binding, Program>>;
    readonly problems: readonly BindingProblem[];
  };
}

/** What no policy looks at: policies themselves, so that a wrong one can be taken away, and questions about access. */
const EXEMPT_GROUPS = new Set(["admissionregistration.k8s.io", "authentication.k8s.io", "authorization.k8s.io"]);

const MAX_COMPILED = 1_000;

interface Compiled<Program> {
  readonly selection: RequestSelection;
  readonly program: Program;
}

/** Finds the policies of a kind that concern a request (`pkg/admission/plugin/policy/generic`). */
export function createBoundPolicies<Policy extends AnyPolicy, Binding extends AnyBinding, Program>(
  deps: BoundPoliciesDeps,
  kind: PolicyKind<Policy, Binding, Program>,
): BoundPolicies<Policy, Binding, Program> {
  const compiled = new LRUCache<string, Compiled<Program>>({ max: MAX_COMPILED });
  const compile = (policy: Policy): Compiled<Program> => {
    const { metadata, spec } = policy;
    const key = `${metadata?.uid}/${metadata?.generation}`;
    const known = compiled.get(key) ?? {
      selection: requestSelectionOf(spec?.matchConstraints ?? {}),
      program: kind.compile(policy),
    };
    compiled.set(key, known);
    return known;
  };
  return {
    get isEmpty() {
      return deps.reader.list(kind.policies).length === 0;
    },
    about(request) {
      const invocations: Array<Invocation<Policy, Binding, Program>> = [];
      const problems: BindingProblem[] = [];
      if (EXEMPT_GROUPS.has(request.kind.group) || isMigration(request)) return { invocations, problems };
      const bindings = deps.reader.list(kind.bindings).map((object) => kind.readBinding(object));
      for (const policy of deps.reader.list(kind.policies).map((object) => kind.readPolicy(object))) {
        const bound = bindings.filter(({ spec }) => spec?.policyName === policy.metadata?.name);
        if (bound.length === 0) continue;
        const { selection, program } = compile(policy);
        const view = matchRequest(deps, selection, request);
        if (view === undefined) continue;
        for (const binding of bound) {
          const found = paramsOf(deps, { policy, binding }, request);
          if (!("message" in found)) {
            invocations.push(...found.map((params) => ({ policy, binding, program, params, view })));
          } else if (policy.spec?.failurePolicy !== "Ignore") problems.push(found);
        }
      }
      return { invocations, problems };
    },
  };
}

/** The parameters with which the policy is to be asked: none where the binding is not about the request. */
function paramsOf(
  deps: BoundPoliciesDeps,
  { policy, binding }: { policy: AnyPolicy; binding: AnyBinding },
  request: AdmissionRequest,
): ReadonlyArray<KubeObject | null> | BindingProblem {
  const { matchResources, paramRef } = binding.spec ?? {};
  if (matchResources && matchRequest(deps, requestSelectionOf(matchResources), request) === undefined) return [];
  const found = findParams(deps, policy.spec?.paramKind, paramRef, namespaceOf(request));
  if (!("problem" in found)) return found.params;
  const message = `failed to configure binding: ${found.problem}`;
  return { policy: policy.metadata?.name ?? "", binding: binding.metadata?.name ?? "", message };
}

/** The namespace of the request; undefined for objects of the cluster, of which a namespace itself is one. */
export function namespaceOfRequest(
  { kind, namespace }: AdmissionRequest,
  { reader }: Pick<BoundPoliciesDeps, "reader">,
): KubeObject | undefined {
  if (namespace === "" || groupResource(kind) === "namespaces") return undefined;
  const found = reader.get({ resource: "namespaces", namespace: "", name: namespace });
  if (found === undefined) throw missing("namespaces", namespace);
  return found;
}
