import { isRecord, type KubeObject, typed } from "../../api/object.ts";
import type { AdmissionPlugin } from "../ports/request.ts";
import type { ResourceReader } from "../ports/resources.ts";
import { writtenObject } from "./refusal.ts";

const LABELS = ["topology.kubernetes.io/zone", "topology.kubernetes.io/region"];

/**
 * A pod gets the zone and region of its node as labels, with the Binding or where it is created for a node, so that its
 * containers can read them (`plugin/pkg/admission/podtopologylabels`). What the author has set stays.
 */
export function createPodTopologyLabels(reader: Pick<ResourceReader, "get">): AdmissionPlugin {
  const withLabelsOf = (object: KubeObject, node: string): KubeObject | undefined => {
    const found = node === "" ? undefined : reader.get({ resource: "nodes", namespace: "", name: node });
    const own = Object.entries(found?.metadata.labels ?? {}).filter(([key]) => LABELS.includes(key));
    if (own.length === 0) return undefined;
    const labels = { ...Object.fromEntries(own), ...object.metadata.labels };
    return { ...object, metadata: { ...object.metadata, labels } };
  };
  return {
    name: "PodTopologyLabels",
    mutate(request) {
      const pod = writtenObject(request, "pods", ["CREATE"]);
      if (pod !== undefined) return withLabelsOf(pod, typed("Pod", pod).spec?.nodeName ?? "");
      const binding = writtenObject(request, "pods/binding", ["CREATE"]);
      return binding && withLabelsOf(binding, nodeOf(binding));
    },
  };
}

/** The node that a Binding names; "" for a target of another kind. */
function nodeOf({ target }: KubeObject): string {
  if (!isRecord(target) || target["kind"] !== "Node" || typeof target["name"] !== "string") return "";
  return target["name"];
}
