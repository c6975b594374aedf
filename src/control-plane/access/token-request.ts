import { badRequestError, conflictError, invalidError, notFoundError } from "../../api/api-error.ts";
import type { FieldError } from "../../api/field-error.ts";
import type { BoundObjectReference, TokenRequest } from "../../api/gen/types.ts";
import { type KubeObject, typed } from "../../api/object.ts";
import { invalid } from "../../api/validation/problems.ts";
import type { ResourceReader } from "../ports/resources.ts";
import type { NamedObject, TokenPlan } from "./service-account-tokens.ts";

const MIN_SECONDS = 600;
const MAX_SECONDS = 2 ** 32;
const DEFAULT_SECONDS = 3_600;
const KIND = { group: "authentication.k8s.io", kind: "TokenRequest" };

/**
 * Plans the token that a TokenRequest for the service account asks for. Throws Invalid for a lifetime that is too short
 * or too long, and NotFound, Conflict or BadRequest for an object to which the token cannot be bound.
 */
export function planTokenRequest(request: TokenRequest, serviceAccount: KubeObject, reader: ResourceReader): TokenPlan {
  const { audiences = [], expirationSeconds = DEFAULT_SECONDS, boundObjectRef } = request.spec ?? {};
  const { namespace = "", name = "", uid = "" } = serviceAccount.metadata;
  const errors = [...validateOwner(request, name), ...validateSeconds(expirationSeconds)];
  if (errors.length > 0) throw invalidError(KIND, "", errors);
  const plan = { serviceAccount: { namespace, name, uid }, audiences, expirationSeconds };
  return boundObjectRef === undefined ? plan : { ...plan, ...bind(boundObjectRef, plan.serviceAccount, reader) };
}

/** The answer to the request. */
export function answerTokenRequest(
  request: TokenRequest,
  plan: TokenPlan,
  status: { token: string; expirationTimestamp: string; audiences: readonly string[] },
): TokenRequest {
  const { token, expirationTimestamp, audiences } = status;
  const spec = {
    ...request.spec,
    audiences: [...(plan.audiences.length > 0 ? plan.audiences : audiences)],
    expirationSeconds: plan.expirationSeconds,
  };
  const { name, namespace } = plan.serviceAccount;
  return {
    ...request,
    metadata: { ...request.metadata, name, namespace },
    spec,
    status: { token, expirationTimestamp },
  };
}

/** The namespace was compared with that of the path before. */
function validateOwner({ metadata = {} }: TokenRequest, account: string): FieldError[] {
  const { name = "" } = metadata;
  if (name === account || name === "") return [];
  return [invalid("metadata.name", name, "must match the service account name if specified")];
}

function validateSeconds(seconds: number): FieldError[] {
  const path = "spec.expirationSeconds";
  if (seconds < MIN_SECONDS) return [invalid(path, seconds, "may not specify a duration less than 10 minutes")];
  if (seconds > MAX_SECONDS) return [invalid(path, seconds, "may not specify a duration larger than 2^32 seconds")];
  return [];
}

function bind(
  ref: BoundObjectReference,
  { namespace, name: account }: TokenPlan["serviceAccount"],
  reader: ResourceReader,
): Pick<TokenPlan, "bound" | "node"> {
  const { apiVersion = "", kind = "", name = "", uid = "" } = ref;
  const isCore = !apiVersion.includes("/");
  const resource = isCore ? BINDABLE.get(kind) : undefined;
  if (resource === undefined || (kind !== "Node" && kind !== "Pod" && kind !== "Secret")) {
    throw badRequestError(
      `cannot bind token to object of type ${apiVersion.includes("/") ? apiVersion : `/${apiVersion}`}, Kind=${kind}`,
    );
  }
  const found = reader.get({ resource, namespace: kind === "Node" ? "" : namespace, name });
  if (found === undefined) throw notFoundError({ group: "", resource }, name);
  const actual = found.metadata.uid ?? "";
  const bound = { kind, name, uid: actual } as const;
  const node = kind === "Pod" ? nodeOfPod(found, account, reader) : undefined;
  if (uid !== "" && uid !== actual) {
    const detail = `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`;
    throw conflictError({ group: "", resource: kind }, name, detail);
  }
  return { bound, ...(node && { node }) };
}

const BINDABLE: ReadonlyMap<string, string> = new Map([
  ["Node", "nodes"],
  ["Pod", "pods"],
  ["Secret", "secrets"],
]);

/** The node of the pod. Throws when the pod does not run as the account: its token is for no other account. */
function nodeOfPod(object: KubeObject, account: string, reader: ResourceReader): NamedObject | undefined {
  const { serviceAccountName = "", nodeName = "" } = typed("Pod", object).spec ?? {};
  if (serviceAccountName !== account) {
    const other = `pod running with serviceaccount "${serviceAccountName}"`;
    throw badRequestError(`cannot bind token for serviceaccount "${account}" to ${other}`);
  }
  if (nodeName === "") return undefined;
  const node = reader.get({ resource: "nodes", namespace: "", name: nodeName });
  return { name: nodeName, uid: node?.metadata.uid ?? "" };
}
