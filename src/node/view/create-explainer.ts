import type { NodeCondition, Pod } from "../../api/gen/types.ts";
import { podReference } from "../../api/pods.ts";
import type { Timeline } from "../../base/timeline.ts";
import { explainNode } from "../../explain/explain-node.ts";
import { explainPod } from "../../explain/explain-pod.ts";
import type { PodHistory } from "../../history/pod-history.ts";
import type { Explainer } from "../server/explain.ts";

interface ExplainerDeps {
  readonly nodeName: string;
  readonly timeline: Pick<Timeline, "read">;
  /** Undefined where no history is kept: the timeline in memory is all that there is. */
  readonly history: Pick<PodHistory, "read"> | undefined;
  pods(): Pod[];
  conditions(): NodeCondition[];
}

/** Makes explanations of what the node knows now and of its history. */
export function createExplainer({ nodeName, timeline, history, pods, conditions }: ExplainerDeps): Explainer {
  return {
    async pod(query) {
      const { namespace, name, since = Number.NEGATIVE_INFINITY } = query;
      const pod = pods().find((candidate) => {
        const reference = podReference(candidate);
        return reference.namespace === namespace && reference.name === name;
      });
      const kept = await history?.read(query);
      const inMemory = pod === undefined ? [] : timeline.read(podReference(pod).uid);
      const records = kept?.records ?? inMemory.filter(({ at }) => at >= since);
      const found = explainPod({ namespace, name, pod, records, gaps: kept?.unread ?? ["no history is kept"] });
      return { ...found, pod: { ...found.pod, node: nodeName } };
    },
    node: () => explainNode({ node: nodeName, conditions: conditions(), pods: pods(), recordsOf: timeline.read }),
  };
}
