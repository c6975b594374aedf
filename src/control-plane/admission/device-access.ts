import { invalidError } from "../../api/api-error.ts";
import type { FieldError } from "../../api/field-error.ts";
import type { AllocationResult, DeviceRequest, ResourceClaimStatus } from "../../api/gen/types.ts";
import { isRecord, typed } from "../../api/object.ts";
import { forbidden } from "../../api/validation/problems.ts";
import { accessDeniedMessage } from "../ports/access-denied.ts";
import type { AdmissionPlugin, AdmissionRequest, Authorize, ResourceAccess } from "../ports/request.ts";
import { groupResource } from "../ports/resource-kind.ts";
import type { ResourceReader } from "../ports/resources.ts";
import type { User } from "../ports/user.ts";
import { isSameValue } from "./same-value.ts";

const GROUP = "resource.k8s.io";
const ADMIN_LABEL = "resource.kubernetes.io/admin-access";
const NODE_NAME = "authentication.kubernetes.io/node-name";

/**
 * Says who may watch over devices that others have, and who may write which part of a claim's status. Upstream does it
 * in the strategies of the kinds (`pkg/registry/resource/utils.go`), which know the user and the namespace there.
 */
export function createDeviceAccess({ reader, authorize }: DeviceAccessDeps): AdmissionPlugin {
  return {
    name: "DeviceAccess",
    validate(request) {
      if (request.object === undefined || request.kind.group !== GROUP) return;
      const errors = [...checkAdmin(request, reader), ...checkStatus(request, authorize)];
      if (errors.length > 0) throw invalidError(request.kind, request.object.metadata.name ?? "", errors);
    },
  };
}

interface DeviceAccessDeps {
  readonly reader: Pick<ResourceReader, "get">;
  readonly authorize: Authorize;
}

/** The problems of a request for devices that others have, in a namespace that is not for administrators. */
function checkAdmin(request: AdmissionRequest, reader: Pick<ResourceReader, "get">): FieldError[] {
  const path = adminPathOf(request);
  if (path === undefined) return [];
  const namespace = reader.get({ resource: "namespaces", namespace: "", name: request.namespace });
  if (namespace?.metadata.labels?.[ADMIN_LABEL] === "true") return [];
  const rule = `admin access to devices requires the \`${ADMIN_LABEL}: true\` label on the containing namespace`;
  return [forbidden(path, rule)];
}

/** Where such access is asked for anew. The spec of a claim never changes. */
function adminPathOf({ kind, operation, subresource, object, current }: AdmissionRequest): string | undefined {
  if (object === undefined) return undefined;
  const resource = groupResource(kind);
  if (operation === "CREATE") {
    if (resource === `resourceclaims.${GROUP}`) return adminRequest(typed("ResourceClaim", object).spec.devices);
    if (resource !== `resourceclaimtemplates.${GROUP}`) return undefined;
    return adminRequest(typed("ResourceClaimTemplate", object).spec.spec.devices);
  }
  if (resource !== `resourceclaims.${GROUP}` || subresource !== "status") return undefined;
  const before = current && typed("ResourceClaim", current).status?.allocation;
  return adminResult(before) === undefined ? adminResult(typed("ResourceClaim", object).status?.allocation) : undefined;
}

function adminRequest({ requests = [] }: { readonly requests?: readonly DeviceRequest[] } = {}): string | undefined {
  const index = requests.findIndex(({ exactly }) => exactly?.adminAccess === true);
  return index < 0 ? undefined : `spec.devices.requests[${index}].adminAccess`;
}

function adminResult(allocation: AllocationResult | undefined): string | undefined {
  const index = (allocation?.devices?.results ?? []).findIndex(({ adminAccess }) => adminAccess === true);
  return index < 0 ? undefined : `status.allocation.devices.results[${index}].adminAccess`;
}

