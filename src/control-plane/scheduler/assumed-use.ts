import type { Container, Pod } from "../../api/gen/types.ts";
import { type Amounts, computeRequests } from "../../api/pod-requests.ts";

/** What a container is taken to use that does not say so, in order that such pods do not pile up on one node. */
const LITTLE = { cpu: "100m", memory: "200Mi" };

/** What scores take the pod to use: its requests, and a little for each container that asks for nothing. */
export function computeAssumedUse(pod: Pod): Amounts {
  const { spec } = pod;
  if (spec === undefined) return new Map();
  const assuming = (container: Container): Container => {
    return {
      ...container,
      resources: { ...container.resources, requests: { ...LITTLE, ...container.resources?.requests } },
    };
  };
  const { containers, initContainers } = spec;
  return computeRequests({
    ...pod,
    spec: {
      ...spec,
      containers: containers.map(assuming),
      ...(initContainers && { initContainers: initContainers.map(assuming) }),
    },
  });
}
