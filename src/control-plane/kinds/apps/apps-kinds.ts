import { isRecord } from "../../../api/object.ts";
import { notNegative, required } from "../../../api/validation/problems.ts";
import type { ResourceKind } from "../../ports/resource-kind.ts";
import { defineKind } from "../define-kind.ts";
import { immutable } from "../rules/immutable.ts";
import { strategyOf } from "../typed-strategy.ts";
import { daemonSetKind } from "./daemon-set.ts";
import { deploymentKind } from "./deployment.ts";
import { replicaSetKind } from "./replica-set.ts";
import { statefulSetKind } from "./stateful-set.ts";

const controllerRevisionKind = defineKind({
  group: "apps",
  kind: "ControllerRevision",
  plural: "controllerrevisions",
  strategy: strategyOf("ControllerRevision", {
    validate: ({ data, revision }) => [
      ...(data === undefined || data === null ? [required("data", "data is mandatory")] : []),
      ...(isRecord(data ?? {}) ? [] : [required("data", "data must be a valid JSON object")]),
      ...notNegative("revision", revision),
    ],
    validateUpdate: (next, current) => immutable("data", next.data, current.data),
  }),
});

/** The kinds of workloads. */
export const APPS_KINDS: readonly ResourceKind[] = [
  controllerRevisionKind,
  daemonSetKind,
  deploymentKind,
  replicaSetKind,
  statefulSetKind,
];
