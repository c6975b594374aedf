import { isDeepStrictEqual } from "node:util";
import type { FieldError } from "../../../api/field-error.ts";
import type { Toleration } from "../../../api/gen/types.ts";
import { validateLabels } from "../../../api/validation/metadata.ts";
import { checkDnsLabel } from "../../../api/validation/names.ts";
import { duplicate, invalidEach } from "../../../api/validation/problems.ts";
import { validateResources } from "../../../api/validation/resources.ts";
import { validateTolerations } from "../../../api/validation/scheduling.ts";
import type { ResourceKind } from "../../ports/resource-kind.ts";
import { defineKind } from "../define-kind.ts";
import { immutable } from "../rules/immutable.ts";
import { strategyOf } from "../typed-strategy.ts";

/** Overhead consists of amounts and has no claims. */
const NO_CLAIMS: ReadonlySet<string> = new Set();

const runtimeClassKind = defineKind({
  group: "node.k8s.io",
  kind: "RuntimeClass",
  plural: "runtimeclasses",
  namespaced: false,
  strategy: strategyOf("RuntimeClass", {
    needsResourceVersion: true,
    validate: ({ handler, overhead, scheduling }) => [
      ...invalidEach("handler", handler, checkDnsLabel(handler)),
      ...(overhead?.podFixed ? validateResources("overhead", { limits: overhead.podFixed }, NO_CLAIMS) : []),
      ...validateLabels("scheduling.nodeSelector", scheduling?.nodeSelector),
      ...validateTolerations("scheduling.tolerations", scheduling?.tolerations),
      ...validateNoTwins("scheduling.tolerations", scheduling?.tolerations),
    ],
    validateUpdate: (next, current) => immutable("handler", next.handler, current.handler),
  }),
});

/** A toleration as Go prints it in the message. */
const shown = ({ key = "", operator = "", value = "", effect = "", tolerationSeconds = null }: Shown) => {
  return { Key: key, Operator: operator, Value: value, Effect: effect, TolerationSeconds: tolerationSeconds };
};

type Shown = Omit<Toleration, "tolerationSeconds"> & { tolerationSeconds?: number | null };

function validateNoTwins(path: string, tolerations: readonly Toleration[] = []): FieldError[] {
  return tolerations.flatMap((toleration, index) => {
    const isTwin = tolerations.slice(0, index).some((other) => isDeepStrictEqual(other, toleration));
    return isTwin ? [duplicate(`${path}[${index}]`, shown(toleration))] : [];
  });
}

/** The kinds of node.k8s.io. */
export const NODE_KINDS: readonly ResourceKind[] = [runtimeClassKind];