/**
 * The problems of a change of a claim's status. Who allocates and reserves needs a permission for all claims; who tells
 * of devices needs one for their driver, and a driver's pod needs less for claims of its own node.
 */
function checkStatus(request: AdmissionRequest, authorize: Authorize): FieldError[] {
  const { kind, subresource, operation, object, current, user, namespace } = request;
  if (groupResource(kind) !== `resourceclaims.${GROUP}` || subresource !== "status" || operation !== "UPDATE")
    return [];
  if (object === undefined || current === undefined) return [];
  const { status = {} } = typed("ResourceClaim", object);
  const { status: before = {} } = typed("ResourceClaim", current);
  const verb = isRecord(request.options) && request.options["kind"] === "PatchOptions" ? "patch" : "update";
  const about = { user, group: GROUP, version: kind.version, resource: "resourceclaims" };
  const binding = { ...about, verb, subresource: "binding", namespace: "", name: "" };
  const isBinding = !isSameValue([status.allocation, status.reservedFor], [before.allocation, before.reservedFor]);
  const errors = isBinding ? checkBinding(binding, authorize) : [];
  if (status.allocation === undefined) return errors;
  const isOwn = isOnNodeOf(user, status.allocation);
  const verbs = [...(isOwn ? [`associated-node:${verb}`] : []), `arbitrary-node:${verb}`];
  const ofDrivers = changedDriversOf(status, before).flatMap((name) => {
    const asked = verbs.map((each) => ({ ...about, verb: each, subresource: "driver", namespace, name }));
    return checkDriver(asked, authorize);
  });
  return [...errors, ...ofDrivers];
}

function checkBinding(access: ResourceAccess, authorize: Authorize): FieldError[] {
  const { allowed, reason } = authorize(access);
  if (allowed) return [];
  const rule = "changing status.allocation or status.reservedFor requires";
  const needed = `resource="resourceclaims/binding", verb="${access.verb}" permission`;
  return [forbidden("status.allocation", `${rule} ${needed}: ${accessDeniedMessage(access, reason)}`)];
}

/** One of the permissions is enough. */
function checkDriver(accesses: readonly ResourceAccess[], authorize: Authorize): FieldError[] {
  const denials = accesses.map((access) => ({ access, ...authorize(access) }));
  const [first] = denials;
  if (first === undefined || denials.some(({ allowed }) => allowed)) return [];
  const verbs = `[${accesses.map(({ verb }) => verb).join(" ")}]`;
  const needed = `changing status.devices requires resource="resourceclaims/driver", verb="${verbs}" permission`;
  return [forbidden("status.devices", `${needed}: ${accessDeniedMessage(first.access, first.reason)}`)];
}

/** The drivers of devices of which something else is told than before, in order. */
function changedDriversOf(
  { devices = [] }: ResourceClaimStatus,
  { devices: before = [] }: ResourceClaimStatus,
): string[] {
  const isIn = (list: typeof devices, device: (typeof devices)[number]) =>
    list.some((other) => isSameValue(other, device));
  const changed = [
    ...devices.filter((device) => !isIn(before, device)),
    ...before.filter((device) => !isIn(devices, device)),
  ];
  return [...new Set(changed.map(({ driver }) => driver))].sort();
}

/** True for a service account of a pod on the one node whose devices were allocated. */
function isOnNodeOf({ username, extra = {} }: User, { nodeSelector }: AllocationResult): boolean {
  const [term, ...others] = nodeSelector?.nodeSelectorTerms ?? [];
  const { matchExpressions = [], matchFields = [] } = term ?? {};
  const [field, ...more] = matchFields;
  const isOneNode = others.length + matchExpressions.length + more.length === 0;
  if (!isOneNode || field?.key !== "metadata.name" || field.operator !== "In" || field.values?.length !== 1)
    return false;
  const [node, ...ambiguous] = extra[NODE_NAME] ?? [];
  return username.startsWith("system:serviceaccount:") && ambiguous.length === 0 && node === field.values[0];
}
