import type { HorizontalPodAutoscaler, HPAScalingRules } from "../../../api/gen/types.ts";

const SCALE_UP: HPAScalingRules = {
  stabilizationWindowSeconds: 0,
  selectPolicy: "Max",
  policies: [
    { type: "Pods", value: 4, periodSeconds: 15 },
    { type: "Percent", value: 100, periodSeconds: 15 },
  ],
};
/** The default for scaling down. It has no stabilization window, because that is the controller's own setting. */
const SCALE_DOWN: HPAScalingRules = {
  selectPolicy: "Max",
  policies: [{ type: "Percent", value: 100, periodSeconds: 15 }],
};

/** Sets the fields that the author may leave out, in place. */
export function defaultAutoscaler({ spec }: HorizontalPodAutoscaler): void {
  spec.minReplicas ??= 1;
  if ((spec.metrics ?? []).length === 0) {
    const target = { type: "Utilization", averageUtilization: 80 };
    spec.metrics = [{ type: "Resource", resource: { name: "cpu", target } }];
  }
  if (!spec.behavior) return;
  spec.behavior = {
    scaleUp: structuredClone({ ...SCALE_UP, ...spec.behavior.scaleUp }),
    scaleDown: structuredClone({ ...SCALE_DOWN, ...spec.behavior.scaleDown }),
  };
}
