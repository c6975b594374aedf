import type { Pod } from "../../../api/gen/types.ts";
import { isRestartableInitContainer } from "../../../api/pods.ts";
import { quantityMilliValue } from "../../../api/quantity.ts";
import { computePodRequests } from "../../../api/resources.ts";
import { type MeasuredResource, measuredPodName } from "./pod-measures.ts";

/** What each pod asks for, in thousandths, by its name; or why that cannot be said. */
type RequestedAmounts =
  | { readonly kind: "requests"; readonly requests: ReadonlyMap<string, bigint> }
  | { readonly kind: "failed"; readonly message: string };

/** What pods ask for of a resource, of which their use is a share. Each of them has to ask for some. */
export function computeRequestedAmounts(pods: readonly Pod[], resource: MeasuredResource): RequestedAmounts {
  const requests = new Map<string, bigint>();
  for (const pod of pods) {
    const request =
      resource.container === undefined && hasPodRequests(pod)
        ? requestOfPod(pod, resource.name)
        : requestOfContainers(pod, resource);
    if (typeof request === "string") return { kind: "failed", message: request };
    requests.set(measuredPodName(pod), request);
  }
  return { kind: "requests", requests };
}

function hasPodRequests({ spec }: Pod): boolean {
  const names = Object.keys(spec?.resources?.requests ?? {});
  return names.some((name) => name === "cpu" || name === "memory" || name.startsWith("hugepages-"));
}

/** Returns the amount, or a message. */
function requestOfPod(pod: Pod, resource: string): bigint | string {
  const amount = computePodRequests(pod)[resource];
  if (amount !== undefined) return quantityMilliValue(amount);
  return `missing pod-level request for ${resource} in Pod ${measuredPodName(pod)}`;
}

/** Returns the amount, or a message. Sidecars count as the main containers do. */
function requestOfContainers(pod: Pod, { name, container }: MeasuredResource): bigint | string {
  const { containers = [], initContainers = [] } = pod.spec ?? {};
  const running = [...containers, ...initContainers.filter(isRestartableInitContainer)];
  const counted = container === undefined ? running : running.filter((candidate) => candidate.name === container);
  if (container !== undefined && counted.length === 0)
    return `container ${container} not found in Pod ${measuredPodName(pod)}`;
  let sum = 0n;
  for (const { name: containerName, resources } of counted) {
    const amount = resources?.requests?.[name];
    if (amount === undefined)
      return `missing request for ${name} in container ${containerName} of Pod ${measuredPodName(pod)}`;
    sum += quantityMilliValue(amount);
  }
  return sum;
}
