import type { Container, Pod, ResourceResourceClaim } from "../../../api/gen/types.ts";
import { podReference } from "../../../api/pods.ts";
import { ClaimError } from "./claim-error.ts";

/** A claim that a pod names. */
interface PodClaim {
  /** The name of the claim's object, in the pod's namespace. */
  readonly claimName: string;
  /** The claim was made of a template for this pod, and must be its own. */
  readonly isOwned: boolean;
}

/** What a container wants of a claim. */
export interface ClaimUse {
  /** `claim:NAME` or `claim:NAME/REQUEST`, as the pod calls it; undefined for extended resources. */
  readonly resourceName: string | undefined;
  readonly claimName: string;
  /** The request whose devices the container gets; undefined: those of all requests. */
  readonly request: string | undefined;
}

/** True for a pod that needs any claim. */
export function usesClaims({ spec, status }: Pod): boolean {
  return (spec?.resourceClaims ?? []).length > 0 || status?.extendedResourceClaimStatus !== undefined;
}

/**
 * The claims of a pod: those that it names, those that were made for it, and the one that stands for its extended
 * resources. Throws a ClaimError where one is not made yet. A claim that was left out on purpose is not listed.
 */
export function listPodClaims(pod: Pod): readonly PodClaim[] {
  const extended = pod.status?.extendedResourceClaimStatus?.resourceClaimName;
  const named = (pod.spec?.resourceClaims ?? []).flatMap((claim) => {
    const claimName = claim.resourceClaimName ?? nameOfMadeClaim(pod, claim.name);
    return claimName === undefined ? [] : [{ claimName, isOwned: claim.resourceClaimName === undefined }];
  });
  return [...named, ...(extended === undefined ? [] : [{ claimName: extended, isOwned: false }])];
}

/** What the container wants of the pod's claims. A claim that is not made yet is left out. */
export function listClaimUses(pod: Pod, container: Container): readonly ClaimUse[] {
  const claimNames = new Map(
    (pod.spec?.resourceClaims ?? []).map(({ name, resourceClaimName }) => [
      name,
      resourceClaimName ?? statusOf(pod, name)?.resourceClaimName,
    ]),
  );
  const named = (container.resources?.claims ?? []).flatMap(({ name, request }) => {
    const claimName = claimNames.get(name);
    const resourceName = request === undefined || request === "" ? `claim:${name}` : `claim:${name}/${request}`;
    return claimName === undefined ? [] : [{ resourceName, claimName, request }];
  });
  const { resourceClaimName = "", requestMappings = [] } = pod.status?.extendedResourceClaimStatus ?? {};
  const requests = container.resources?.requests ?? {};
  const extended = requestMappings
    .filter(({ containerName, resourceName }) => containerName === container.name && Number(requests[resourceName]) > 0)
    .map(({ requestName }) => ({ resourceName: undefined, claimName: resourceClaimName, request: requestName }));
  return [...named, ...extended];
}

/** Throws a ClaimError where the pod may not use the claim, or the claim has no devices yet. */
export function checkClaimOfPod(pod: Pod, { isOwned }: Pick<PodClaim, "isOwned">, claim: ResourceResourceClaim): void {
  const { uid, name, namespace } = podReference(pod);
  const { namespace: claimNamespace = "", name: claimName = "", ownerReferences = [] } = claim.metadata ?? {};
  const place = `ResourceClaim ${claimNamespace}/${claimName}`;
  if (claimNamespace !== namespace) {
    throw new ClaimError(`${place} is not in the same namespace as Pod ${namespace}/${name}`);
  }
  if (isOwned && !ownerReferences.some((owner) => owner.controller === true && owner.uid === uid)) {
    throw new ClaimError(`${place} was not created for Pod ${namespace}/${name} (Pod is not owner)`);
  }
  if (!(claim.status?.reservedFor ?? []).some((consumer) => consumer.uid === uid)) {
    const which = `ResourceClaim ${claimName} (${claim.metadata?.uid})`;
    throw new ClaimError(`pod ${name} (${uid}) is not allowed to use ${which}`);
  }
  if (claim.status?.allocation === undefined) throw new ClaimError(`ResourceClaim ${claimName}: not allocated`);
}

/** Undefined where the claim was left out on purpose. */
function nameOfMadeClaim(pod: Pod, claim: string): string | undefined {
  const status = statusOf(pod, claim);
  if (status !== undefined) return status.resourceClaimName;
  const { name, namespace } = podReference(pod);
  throw new ClaimError(`pod "${namespace}/${name}": ResourceClaim not created yet`);
}

function statusOf(pod: Pod, claim: string) {
  return pod.status?.resourceClaimStatuses?.find(({ name }) => name === claim);
}
