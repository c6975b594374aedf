import { formatFieldError } from "../../../api/field-error.ts";
import { isKubeObject, isRecord, type KubeObject } from "../../../api/object.ts";
import { CodedError } from "../../../base/errors.ts";
import type { AdmissionRequest } from "../../ports/request.ts";
import type { ResourceKind } from "../../ports/resource-kind.ts";
import { namespaceOf } from "./match-request.ts";

/** A request with its objects in the version in which a rule has matched it. */
export interface ViewedRequest extends AdmissionRequest {
  readonly view: ResourceKind;
}

/** Shows the request in the version of a view of its kind. */
export function inView(view: ResourceKind, request: AdmissionRequest): ViewedRequest {
  const object = request.object && shownAs(view, request.kind, request.object);
  const current = request.current && shownAs(view, request.kind, request.current);
  return { ...request, object, current, view };
}

/** The object of one version of a resource in another one. */
export function shownAs(wanted: ResourceKind, given: ResourceKind, object: KubeObject): KubeObject {
  // What the client of an action sends, such as an eviction, has one version.
  if (wanted === given || object.kind !== given.kind) return object;
  const stored = given.storedAs?.toStored(object) ?? object;
  return wanted.storedAs?.fromStored(stored) ?? stored;
}

/** True when the request's object is of the kind itself, and not what the client of an action sends. */
export function isOwnObject({ view, subresource }: ViewedRequest): boolean {
  return subresource === "" || subresourceOf(view, subresource)?.kind === view.kind;
}

interface Change {
  /** The object before. */
  readonly object: KubeObject;
  readonly changed: unknown;
  /** Fields that the kind does not have are refused; default: they are left out. */
  readonly isStrict?: boolean;
}

/**
 * The object after somebody has changed it, decoded and with defaults. Throws a CodedError `unfit-change` for what is
 * no object of the kind.
 */
export function decodeChanged(request: ViewedRequest, { object, changed, isStrict = false }: Change): KubeObject {
  const { view } = request;
  const isOwn = isOwnObject(request);
  const decoded = isOwn ? decodeOwn(view, changed, isStrict) : changed;
  const whole = isRecord(decoded) ? { metadata: {}, ...decoded, apiVersion: object.apiVersion, kind: object.kind } : {};
  if (!isKubeObject(whole)) throw new CodedError("unfit-change", "the patched object has no metadata");
  return isOwn ? (view.strategy.default?.(whole) ?? whole) : whole;
}

function decodeOwn({ kind, version, schema }: ResourceKind, changed: unknown, isStrict: boolean): unknown {
  const { value, errors, warnings } = schema.decode(changed);
  if (isStrict && errors.length === 0 && warnings.length > 0) {
    throw new CodedError("unfit-change", `strict decoding error: ${warnings.map(({ message }) => message).join(", ")}`);
  }
  if (errors.length === 0) return value;
  const problems = errors.map(formatFieldError).join(", ");
  throw new CodedError("unfit-change", `${kind} in version "${version}" cannot be handled as a ${kind}: ${problems}`);
}

/** The fields of `admission.k8s.io/v1` AdmissionRequest, but for its uid and the objects. */
export function requestFields(request: ViewedRequest) {
  const { kind, view, subresource, operation, user, dryRun, options, name } = request;
  const { username, uid, groups, extra } = user;
  const namespace = namespaceOf(request);
  return {
    kind: kindOf(view, subresource),
    resource: resourceOf(view),
    ...(subresource !== "" && { subResource: subresource }),
    requestKind: kindOf(kind, subresource),
    requestResource: resourceOf(kind),
    ...(subresource !== "" && { requestSubResource: subresource }),
    ...(name !== "" && { name }),
    ...(namespace !== "" && { namespace }),
    operation,
    userInfo: { username, ...(uid !== undefined && { uid }), groups, ...(extra !== undefined && { extra }) },
    dryRun,
    options: options ?? null,
  };
}

const subresourceOf = ({ subresources }: ResourceKind, subresource: string) =>
  subresources.find(({ name }) => name === subresource);

function kindOf(kind: ResourceKind, subresource: string) {
  const { group, version, kind: name } = subresourceOf(kind, subresource) ?? kind;
  return { group, version, kind: name };
}

const resourceOf = ({ group, version, plural }: ResourceKind) => ({ group, version, resource: plural });
