import type { Effect, FieldTable } from "./codec.ts";
import { FEATURE_GATES, type FeatureGate } from "./feature-gate-table.ts";
import { GATES_IN_USE } from "./feature-gates.ts";
import { KUBELET_CONFIGURATION_FIELDS } from "./kubelet-configuration.ts";
import { PROCESS_FLAGS } from "./process-flags.ts";

/** A setting that is accepted and does nothing. `later`: it is to get its effect; `ignored`: it never will. */
interface WithoutEffect {
  readonly name: string;
  readonly effect: Exclude<Effect, "works">;
}

/** Fields of KubeletConfiguration, each by its path: `memorySwap.swapBehavior`. A flag that sets one is as it is. */
export const FIELDS_WITHOUT_EFFECT: readonly WithoutEffect[] = listFields(KUBELET_CONFIGURATION_FIELDS, "");

/** Flags that set no field, without their dashes. */
export const FLAGS_WITHOUT_EFFECT: readonly WithoutEffect[] = PROCESS_FLAGS.flatMap(({ name, effect }) =>
  effect === "works" ? [] : [{ name, effect }],
);

/** Feature gates that Kubernetes has still, and on which nothing depends here. */
export const GATES_WITHOUT_EFFECT: readonly string[] = Object.entries<FeatureGate>(FEATURE_GATES)
  .filter(([, { stage }]) => stage !== "REMOVED")
  .map(([name]) => name)
  .filter((name) => !GATES_IN_USE.some((used) => used === name));

function listFields(table: FieldTable, prefix: string): WithoutEffect[] {
  return Object.entries(table).flatMap(([name, { codec, effect }]) => {
    const path = `${prefix}${name}`;
    if (codec.fields !== undefined) return listFields(codec.fields, `${path}.`);
    return effect === "works" ? [] : [{ name: path, effect }];
  });
}
