import { asDriverVolume, cloudDriverOf } from "../../api/cloud-volumes.ts";
import type { Pod } from "../../api/gen/types.ts";
import { isRecord, typed } from "../../api/object.ts";
import type { ResourceReader } from "../ports/resources.ts";
import type { NodeRequest, NodeRestrictionDeps } from "./node-request.ts";
import { missing, refusal } from "./refusal.ts";

type TokenDeps = Pick<NodeRestrictionDeps, "reader" | "authorize" | "apiAudiences">;

/** Lets a node request tokens that are bound to a pod on it, for an audience that the pod needs. */
export function restrictToken(from: NodeRequest, deps: TokenDeps): void {
  const { request, node } = from;
  if (request.operation !== "CREATE" || request.subresource !== "token") return;
  const spec = fieldsOf(request.object?.["spec"]);
  const { apiVersion, kind, name, uid } = fieldsOf(spec["boundObjectRef"]);
  if (apiVersion !== "v1" || kind !== "Pod" || typeof name !== "string" || name === "") {
    throw refusal(request, "node requested token not bound to a pod");
  }
  if (!uid) throw refusal(request, "node requested token with a pod binding without a uid");
  const stored = deps.reader.get({ resource: "pods", namespace: request.namespace, name });
  if (stored === undefined) throw missing("pods", name);
  if (uid !== stored.metadata.uid) {
    throw refusal(
      request,
      `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`,
    );
  }
  const pod = typed("Pod", stored);
  if (pod.spec?.nodeName !== node) {
    throw refusal(request, "node requested token bound to a pod scheduled on a different node");
  }
  restrictAudience(from, { pod, audiences: stringsOf(spec["audiences"]) }, deps);
}

function restrictAudience(
  { request }: NodeRequest,
  { pod, audiences }: { pod: Pod; audiences: readonly string[] },
  { reader, authorize, apiAudiences }: TokenDeps,
): void {
  if (audiences.length > 1) throw refusal(request, "node may only request 0 or 1 audiences");
  const [audience = ""] = audiences;
  const known = audiencesOf(pod, reader);
  // No audience means the API server's own.
  const isDefault = audience === "" || apiAudiences.includes(audience);
  if (known.has(audience) || (isDefault && known.has(""))) return;
  const { user, namespace, name } = request;
  const verb = "request-serviceaccounts-token-audience";
  const target = { group: "", version: "v1", resource: audience, subresource: "", namespace, name };
  if (authorize({ user, verb, ...target }).allowed) return;
  throw refusal(
    request,
    `audience "${audience}" not found in pod spec volume, ${user.username} is not authorized to request tokens for this audience`,
  );
}

/** The audiences of the pod's projected tokens ("" where none is given) and of the CSI drivers of its volumes. */
function audiencesOf(pod: Pod, reader: ResourceReader): ReadonlySet<string> {
  const audiences = new Set<string>();
  const { namespace = "", name = "" } = pod.metadata ?? {};
  for (const volume of pod.spec?.volumes ?? []) {
    for (const { serviceAccountToken } of volume.projected?.sources ?? []) {
      if (serviceAccountToken) audiences.add(serviceAccountToken.audience ?? "");
    }
    const claim = volume.ephemeral ? `${name}-${volume.name}` : volume.persistentVolumeClaim?.claimName;
    const inline = volume.csi?.driver ?? cloudDriverOf(volume);
    const driver = inline ?? (claim === undefined ? undefined : driverOfClaim(reader, namespace, claim));
    if (driver !== undefined) for (const audience of audiencesOfDriver(reader, driver)) audiences.add(audience);
  }
  return audiences;
}

function driverOfClaim(reader: ResourceReader, namespace: string, name: string): string | undefined {
  const claim = reader.get({ resource: "persistentvolumeclaims", namespace, name });
  const volumeName = claim && typed("PersistentVolumeClaim", claim).spec?.volumeName;
  if (!volumeName) return undefined;
  const volume = reader.get({ resource: "persistentvolumes", namespace: "", name: volumeName });
  return volume && asDriverVolume(typed("PersistentVolume", volume)).spec?.csi?.driver;
}

function audiencesOfDriver(reader: ResourceReader, name: string): string[] {
  const driver = reader.get({ resource: "csidrivers.storage.k8s.io", namespace: "", name });
  const requests = fieldsOf(driver?.["spec"])["tokenRequests"];
  if (!Array.isArray(requests)) return [];
  return requests.flatMap((request) => stringsOf([fieldsOf(request)["audience"] ?? ""]));
}

const fieldsOf = (value: unknown): Record<string, unknown> => (isRecord(value) ? value : {});

function stringsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}
