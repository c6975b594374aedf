import { inSpan, type SpanAttributes, type Tracing } from "../../../base/tracing.ts";
import type { Subject } from "./pod-state.ts";
import { type PodSyncer, referenceOf } from "./pod-syncer.ts";

/**
 * The same syncer, which makes a trace of each work, under upstream's names (pkg/kubelet/kubelet.go): what the work asks
 * of the runtime and of the API server is beneath it. Without tracing it is the syncer itself.
 */
export function traceSyncer(syncer: PodSyncer, tracing: Tracing | undefined): PodSyncer {
  if (tracing === undefined) return syncer;
  const start = (name: string, subject: Subject, more: SpanAttributes = {}) => {
    return { name, isRoot: true, attributes: { ...attributesOf(subject), ...more } };
  };
  return {
    async syncPod(work) {
      const type = { "k8s.pod.update_type": work.updateType ?? "sync" };
      const begin = start("syncPod", { kind: "pod", pod: work.pod }, type);
      return await inSpan(tracing, begin, async () => await syncer.syncPod(work));
    },
    reportPod: syncer.reportPod,
    async syncTerminatingPod(work) {
      const begin = start("syncTerminatingPod", work.subject);
      await inSpan(tracing, begin, async () => await syncer.syncTerminatingPod(work));
    },
    async syncTerminatedPod(work) {
      const begin = start("syncTerminatedPod", work.subject);
      await inSpan(tracing, begin, async () => await syncer.syncTerminatedPod(work));
    },
  };
}

function attributesOf(subject: Subject): SpanAttributes {
  const { uid, name, namespace } = referenceOf(subject);
  return {
    "k8s.pod.uid": uid,
    "k8s.pod": `${namespace}/${name}`,
    "k8s.pod.name": name,
    "k8s.namespace.name": namespace,
  };
}
