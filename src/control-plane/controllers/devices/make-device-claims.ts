import { isApiError, notFoundError } from "../../../api/api-error.ts";
import type { PodResourceClaim, PodResourceClaimStatus } from "../../../api/gen/types.ts";
import { type KubeObject, type ObjectOf, typed, untyped } from "../../../api/object.ts";
import { messageOf } from "../../../base/errors.ts";
import { DEVICE_CLAIMS, deviceClaimNameOf, readDeviceClaim, whyForeignDevices } from "../../claims/device-claims.ts";
import type { ControllerDeps } from "../../control-loop/controller.ts";
import type { EventRecorder } from "../../control-loop/record-events.ts";

/** Where templates of claims are stored. */
export const CLAIM_TEMPLATES = "resourceclaimtemplates.resource.k8s.io";
/** Says for which entry of its pod a claim was made. */
const ENTRY_ANNOTATION = "resource.kubernetes.io/pod-claim-name";
/** A claim's name has 63 characters at most: these, a hyphen and five random ones. */
const MAX_NAME_BASE = 57;

interface Deps extends Pick<ControllerDeps, "reader" | "writer"> {
  readonly events: EventRecorder;
}

/**
 * Makes the pod's claims that are missing, and says in the pod's status which they are. A claim that was made for the
 * pod before that could be said is found by its owner and annotation. Rejects with an ApiError when a later attempt may
 * succeed; a template that does not exist is waited for.
 */
export async function makeDeviceClaims(deps: Deps, object: KubeObject): Promise<void> {
  const pod = typed("Pod", object);
  const made: PodResourceClaimStatus[] = [];
  for (const entry of pod.spec?.resourceClaims ?? []) {
    try {
      const name = await makeClaim(deps, pod, entry);
      if (name !== undefined) made.push({ name: entry.name, resourceClaimName: name });
    } catch (error) {
      if (!isApiError(error)) throw error;
      const message = `PodResourceClaim ${entry.name}: ${messageOf(error)}`;
      deps.events.record({ about: object, type: "Warning", reason: "FailedResourceClaimCreation", message });
      if (error.reason !== "NotFound") throw error;
    }
  }
  if (made.length === 0) return;
  const names = new Set(made.map(({ name }) => name));
  const others = (pod.status?.resourceClaimStatuses ?? []).filter(({ name }) => !names.has(name));
  const status = { ...pod.status, resourceClaimStatuses: [...others, ...made] };
  await deps.writer.update("pods", untyped({ ...pod, status }), "status");
}

/** The name of the claim of the entry, when the pod's status does not say it yet. */
async function makeClaim(deps: Deps, pod: ObjectOf<"Pod">, entry: PodResourceClaim): Promise<string | undefined> {
  const { reader, writer } = deps;
  const { namespace = "" } = pod.metadata;
  const { resourceClaimTemplateName: template } = entry;
  const said = deviceClaimNameOf(pod, entry);
  if (template === undefined || said.kind === "none") return undefined;
  const claim = said.kind === "named" ? readDeviceClaim(reader, namespace, said.name) : undefined;
  if (claim !== undefined && whyForeignDevices(pod, claim) === undefined) return undefined;
  const orphan = reader
    .list(DEVICE_CLAIMS, namespace)
    .map((object) => typed("ResourceClaim", object))
    .find(({ metadata }) => {
      const isMeant = metadata.annotations?.[ENTRY_ANNOTATION] === entry.name;
      return isMeant && whyForeignDevices(pod, { metadata }) === undefined;
    });
  if (orphan !== undefined) return orphan.metadata.name;
  const found = reader.get({ resource: CLAIM_TEMPLATES, namespace, name: template });
  if (found === undefined)
    throw notFoundError({ group: "resource.k8s.io", resource: "resourceclaimtemplates" }, template);
  return (await writer.create(DEVICE_CLAIMS, claimFrom(typed("ResourceClaimTemplate", found), pod, entry))).metadata
    .name;
}

function claimFrom(
  { spec: { metadata = {}, spec } }: ObjectOf<"ResourceClaimTemplate">,
  { metadata: pod }: ObjectOf<"Pod">,
  entry: PodResourceClaim,
): KubeObject {
  const { name = "", namespace = "", uid = "" } = pod;
  const { labels, annotations } = metadata;
  return untyped({
    apiVersion: "resource.k8s.io/v1",
    kind: "ResourceClaim",
    metadata: {
      generateName: generatedNameBase(name, entry.name),
      namespace,
      ...(labels && { labels }),
      annotations: { ...annotations, [ENTRY_ANNOTATION]: entry.name },
      ownerReferences: [{ apiVersion: "v1", kind: "Pod", name, uid, controller: true }],
    },
    spec,
  });
}

/** Both names shortened in proportion, so that something is left of each. */
function generatedNameBase(pod: string, entry: string): string {
  const whole = `${pod}-${entry}-`;
  if (whole.length <= MAX_NAME_BASE) return whole;
  const part = (name: string) => name.slice(0, Math.floor((name.length * MAX_NAME_BASE) / whole.length));
  return `${part(pod)}-${part(entry)}`;
}
