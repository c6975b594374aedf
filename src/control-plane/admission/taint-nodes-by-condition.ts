import { NODE_TAINTS } from "../../api/node-names.ts";
import { typed, untyped } from "../../api/object.ts";
import type { AdmissionPlugin } from "../ports/request.ts";
import { writtenObject } from "./refusal.ts";

const NOT_READY = { key: NODE_TAINTS.notReady, effect: "NoSchedule" } as const;

/**
 * Taints a new node as not ready, so that no pod is placed on it before it has reported its conditions. The controller
 * that watches the conditions removes the taint (`plugin/pkg/admission/nodetaint`).
 */
export function createTaintNodesByCondition(): AdmissionPlugin {
  return {
    name: "TaintNodesByCondition",
    mutate(request) {
      const object = writtenObject(request, "nodes", ["CREATE"]);
      if (object === undefined) return undefined;
      const node = typed("Node", object);
      const taints = node.spec?.taints ?? [];
      if (taints.some(({ key, effect }) => key === NOT_READY.key && effect === NOT_READY.effect)) return undefined;
      return untyped({ ...node, spec: { ...node.spec, taints: [...taints, { ...NOT_READY }] } });
    },
  };
}
