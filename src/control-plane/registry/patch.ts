import { ApiError, badRequestError, invalidError } from "../../api/api-error.ts";
import { applyObject } from "../../api/apply/apply.ts";
import { isRecord, type KubeObject } from "../../api/object.ts";
import { applyJsonPatch } from "../../api/patch/json-patch.ts";
import { applyMergePatch } from "../../api/patch/merge-patch.ts";
import { applyStrategicMergePatch } from "../../api/patch/strategic-merge.ts";
import { required } from "../../api/validation/problems.ts";
import type { ResourceKind, Subresource } from "../ports/resource-kind.ts";
import { decodeBody } from "./decode-body.ts";
import { apiVersion } from "./object-view.ts";
import type { RegistryDeps } from "./registry-deps.ts";
import type { RequestContext } from "./request-context.ts";
import { resetFieldsOf } from "./reset-fields.ts";
import { type Updated, type UpdateRequest, updateObject } from "./update.ts";
import { versionViews } from "./version-views.ts";

/** The format of a patch. `apply` is server-side apply. */
export type PatchType = "json" | "merge" | "strategic" | "apply";

interface PatchRequest {
  readonly kind: ResourceKind;
  readonly namespace: string;
  readonly name: string;
  readonly subresource?: Subresource | undefined;
  readonly type: PatchType;
  readonly body: unknown;
  /** Lets `apply` take fields over from other managers. */
  readonly force: boolean;
  /** As for an update, because server-side apply creates an object that does not exist. */
  readonly authorizeCreation?: UpdateRequest["authorizeCreation"];
  readonly context: RequestContext;
}

/** Changes an object as a patch says. Rejects as `updateObject` does, and Conflict for fields of other managers. */
export function patchObject(deps: RegistryDeps, request: PatchRequest): Promise<Updated> {
  const { kind, namespace, name, subresource, context } = request;
  const isApply = request.type === "apply";
  if (isApply) requireFieldOwner(context);
  const change = isApply ? applied(deps, request) : patched(request);
  return updateObject(deps, {
    kind,
    namespace,
    name,
    subresource,
    // The rules for duplicates in what is applied are its own, below.
    context: isApply ? { ...context, duplicates: [], fieldValidation: "Ignore" } : context,
    change,
    isApply,
    isPatch: !isApply,
    createsMissing: isApply,
    authorizeCreation: request.authorizeCreation,
  });
}

/** Throws Invalid where nobody is named who comes to own what is applied. */
export function requireFieldOwner({ fieldManager }: Pick<RequestContext, "fieldManager">): void {
  if (fieldManager !== "") return;
  const missing = required("fieldManager", "is required for apply patch");
  throw invalidError({ group: "meta.k8s.io", kind: "PatchOptions" }, "", [missing]);
}

function patched({ kind, type, body }: PatchRequest): (current: KubeObject | undefined) => unknown {
  return (current) => {
    if (type === "json") return applyJsonPatch(current, body);
    if (type === "merge") return applyMergePatch(current, body);
    if (!kind.schema.strategicMerge) {
      throw new ApiError(
        "UnsupportedMediaType",
        "the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml",
      );
    }
    return applyStrategicMergePatch(current, body, kind.schema.node);
  };
}

function requireObject(body: unknown): Record<string, unknown> {
  if (!isRecord(body)) throw badRequestError("the patch must be an object");
  return body;
}

function applied(deps: RegistryDeps, request: PatchRequest): (current: KubeObject | undefined) => unknown {
  const { kind, name, namespace, subresource, body, force, context } = request;
  return (current) => {
    // The body is decoded for its errors only: the manager did not ask for the fields that decoding fills in. A field
    // that the schema lacks is an error of the apply itself, however fields are validated.
    const decoded = decodeBody(kind, body, { fieldValidation: "Ignore", warn() {} });
    const sent = requireObject(body);
    const metadata = isRecord(sent["metadata"]) ? sent["metadata"] : {};
    const configuration: KubeObject = {
      ...sent,
      apiVersion: decoded.apiVersion,
      kind: decoded.kind,
      metadata: { ...metadata, name: decoded.metadata.name ?? name, ...(kind.namespaced && { namespace }) },
    };
    const object = applyObject({
      current,
      applied: configuration,
      node: kind.schema.node,
      manager: context.fieldManager,
      force,
      now: deps.now(),
      apiVersion: apiVersion(kind),
      versions: versionViews(deps.kinds, kind),
      ...(subresource && { subresource: subresource.name }),
      ...resetFieldsOf(kind, subresource?.name ?? ""),
    });
    reportAppliedTwice(context);
    return object;
  };
}

/** What is applied is always read as YAML, and upstream says so. */
function reportAppliedTwice({ duplicates = [], fieldValidation, warn }: RequestContext): void {
  if (duplicates.length === 0 || fieldValidation === "Ignore") return;
  if (fieldValidation === "Strict") {
    const lines = duplicates.map((duplicate) => `\n  ${duplicate}`).join("");
    const message = `error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:${lines}`;
    throw badRequestError(message);
  }
  for (const duplicate of duplicates) warn(duplicate);
}
