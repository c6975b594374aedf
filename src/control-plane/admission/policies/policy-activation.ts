import type { KubeObject } from "../../../api/object.ts";
import { parseTimestamp } from "../../cel/functions/time-text.ts";
import { plainValue } from "../../cel/plain-value.ts";
import type { NamedProgram } from "../../cel/policies/compile-policy.ts";
import { type AccessAnswer, type AuthorizerValue, type CelValue, failure, type MapValue } from "../../cel/values.ts";
import type { AdmissionRequest, Authorize } from "../../ports/request.ts";
import type { User } from "../../ports/user.ts";
import { requestFields, type ViewedRequest } from "../matching/viewed-request.ts";

/** What the expressions about a request read. */
export interface PolicyInput {
  readonly request: ViewedRequest;
  /** The namespace of the request; undefined for objects of the cluster, and where expressions may not read it. */
  readonly namespace?: KubeObject | undefined;
  /** Null where there are no parameters. */
  readonly params: KubeObject | null;
  readonly authorize: Authorize;
}

interface ActivationDeps extends PolicyInput {
  readonly variables: readonly NamedProgram[];
  /** Takes the cost of a variable, which is evaluated when it is first read. */
  spend(cost: number): void;
}

/** The values that the expressions of a policy read, for one request and one object of parameters. */
export function createActivation(deps: ActivationDeps): (name: string) => CelValue | undefined {
  const { request, params, namespace } = deps;
  const authorizer = authorizerFor(deps.authorize, request.user);
  const values = new Map<string, CelValue>([
    ["object", plainValue(request.object ?? null)],
    ["oldObject", plainValue(request.current ?? null)],
    ["request", plainValue(requestFields(request))],
    ["params", plainValue(params)],
    ["namespaceObject", namespace ? namespaceValue(namespace) : null],
    ["authorizer", authorizer],
    ["authorizer.requestResource", requestCheck(authorizer, request)],
  ]);
  const read = (name: string): CelValue | undefined => values.get(name);
  values.set("variables", variablesValue(deps, read));
  return read;
}

/** Variables by name; each is evaluated once, and may read those before it. */
function variablesValue({ variables, spend }: ActivationDeps, read: (name: string) => CelValue | undefined): MapValue {
  const known = new Map<CelValue, CelValue>();
  const programs = new Map(variables.map(({ name, program }) => [name, program]));
  return {
    kind: "map",
    isObject: true,
    size: variables.length,
    keys: () => variables.map(({ name }) => name),
    find(key) {
      const program = typeof key === "string" ? programs.get(key) : undefined;
      if (program === undefined) return undefined;
      const found = known.get(key);
      if (found !== undefined) return found;
      const result = program.evaluate(read);
      spend(result.cost);
      const value =
        result.outcome === "value"
          ? result.value
          : failure(`composited variable ${JSON.stringify(key)} fails to evaluate: ${result.message}`);
      known.set(key, value);
      return value;
    },
  };
}

/** The namespace as policies see it; its times are times. */
function namespaceValue({ metadata, ...rest }: KubeObject): CelValue {
  const { uid, creationTimestamp, deletionTimestamp, managedFields: _managed, ...others } = metadata;
  const plain = plainValue({ ...others, ...(uid !== undefined && { UID: uid }) });
  const times = { creationTimestamp, deletionTimestamp };
  const entries = Object.entries(times).flatMap(([name, text]) => {
    const nanos = text === undefined ? undefined : parseTimestamp(text);
    return nanos === undefined ? [] : [[name, { kind: "timestamp", nanos }] as const];
  });
  const values = new Map<CelValue, CelValue>(entries);
  const whole = plainValue({ ...rest, metadata: {} });
  if (typeof plain !== "object" || plain?.kind !== "map") return null;
  if (typeof whole !== "object" || whole?.kind !== "map") return null;
  const meta: MapValue = {
    ...plain,
    isObject: true,
    size: plain.size + values.size,
    find: (key) => values.get(key) ?? plain.find(key),
    keys: () => [...plain.keys(), ...values.keys()],
  };
  return { ...whole, isObject: true, find: (key) => (key === "metadata" ? meta : whole.find(key)) };
}

function authorizerFor(authorize: Authorize, user: User): AuthorizerValue {
  return {
    kind: "authorizer",
    decide({ path, ...check }): AccessAnswer {
      return path === undefined
        ? authorize({ ...check, user, version: "*" })
        : authorize({ user, verb: check.verb, path });
    },
    forAccount(namespace, name) {
      const groups = ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"];
      return authorizerFor(authorize, { username: `system:serviceaccount:${namespace}:${name}`, groups });
    },
  };
}

function requestCheck(authorizer: AuthorizerValue, { kind, subresource, namespace, name }: AdmissionRequest): CelValue {
  const check = { group: kind.group, resource: kind.plural, subresource, namespace, name };
  return { kind: "resourceCheck", authorizer, check };
}
