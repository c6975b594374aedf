import { parseFieldSelector } from "../../api/selectors/field-selector.ts";
import type { AccessAttributes, AccessDecision, Authorize, ResourceAccess } from "../ports/request.ts";
import type { ResourceFeed } from "../ports/resources.ts";
import { nodeNameOfUser } from "../ports/user.ts";
import { createNodeGraph, type NodeGraph, type OfOneNode, type Related } from "./node-graph.ts";
import { NODE_RULES } from "./node-rules.ts";
import { rulesAllow } from "./rule-match.ts";

const LEASE_NAMESPACE = "kube-node-lease";
const ALLOWED: AccessDecision = { allowed: true, reason: "" };
const NO_OPINION: AccessDecision = { allowed: false, reason: "" };
const deny = (reason: string): AccessDecision => ({ allowed: false, reason });

interface NodeRequest {
  readonly node: string;
  readonly access: ResourceAccess;
  readonly graph: NodeGraph;
}

/** Decides for users of `system:nodes`, and has no opinion about other users. */
interface NodeAuthorizer {
  readonly authorize: Authorize;
  close(): void;
}

/**
 * Lets a node read the objects that its pods refer to, lets it write its own objects, and applies the rules of
 * `system:node` to everything else. NodeRestriction (in admission) checks whose object a node writes, because this
 * depends on the content.
 */
export function createNodeAuthorizer(feed: ResourceFeed): NodeAuthorizer {
  const graph = createNodeGraph(feed);
  return {
    authorize: (attributes) => decide(graph, attributes),
    close: () => graph.close(),
  };
}

function decide(graph: NodeGraph, attributes: AccessAttributes): AccessDecision {
  const node = nodeNameOfUser(attributes.user);
  if (node === undefined) return NO_OPINION;
  if (node === "") return deny(`unknown node for user "${attributes.user.username}"`);
  if (!("path" in attributes)) {
    const { group, resource } = attributes;
    const rule = SUBDIVIDED.get(group === "" ? resource : `${resource}.${group}`);
    if (rule !== undefined) return rule({ node, access: attributes, graph });
  }
  return rulesAllow(NODE_RULES, attributes) ? ALLOWED : NO_OPINION;
}

/** The resources to which a node's access depends on the object; by plural and group. */
const SUBDIVIDED = new Map<string, (request: NodeRequest) => AccessDecision>(
  Object.entries({
    secrets: (request) => decideRead(request, "secret"),
    configmaps: (request) => decideRead(request, "configmap"),
    persistentvolumeclaims: (request) => {
      const kind = "persistentvolumeclaim";
      return request.access.subresource === "status" ? decideStatus(request, kind) : decideGet(request, kind);
    },
    persistentvolumes: (request) => decideGet(request, "persistentvolume"),
    "volumeattachments.storage.k8s.io": (request) => decideGet(request, "volumeattachment"),
    serviceaccounts: decideServiceAccount,
    "leases.coordination.k8s.io": decideLease,
    "csinodes.storage.k8s.io": decideCsiNode,
    "resourceslices.resource.k8s.io": decideResourceSlice,
    "resourceclaims.resource.k8s.io": (request) => decideGet(request, "resourceclaim"),
    "podcertificaterequests.certificates.k8s.io": decidePodCertificateRequest,
    nodes: decideNode,
    pods: decidePod,
  }),
);

const unrelated = (node: string) => `no relationship found between node '${node}' and this object`;

function decideRelated({ node, access, graph }: NodeRequest, kind: Related | OfOneNode): AccessDecision {
  if (access.name === "") return deny("No Object name found");
  return graph.isRelated(node, kind, access.namespace, access.name) ? ALLOWED : deny(unrelated(node));
}

/** Decides about the reading of one object. A kubelet watches each secret and config map by its name. */
function decideRead(request: NodeRequest, kind: Related): AccessDecision {
  const { verb, subresource, namespace } = request.access;
  if (!["get", "list", "watch"].includes(verb)) return deny("can only read resources of this type");
  if (subresource !== "") return deny("cannot read subresource");
  if (namespace === "") return deny("can only read namespaced object of this type");
  return decideRelated(request, kind);
}

function decideGet(request: NodeRequest, kind: Related | OfOneNode): AccessDecision {
  const { verb, subresource } = request.access;
  if (verb !== "get") return deny("can only get individual resources of this type");
  if (subresource !== "") return deny("cannot get subresource");
  return decideRelated(request, kind);
}

function decideStatus(request: NodeRequest, kind: Related): AccessDecision {
  if (!["update", "patch"].includes(request.access.verb)) return deny("can only get/update/patch this type");
  return decideRelated(request, kind);
}

