import { type ApiError, forbiddenError, notFoundError } from "../../api/api-error.ts";
import type { KubeObject } from "../../api/object.ts";
import type { AdmissionRequest } from "../ports/request.ts";
import type { ResourceKind } from "../ports/resource-kind.ts";
import { groupResource } from "../ports/resource-kind.ts";

/** A 403 about the request's object, in the form that upstream's `admission.NewForbidden` gives it. */
export function refusal(request: AdmissionRequest, detail: string): ApiError {
  return forbiddenError(subjectOf(request.kind), shownName(request), detail);
}

/** A 404 about an object that the request depends on. */
export function missing(resource: string, name: string): ApiError {
  return notFoundError({ group: "", resource }, name);
}

/** The object's name, or the prefix of a name that is still to be generated. */
function shownName({ name, object }: AdmissionRequest): string {
  return name || object?.metadata.name || object?.metadata.generateName || "Unknown";
}

function subjectOf({ group, plural }: ResourceKind) {
  return { group, resource: plural };
}

/**
 * The request's resource and subresource, as `pods`, `pods/status`,
 * `certificatesigningrequests.certificates.k8s.io/approval`.
 */
function targetOf({ kind, subresource }: AdmissionRequest): string {
  return subresource === "" ? groupResource(kind) : `${groupResource(kind)}/${subresource}`;
}

/** The object of a request that creates or updates `target`; undefined for every other request. */
export function writtenObject(
  request: AdmissionRequest,
  target: string,
  operations: readonly AdmissionRequest["operation"][] = ["CREATE", "UPDATE"],
): KubeObject | undefined {
  return operations.includes(request.operation) && targetOf(request) === target ? request.object : undefined;
}
