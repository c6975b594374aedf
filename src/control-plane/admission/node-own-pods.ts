import { findApiReference } from "../../api/api-references.ts";
import type { Pod } from "../../api/gen/types.ts";
import { type KubeObject, typed } from "../../api/object.ts";
import { CONFIG_MIRROR_ANNOTATION } from "../../api/well-known.ts";
import type { AdmissionRequest } from "../ports/request.ts";
import type { ResourceReader } from "../ports/resources.ts";
import type { NodeRequest, NodeRestrictionDeps } from "./node-request.ts";
import { missing, refusal } from "./refusal.ts";
import { isSameValue } from "./same-value.ts";

/** Lets a node create its own mirror pods, and write the status of its pods and delete and evict them. */
export function restrictPod(from: NodeRequest, { reader }: Pick<NodeRestrictionDeps, "reader">): void {
  const { subresource } = from.request;
  if (subresource === "") restrictItself(from, reader);
  else if (subresource === "status") restrictStatus(from);
  else if (subresource === "eviction") restrictEviction(from, reader);
  else {
    const known = "only 'status' and 'eviction' are allowed";
    throw refusal(from.request, `unexpected pod subresource "${subresource}", ${known}`);
  }
}

function restrictItself(from: NodeRequest, reader: ResourceReader): void {
  const { request, node } = from;
  const { operation, object } = request;
  if (operation === "CREATE" && object !== undefined) {
    restrictCreation(from, typed("Pod", object), reader);
    return;
  }
  if (operation !== "DELETE") {
    const only = `node "${node}" can only create and delete mirror pods`;
    throw refusal(request, `unexpected operation "${operation}", ${only}`);
  }
  if (nodeOf(storedPod(request, request.name, reader)) !== node) {
    throw refusal(request, `node "${node}" can only delete pods with spec.nodeName set to itself`);
  }
}

function restrictCreation({ request, node }: NodeRequest, pod: Pod, reader: ResourceReader): void {
  const refuse = (detail: string) => refusal(request, `node "${node}" ${detail}`);
  if (pod.metadata?.annotations?.[CONFIG_MIRROR_ANNOTATION] === undefined) {
    const rule = `node "${node}" can only create mirror pods`;
    throw refusal(request, `pod does not have "${CONFIG_MIRROR_ANNOTATION}" annotation, ${rule}`);
  }
  if (pod.spec?.nodeName !== node) throw refuse("can only create pods with spec.nodeName set to itself");
  requireOwner({ request, node }, pod, reader);
  const reference = findApiReference(pod);
  if (reference !== undefined) throw refuse(`can not create pods that reference ${reference.resource}`);
}

/** Throws unless the mirror pod has its node as owner, with which it is deleted. */
function requireOwner({ request, node }: NodeRequest, pod: Pod, reader: ResourceReader): void {
  const refuse = (detail: string) => refusal(request, `node "${node}" ${detail}`);
  const owners = pod.metadata?.ownerReferences ?? [];
  const [owner] = owners;
  if (owners.length > 1) throw refuse("can only create pods with a single owner reference set to itself");
  if (owner === undefined || owner.apiVersion !== "v1" || owner.kind !== "Node" || owner.name !== node) {
    throw refuse("can only create pods with an owner reference set to itself");
  }
  if (owner.controller !== true) throw refuse("can only create pods with a controller owner reference set to itself");
  if (owner.blockOwnerDeletion === true) throw refuse("must not set blockOwnerDeletion on an owner reference");
  const stored = reader.get({ resource: "nodes", namespace: "", name: node });
  if (stored === undefined) throw missing("nodes", node);
  const { uid = "" } = stored.metadata;
  if (owner.uid !== uid) {
    throw refusal(request, `node ${node} UID mismatch: expected ${owner.uid} got ${uid}`);
  }
}

function restrictStatus({ request, node }: NodeRequest): void {
  const { operation, object, current } = request;
  if (operation !== "UPDATE" || object === undefined || current === undefined) {
    throw refusal(request, `unexpected operation "${operation}"`);
  }
  if (nodeOf(current) !== node) {
    throw refusal(request, `node "${node}" can only update pod status for pods with spec.nodeName set to itself`);
  }
  if (!isSameValue(object.metadata.labels ?? {}, current.metadata.labels ?? {})) {
    throw refusal(request, `node "${node}" cannot update labels through pod status`);
  }
  const [next, before] = [typed("Pod", object).status, typed("Pod", current).status];
  if (!isSameValue(next?.resourceClaimStatuses ?? [], before?.resourceClaimStatuses ?? [])) {
    throw refusal(request, `node "${node}" cannot update resource claim statues`);
  }
  if (!isSameValue(next?.extendedResourceClaimStatus, before?.extendedResourceClaimStatus)) {
    throw refusal(request, `node "${node}" cannot update extended resource claim status`);
  }
}

function restrictEviction({ request, node }: NodeRequest, reader: ResourceReader): void {
  const { operation, name, object } = request;
  if (operation !== "CREATE") throw refusal(request, `unexpected operation ${operation}`);
  const podName = name || object?.metadata.name;
  if (!podName) throw refusal(request, "could not determine pod from request data");
  if (nodeOf(storedPod(request, podName, reader)) !== node) {
    throw refusal(request, `node ${node} can only evict pods with spec.nodeName set to itself`);
  }
}

function storedPod({ namespace }: AdmissionRequest, name: string, reader: ResourceReader): KubeObject {
  const stored = reader.get({ resource: "pods", namespace, name });
  if (stored === undefined) throw missing("pods", name);
  return stored;
}

const nodeOf = (pod: KubeObject) => typed("Pod", pod).spec?.nodeName ?? "";
