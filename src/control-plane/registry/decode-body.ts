import { ApiError, badRequestError, invalidError, isApiError } from "../../api/api-error.ts";
import { formatFieldError } from "../../api/field-error.ts";
import { apiVersionOf, isKubeObject, isRecord, type KubeObject } from "../../api/object.ts";
import { invalid, tooMany } from "../../api/validation/problems.ts";
import type { ObjectSchema } from "../ports/resource-kind.ts";
import type { RequestContext } from "./request-context.ts";

/** Each write reads and compares the fields of every manager; an object that is in use has a dozen. */
const MAX_FIELD_OWNERS = 1_000;

/** The kind and version that a body must have, as the request's path says. */
interface ExpectedKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly schema: ObjectSchema;
}

/**
 * Decodes the body into a typed object of the kind. Unknown fields are dropped, and are an error, a warning or nothing,
 * as the request's field validation says. An absent apiVersion or kind is filled in. Throws an ApiError (BadRequest).
 */
export function decodeBody(
  expected: ExpectedKind,
  body: unknown,
  context: Pick<RequestContext, "fieldValidation" | "duplicates" | "warn">,
): KubeObject {
  if (!isRecord(body)) throw badRequestError(`the body of the request must be an object of kind ${expected.kind}`);
  checkType(expected, body);
  const { value, errors, warnings } = expected.schema.decode(body);
  if (errors.length > 0) throw cannotHandle(expected, errors.map(formatFieldError).join(", "));
  const problems = [...warnings.map(({ message }) => message), ...(context.duplicates ?? [])];
  if (problems.length > 0 && context.fieldValidation === "Strict") {
    throw cannotHandle(expected, `strict decoding error: ${problems.join(", ")}`);
  }
  if (context.fieldValidation === "Warn") for (const problem of problems) context.warn(problem);
  const apiVersion = apiVersionOf(expected);
  const object = isRecord(value) ? { metadata: {}, ...value, apiVersion, kind: expected.kind } : undefined;
  if (!isKubeObject(object)) throw cannotHandle(expected, "it has no metadata");
  const managers = object.metadata.managedFields?.length ?? 0;
  if (managers > MAX_FIELD_OWNERS) {
    throw cannotHandle(expected, formatFieldError(tooMany("metadata.managedFields", managers, MAX_FIELD_OWNERS)));
  }
  return { ...object, metadata: withoutTwinOwners(withoutEmpty(object.metadata), context) };
}

/**
 * Decodes what an update makes of an object, as `decodeBody` does. Where it is a patch that makes no object of the kind,
 * the ApiError is Invalid: the patch itself was well-formed.
 */
export function decodeChange(
  expected: ExpectedKind,
  body: unknown,
  { context, isPatch = false }: { readonly context: RequestContext; readonly isPatch?: boolean },
): KubeObject {
  try {
    return decodeBody(expected, body, context);
  } catch (error) {
    if (!isPatch || !isApiError(error, "BadRequest")) throw error;
    throw invalidError({ group: "", kind: "" }, "", [invalid("patch", JSON.stringify(body), error.message)]);
  }
}

/** Keeps one of several equal owner references. The client gets a warning, and the request is not refused. */
function withoutTwinOwners(
  metadata: KubeObject["metadata"],
  { warn }: Pick<RequestContext, "warn">,
): KubeObject["metadata"] {
  const { ownerReferences = [] } = metadata;
  // Each reference is compared by its text. An object may have thousands of them, and comparing all pairs would block
  // the process.
  const seen = new Set<string>();
  const unique = ownerReferences.filter((owner) => seen.size !== seen.add(textOf(owner)).size);
  if (unique.length === ownerReferences.length) return metadata;
  const kept = new Set(unique);
  const twins = new Set(ownerReferences.filter((owner) => !kept.has(owner)).map(({ uid }) => uid));
  const advice = "API server dedups owner references in 1.20+, and may reject such requests as early as 1.24";
  const observed = `duplicate UID(s) observed: ${[...twins].join(", ")}`;
  warn(`.metadata.ownerReferences contains duplicate entries; ${advice}; please fix your requests; ${observed}`);
  return { ...metadata, ownerReferences: unique };
}

function textOf(owner: object): string {
  return JSON.stringify(Object.entries(owner).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Leaves out empty fields, as upstream's encoding does: with the last label `labels` disappears too. */
function withoutEmpty(metadata: KubeObject["metadata"]): KubeObject["metadata"] {
  const isEmpty = (value: unknown) => typeof value === "object" && value !== null && Object.keys(value).length === 0;
  return Object.fromEntries(Object.entries(metadata).filter(([, value]) => !isEmpty(value)));
}

function checkType(expected: ExpectedKind, body: Readonly<Record<string, unknown>>): void {
  const apiVersion = apiVersionOf(expected);
  for (const field of ["apiVersion", "kind"]) {
    if (["undefined", "string"].includes(typeof (body[field] ?? undefined))) continue;
    const problem = `couldn't get version/kind; ${field} must be a string`;
    throw badRequestError(`the object provided is unrecognized (must be of type ${expected.kind}): ${problem}`);
  }
  const sent = { apiVersion: body["apiVersion"] ?? apiVersion, kind: body["kind"] ?? expected.kind };
  if (sent.apiVersion !== apiVersion && sent.apiVersion !== "") {
    const message = `the API version in the data (${String(sent.apiVersion)}) does not match the expected API version (${apiVersion})`;
    throw badRequestError(message);
  }
  if (sent.kind !== expected.kind && sent.kind !== "") {
    throw badRequestError(
      `${String(sent.kind)} in version "${expected.version}" cannot be handled as a ${expected.kind}: the path expects kind ${expected.kind}`,
    );
  }
}

function cannotHandle({ kind, version }: ExpectedKind, why: string): ApiError {
  return new ApiError("BadRequest", `${kind} in version "${version}" cannot be handled as a ${kind}: ${why}`);
}