function decideServiceAccount(request: NodeRequest): AccessDecision {
  const { verb, subresource, name } = request.access;
  if (verb === "get" && subresource === "" && name !== "") return decideRelated(request, "serviceaccount");
  if (verb !== "create" || name === "") return deny("can only create tokens for individual service accounts");
  if (subresource !== "token") return deny("can only create token subresource of serviceaccount");
  return decideRelated(request, "serviceaccount");
}

/**
 * True for an object of the node's name. The name is not known yet when the object is created; NodeRestriction checks
 * it then.
 */
const isOwn = ({ node, access }: NodeRequest) => access.verb === "create" || access.name === node;
const OWN_VERBS = ["get", "create", "update", "patch", "delete"];

function decideLease(request: NodeRequest): AccessDecision {
  const { verb, namespace } = request.access;
  if (!OWN_VERBS.includes(verb)) return deny("can only get, create, update, patch, or delete a node lease");
  if (namespace !== LEASE_NAMESPACE) return deny(`can only access leases in the "${LEASE_NAMESPACE}" system namespace`);
  return isOwn(request) ? ALLOWED : deny("can only access node lease with the same name as the requesting node");
}

function decideCsiNode(request: NodeRequest): AccessDecision {
  const { verb, subresource } = request.access;
  if (!OWN_VERBS.includes(verb)) return deny("can only get, create, update, patch, or delete a CSINode");
  if (subresource !== "") return deny("cannot authorize CSINode subresources");
  return isOwn(request) ? ALLOWED : deny("can only access CSINode with the same name as the requesting node");
}

/** A node has to do with its own slices only. NodeRestriction checks for whom one is created. */
function decideResourceSlice(request: NodeRequest): AccessDecision {
  const { node, access } = request;
  if (access.subresource !== "") return deny("cannot authorize ResourceSlice subresources");
  if (access.verb === "create") return ALLOWED;
  if (["get", "update", "patch", "delete"].includes(access.verb)) return decideRelated(request, "resourceslice");
  if (!["list", "watch", "deletecollection"].includes(access.verb)) {
    const verbs = "get, watch, list, create, update, patch, delete, deletecollection";
    return deny(`only the following verbs are allowed for a ResourceSlice: ${verbs}`);
  }
  return selects(access.fieldSelector, "spec.nodeName", node)
    ? ALLOWED
    : deny("can only list/watch/deletecollection resourceslices with nodeName field selector");
}

/** A node has to do with the requests that name it. NodeRestriction checks for which pod one is created. */
function decidePodCertificateRequest(request: NodeRequest): AccessDecision {
  const { node, access } = request;
  if (access.subresource !== "") return deny("nodes may not access subresources of podcertificaterequests");
  if (access.verb === "create") return ALLOWED;
  if (access.verb === "get") return decideRelated(request, "podcertificaterequest");
  if (access.verb !== "list" && access.verb !== "watch") {
    return deny("nodes may only create, get, list, and watch podcertificaterequests");
  }
  return selects(access.fieldSelector, "spec.nodeName", node)
    ? ALLOWED
    : deny(`can only list/watch podcertificaterequests with field selector spec.nodeName=${node}`);
}

function decideNode({ node, access: { verb, subresource, name } }: NodeRequest): AccessDecision {
  if (subresource === "status") return ["update", "patch"].includes(verb) ? ALLOWED : NO_OPINION;
  if (subresource !== "") return NO_OPINION;
  if (["create", "update", "patch"].includes(verb)) return ALLOWED;
  if (!["get", "list", "watch"].includes(verb)) return NO_OPINION;
  if (name === node) return ALLOWED;
  return deny(
    name === ""
      ? `node '${node}' cannot read all nodes, only its own Node object`
      : `node '${node}' cannot read '${name}', only its own Node object`,
  );
}

function decidePod(request: NodeRequest): AccessDecision {
  const { verb, subresource, name, fieldSelector } = request.access;
  if (subresource === "status") return ["update", "patch"].includes(verb) ? ALLOWED : NO_OPINION;
  if (subresource === "eviction") return verb === "create" ? ALLOWED : NO_OPINION;
  if (subresource !== "") return NO_OPINION;
  if (verb === "get") return decideGet(request, "pod");
  // A node creates and deletes mirror pods.
  if (verb === "create" || verb === "delete") return ALLOWED;
  if (verb !== "list" && verb !== "watch") return NO_OPINION;
  if (selects(fieldSelector, "spec.nodeName", request.node)) return ALLOWED;
  if (name !== "") return decideRelated(request, "pod");
  return deny("can only list/watch pods with spec.nodeName field selector");
}

/**
 * True when the selector requires that the field has the value. The text is read as whoever selects by it reads it: a
 * value may hold an escaped comma, and then looks like several requirements.
 */
function selects(selector: string | undefined, field: string, value: string): boolean {
  try {
    return parseFieldSelector(selector ?? "").requirements.some((requirement) => {
      return requirement.field === field && requirement.operator === "=" && requirement.value === value;
    });
  } catch {
    return false;
  }
}
