import type { Pod } from "../api/gen/types.ts";
import { encodeProtobufMessage } from "../api/protobuf/encode-protobuf.ts";
import { CodedError } from "../base/errors.ts";
import { implement, type ServedService } from "../grpc/served-service.ts";
import { EventType, PodsDefinition } from "./gen/pods-v1alpha1.ts";
import type { NodePods, PodChange } from "./port.ts";

interface PodsApiDeps {
  readonly pods: NodePods;
  /** False where there have been too many calls lately; watches are not counted, as upstream. */
  mayCall(): boolean;
}

const POD = { apiVersion: "v1", kind: "Pod" };
const TYPES = {
  added: EventType.ADDED,
  modified: EventType.MODIFIED,
  deleted: EventType.DELETED,
  synced: EventType.INITIAL_SYNC_COMPLETE,
};

/** Upstream's API of a node's pods (pkg/kubelet/apis/pods). */
export function servePodsApi({ pods, mayCall }: PodsApiDeps): ServedService {
  // Watchers are told of the same change with the same bytes.
  const encoded = new WeakMap<Pod, Buffer>();
  const encode = (pod: Pod): Buffer => {
    const bytes = encoded.get(pod) ?? encodePod(pod);
    encoded.set(pod, bytes);
    return bytes;
  };
  const begin = () => {
    if (!mayCall()) throw new CodedError("resource-exhausted", "rejected by rate limit");
  };
  return implement(PodsDefinition, {
    async *watchPods(_request, { signal }) {
      for await (const change of pods.watch(signal)) yield writeChange(change, encode);
    },
    listPods() {
      begin();
      return { pods: pods.list().map(encodePod) };
    },
    getPod({ podUID }) {
      begin();
      const pod = pods.get(podUID);
      if (pod === undefined) throw new CodedError("not-found", `pod with UID ${podUID} not found`);
      return { pod: encodePod(pod) };
    },
  });
}

function encodePod(pod: Pod): Buffer {
  return encodeProtobufMessage(POD, { ...pod });
}

function writeChange(change: PodChange, encode: (pod: Pod) => Buffer) {
  const none = Buffer.alloc(0);
  return { type: TYPES[change.type], pod: change.type === "synced" ? none : encode(change.pod) };
}
