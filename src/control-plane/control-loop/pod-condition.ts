import type { Pod, PodCondition } from "../../api/gen/types.ts";

/**
 * The pod with this condition; undefined when the pod says so already, even if for an older generation
 * (`UpdatePodCondition`).
 */
export function withPodCondition(
  pod: Pod,
  wanted: Pick<PodCondition, "type" | "status" | "reason" | "message" | "observedGeneration">,
  now: string,
): Pod | undefined {
  const { conditions = [] } = pod.status ?? {};
  const before = conditions.find(({ type }) => type === wanted.type);
  const isSame =
    before?.status === wanted.status && before.reason === wanted.reason && before.message === wanted.message;
  if (isSame) return undefined;
  const { lastTransitionTime = now } = before?.status === wanted.status ? before : {};
  const condition: PodCondition = { ...before, ...wanted, lastTransitionTime };
  const next =
    before === undefined
      ? [...conditions, condition]
      : conditions.map((other) => (other.type === wanted.type ? condition : other));
  return { ...pod, status: { ...pod.status, conditions: next } };
}

/** The condition with the pod's present generation, to which it applies (KEP-5067). */
export function ofGeneration<Condition extends object>(condition: Condition, { metadata }: Pod) {
  const { generation } = metadata ?? {};
  return { ...condition, ...(generation !== undefined && { observedGeneration: generation }) };
}
