import { type KubeObject, typed, untyped } from "../../../api/object.ts";
import { defineKind } from "../define-kind.ts";
import { proxySubresource, statusSubresource } from "../subresource.ts";
import { validateNode, validateNodeUpdate } from "./node-validation.ts";

/** Nodes. */
export const nodeKind = defineKind({
  kind: "Node",
  plural: "nodes",
  shortNames: ["no"],
  namespaced: false,
  strategy: {
    default: defaultNode,
    validate: validateNode,
    validateUpdate: validateNodeUpdate,
    fields: { "spec.unschedulable": (object) => String(typed("Node", object).spec?.unschedulable ?? false) },
  },
  subresources: [statusSubresource("Node", validateNodeUpdate), proxySubresource("NodeProxyOptions")],
});

/**
 * Sets the defaults of a node. All of its capacity is allocatable unless it says otherwise. Of the two fields for the
 * pod range, the old one decides where they differ.
 */
function defaultNode(object: KubeObject): KubeObject {
  const node = typed("Node", object);
  const { spec = {}, status = {} } = node;
  const [first = ""] = spec.podCIDRs ?? [];
  const { podCIDR = first } = spec;
  const podCIDRs = podCIDR === first ? spec.podCIDRs : [podCIDR];
  return untyped({
    ...node,
    spec: { ...spec, ...(podCIDRs && { podCIDRs }), ...(podCIDR && { podCIDR }) },
    status: { ...status, ...(status.capacity && !status.allocatable && { allocatable: status.capacity }) },
  });
}
