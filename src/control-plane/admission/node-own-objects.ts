import { isRecord, type KubeObject } from "../../api/object.ts";
import type { NodeRequest } from "./node-request.ts";
import { refusal } from "./refusal.ts";
import { isSameValue } from "./same-value.ts";

const LEASE_NAMESPACE = "kube-node-lease";

/** Lets a node write the lease of its own name, by which it shows that it is alive. */
export function restrictLease({ request, node }: NodeRequest): void {
  if (request.namespace !== LEASE_NAMESPACE) {
    throw refusal(request, `can only access leases in the "${LEASE_NAMESPACE}" system namespace`);
  }
  if (nameIn(request) === node) return;
  throw refusal(request, "can only access node lease with the same name as the requesting node");
}

/** Lets a node write the CSINode of its own name. */
export function restrictCsiNode({ request, node }: NodeRequest): void {
  if (nameIn(request) === node) return;
  throw refusal(request, "can only access CSINode with the same name as the requesting node");
}

const nameIn = ({ name, object }: NodeRequest["request"]) => name || (object?.metadata.name ?? "");

/** Lets a node write the slices of its own devices. The authorizer decides what an update may change, as upstream. */
export function restrictResourceSlice({ request, node }: NodeRequest): void {
  const { operation, object, current } = request;
  if (operation === "CREATE" && sliceNodeOf(object) !== node) {
    throw refusal(request, "can only create ResourceSlice with the same NodeName as the requesting node");
  }
  if (operation === "DELETE" && sliceNodeOf(current) !== node) {
    throw refusal(request, "can only delete ResourceSlice with the same NodeName as the requesting node");
  }
}

function sliceNodeOf(object: KubeObject | undefined): unknown {
  const spec = object?.["spec"];
  return isRecord(spec) ? spec["nodeName"] : undefined;
}

/** The fields of a claim's status that an expansion on the node changes. */
const CLAIM_STATUS_FIELDS = ["capacity", "conditions", "allocatedResources", "allocatedResourceStatuses"];

/** Lets a node write the fields of a claim's status that belong to the expansion of its file system. */
export function restrictClaimStatus({ request, node }: NodeRequest): void {
  const { operation, subresource, object, current } = request;
  if (subresource !== "status") throw refusal(request, "may only update PVC status");
  if (operation !== "UPDATE" || object === undefined || current === undefined) {
    throw refusal(request, `unexpected operation "${operation}"`);
  }
  if (isSameValue(fixedPartOf(object), fixedPartOf(current))) return;
  const rule = "is not allowed to update fields other than status.capacity and status.conditions";
  throw refusal(request, `node "${node}" ${rule}`);
}

function fixedPartOf(claim: KubeObject): unknown {
  const { managedFields: _managed, resourceVersion: _version, ...metadata } = claim.metadata;
  const status = isRecord(claim["status"]) ? Object.entries(claim["status"]) : [];
  const fixed = status.filter(([field]) => !CLAIM_STATUS_FIELDS.includes(field));
  return { ...claim, metadata, status: Object.fromEntries(fixed) };
}
