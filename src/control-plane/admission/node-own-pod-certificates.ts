import { internalError } from "../../api/api-error.ts";
import type { PodCertificateRequestSpec } from "../../api/gen/types.ts";
import { type KubeObject, typed } from "../../api/object.ts";
import type { NodeRequest, NodeRestrictionDeps } from "./node-request.ts";
import { refusal } from "./refusal.ts";

const MIRROR_ANNOTATION = "kubernetes.io/config.mirror";

type Reader = NodeRestrictionDeps["reader"];

const quoted = (text: string) => JSON.stringify(text);

/**
 * Lets a node ask for the certificates of pods that run on it, as the service accounts that they run as. A signer can
 * believe what the request says of pod, account and node. What may be another moment's truth, such as a UID, is answered
 * with an error after which the node tries again.
 */
export function restrictPodCertificateRequest(from: NodeRequest, { reader }: { reader: Reader }): void {
  const { request, node } = from;
  if (request.operation !== "CREATE" || request.object === undefined) throw refusal(request, "unexpected operation");
  if (request.subresource !== "") throw refusal(request, `unexpected subresource ${request.subresource}`);
  const { spec } = typed("PodCertificateRequest", request.object);
  if (spec.nodeName !== node) {
    const detail = `which is not the requesting node ${quoted(node)}`;
    throw refusal(request, `PodCertificateRequest.Spec.NodeName=${quoted(spec.nodeName)}, ${detail}`);
  }
  const place = quoted(`${request.namespace}/${spec.podName}`);
  checkNodeUid(reader, spec, place);
  const { serviceAccountName = "" } = checkPod(from, { reader, spec, place });
  if (spec.serviceAccountName !== serviceAccountName) {
    const asked = `contains serviceAccountName (${quoted(spec.serviceAccountName)})`;
    const detail = `${asked} that differs from running pod (${quoted(serviceAccountName)})`;
    throw refusal(request, `PodCertificateRequest for pod ${place} ${detail}`);
  }
  checkAccountUid(reader, { namespace: request.namespace, spec, place });
}

function checkNodeUid(reader: Reader, { nodeName, nodeUID }: PodCertificateRequestSpec, place: string): void {
  const found = reader.get({ resource: "nodes", namespace: "", name: nodeName });
  if (found === undefined) throw notThere("node", quoted(nodeName), nodeName);
  const uid = found.metadata.uid ?? "";
  if (uid === nodeUID) return;
  const detail = `names node UID ${quoted(nodeUID)}, inconsistent with the running node (${quoted(uid)})`;
  throw internalError(`PodCertificateRequest for pod ${place} ${detail}`);
}

interface Asked {
  readonly reader: Reader;
  readonly spec: PodCertificateRequestSpec;
  readonly place: string;
}

/** Returns the spec of the pod that the request is for. */
function checkPod({ request }: NodeRequest, { reader, spec, place }: Asked): { serviceAccountName?: string } {
  const found = reader.get({ resource: "pods", namespace: request.namespace, name: spec.podName });
  if (found === undefined) throw notThere("pod", place, spec.podName);
  const uid = found.metadata.uid ?? "";
  if (uid !== spec.podUID) {
    const detail = `contains pod UID (${quoted(spec.podUID)}) which differs from running pod ${quoted(uid)}`;
    throw internalError(`PodCertificateRequest for pod ${place} ${detail}`);
  }
  const pod = typed("Pod", found);
  if (pod.spec?.nodeName !== spec.nodeName) {
    const detail = `is not running on node ${quoted(spec.nodeName)} named in the PodCertificateRequest`;
    throw refusal(request, `pod ${place} ${detail}`);
  }
  if (isMirror(found)) throw refusal(request, `pod ${place} is a mirror pod`);
  return pod.spec;
}

const isMirror = ({ metadata }: KubeObject) => metadata.annotations?.[MIRROR_ANNOTATION] !== undefined;

function checkAccountUid(
  reader: Reader,
  { namespace, spec, place }: { namespace: string; spec: PodCertificateRequestSpec; place: string },
): void {
  const name = spec.serviceAccountName;
  const found = reader.get({ resource: "serviceaccounts", namespace, name });
  if (found === undefined) throw notThere("service account", quoted(`${namespace}/${name}`), name);
  const uid = found.metadata.uid ?? "";
  if (uid === spec.serviceAccountUID) return;
  const asked = `names service account UID ${quoted(spec.serviceAccountUID)}`;
  const detail = `${asked}, which differs from the running service account (${quoted(uid)})`;
  throw internalError(`PodCertificateRequest for pod ${place} ${detail}`);
}

function notThere(kind: string, shown: string, name: string) {
  const resource = kind.replace(" ", "");
  return internalError(
    `while retrieving ${kind} ${shown} named in the PodCertificateRequest: ${resource} ${quoted(name)} not found`,
  );
}
