import type { Taint, Toleration } from "./gen/types.ts";
import { parseInteger } from "./selectors/integer.ts";

/** True where a pod with this toleration may be on a node with this taint (`core/v1/toleration.go`). */
export function tolerates(toleration: Toleration, taint: Taint): boolean {
  const { key = "", operator = "", value = "", effect = "" } = toleration;
  if (effect !== "" && effect !== taint.effect) return false;
  if (key !== "" && key !== taint.key) return false;
  switch (operator) {
    case "":
    case "Equal":
      return value === (taint.value ?? "");
    case "Exists":
      return true;
    case "Gt":
    case "Lt":
      return isOrdered(operator, taint.value ?? "", value);
    default:
      return false;
  }
}

/** Returns the first taint that no toleration tolerates; undefined when all are tolerated. */
export function findUntolerated(
  taints: readonly Taint[],
  tolerations: readonly Toleration[],
  effects: readonly string[],
): Taint | undefined {
  return taints.find((taint) => {
    return effects.includes(taint.effect) && !tolerations.some((toleration) => tolerates(toleration, taint));
  });
}

/** Compares the values as integers; a value that is no integer is in no order. */
function isOrdered(operator: "Gt" | "Lt", taint: string, toleration: string): boolean {
  const [left, right] = [parseInteger(taint), parseInteger(toleration)];
  if (left === undefined || right === undefined) return false;
  return operator === "Gt" ? left > right : left < right;
}
