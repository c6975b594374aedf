import type { Toleration } from "../../api/gen/types.ts";
import { NODE_TAINTS } from "../../api/node-names.ts";
import { typed, untyped } from "../../api/object.ts";
import type { AdmissionPlugin } from "../ports/request.ts";
import { writtenObject } from "./refusal.ts";

const DEFAULT_SECONDS = 300;

export interface TolerationSecondsOptions {
  /** `--default-not-ready-toleration-seconds`. Default 300. */
  notReadyTolerationSeconds?: number;
  /** `--default-unreachable-toleration-seconds`. Default 300. */
  unreachableTolerationSeconds?: number;
}

/**
 * Lets a pod stay on a node that is not ready or unreachable for five minutes unless the pod says something else
 * (`plugin/pkg/admission/defaulttolerationseconds`).
 */
export function createDefaultTolerationSeconds(options: TolerationSecondsOptions = {}): AdmissionPlugin {
  const wanted: ReadonlyArray<readonly [string, number]> = [
    [NODE_TAINTS.notReady, options.notReadyTolerationSeconds ?? DEFAULT_SECONDS],
    [NODE_TAINTS.unreachable, options.unreachableTolerationSeconds ?? DEFAULT_SECONDS],
  ];
  return {
    name: "DefaultTolerationSeconds",
    mutate(request) {
      const object = writtenObject(request, "pods");
      if (object === undefined) return undefined;
      const pod = typed("Pod", object);
      const { tolerations = [] } = pod.spec ?? {};
      const added = wanted
        .filter(([key]) => !tolerations.some((toleration) => isAbout(toleration, key)))
        .map(([key, seconds]): Toleration => {
          return { key, operator: "Exists", effect: "NoExecute", tolerationSeconds: seconds };
        });
      if (added.length === 0) return undefined;
      const spec = pod.spec ?? { containers: [] };
      return untyped({ ...pod, spec: { ...spec, tolerations: [...tolerations, ...added] } });
    },
  };
}

/**
 * True when the toleration is about the taint, whatever its operator and value: the author has thought of the taint.
 */
function isAbout({ key, effect }: Toleration, taint: string): boolean {
  return (!key || key === taint) && (!effect || effect === "NoExecute");
}
