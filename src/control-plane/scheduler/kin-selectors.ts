import type { OwnerReference } from "../../api/gen/types.ts";
import { typed } from "../../api/object.ts";
import { type LabelSelector, labelSelectorOf } from "../../api/selectors/label-selector.ts";
import { lenientSelectorOf } from "../control-loop/lenient-selector.ts";
import type { ResourceEvent, ResourceReader } from "../ports/resources.ts";
import type { PendingPod } from "./cluster.ts";
import type { Labels } from "./pod-info.ts";

/** Tells by services and controllers which pods are alike. */
interface KinSelectors {
  applyService(event: Pick<ResourceEvent, "type" | "object">): void;
  /** The labels of the pods that are like this one; no requirements where nobody tells. */
  selectorOf(pod: PendingPod): LabelSelector;
}

/** The selectors of services are kept, so that a decision does not pass over all of them. */
export function createKinSelectors(reader: ResourceReader): KinSelectors {
  /** By namespace and name; services that select nothing are left out. */
  const services = new Map<string, Map<string, Labels>>();

  return {
    applyService({ type, object }) {
      const { namespace = "", name = "" } = object.metadata;
      const selector = typed("Service", object).spec?.selector;
      const others = services.get(namespace) ?? new Map<string, Labels>();
      if (type === "DELETED" || selector === undefined) others.delete(name);
      else others.set(name, selector);
      if (others.size === 0) services.delete(namespace);
      else services.set(namespace, others);
    },
    selectorOf({ info: { namespace, labels }, controller }) {
      const selectors = [...(services.get(namespace)?.values() ?? [])];
      const matching = selectors.filter((selector) => lenientSelectorOf({ matchLabels: selector }).matches(labels));
      const matchLabels: Labels = Object.assign({}, ...matching);
      const owned = controller && readOwnSelector(reader, namespace, controller);
      const both = { ...matchLabels, ...owned?.matchLabels };
      const matchExpressions = [...(owned?.matchExpressions ?? [])];
      if (Object.keys(both).length === 0 && matchExpressions.length === 0) return labelSelectorOf(undefined);
      return lenientSelectorOf({ matchLabels: both, matchExpressions });
    },
  };
}

/** The selector of the pod's controller; undefined for kinds whose pods are not meant to be spread. */
function readOwnSelector(reader: ResourceReader, namespace: string, { apiVersion, kind, name }: OwnerReference) {
  switch (`${apiVersion} ${kind}`) {
    case "v1 ReplicationController": {
      const object = reader.get({ resource: "replicationcontrollers", namespace, name });
      const matchLabels = object && typed("ReplicationController", object).spec?.selector;
      return matchLabels && { matchLabels, matchExpressions: [] };
    }
    case "apps/v1 ReplicaSet": {
      const object = reader.get({ resource: "replicasets.apps", namespace, name });
      return object && typed("ReplicaSet", object).spec?.selector;
    }
    case "apps/v1 StatefulSet": {
      const object = reader.get({ resource: "statefulsets.apps", namespace, name });
      return object && typed("StatefulSet", object).spec?.selector;
    }
    default:
      return undefined;
  }
}
