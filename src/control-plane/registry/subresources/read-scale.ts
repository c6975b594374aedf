import type { KubeObject } from "../../../api/object.ts";
import type { ResourceReader } from "../../ports/resources.ts";
import type { ReadScale } from "../../workloads/disruption/expected-pods.ts";
import { controllerRefOf } from "../../workloads/pod-control/controller-ref.ts";
import { type KindTable, resolveKind } from "../kind-table.ts";
import { replicasOf, scalePathsOfKind } from "./scale.ts";

type Reference = Parameters<ReadScale>[0];

/** Reads how many replicas a pod's controller is to have: any object of a kind with the subresource `scale`. */
export function createScaleReader(
  kinds: Pick<KindTable, "all" | "stored">,
  reader: Pick<ResourceReader, "get">,
): ReadScale {
  const find = ({ apiVersion, kind, name, uid }: Reference, namespace: string): KubeObject | undefined => {
    const { resource = "" } = resolveKind(kinds, apiVersion, kind) ?? {};
    const object = reader.get({ resource, namespace, name });
    return object?.metadata.uid === uid ? object : undefined;
  };
  return (reference, namespace) => {
    const { apiVersion, kind } = reference;
    const resolved = resolveKind(kinds, apiVersion, kind);
    const row = resolved && kinds.stored(resolved.resource);
    if (resolved === undefined || row === undefined) {
      return { kind: "unscalable", message: `no matches for kind "${kind}" in version "${apiVersion}"` };
    }
    const paths = scalePathsOfKind(row);
    if (paths === undefined) {
      return { kind: "unscalable", message: `${resolved.resource} does not implement the scale subresource` };
    }
    const object = find(reference, namespace);
    if (object === undefined) return { kind: "gone" };
    // The size of a deployment is what counts, and not how it is divided among its sets at the moment.
    const controller = kind === "ReplicaSet" ? controllerRefOf(object) : undefined;
    const deployment = controller?.kind === "Deployment" ? find(controller, namespace) : undefined;
    if (controller?.kind === "Deployment" && deployment === undefined) return { kind: "gone" };
    const scaled = deployment ?? object;
    return { kind: "scale", uid: scaled.metadata.uid ?? "", replicas: replicasOf(scaled, paths) };
  };
}
