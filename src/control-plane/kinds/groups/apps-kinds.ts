import { isRecord } from "../../../api/object.ts";
import { notNegative, required } from "../../../api/validation/problems.ts";
import type { ResourceKind } from "../../ports/resource-kind.ts";
import { immutable } from "../core/immutable.ts";
import { defineKind } from "../define-kind.ts";
import { DAEMON_SETS } from "./daemon-set.ts";
import { DEPLOYMENTS } from "./deployment.ts";
import { REPLICA_SETS } from "./replica-set.ts";
import { STATEFUL_SETS } from "./stateful-set.ts";
import { strategyOf } from "./typed-strategy.ts";

const CONTROLLER_REVISIONS = defineKind({
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

/** Workloads: stored, and left to whoever runs their controllers. */
export const APPS_KINDS: readonly ResourceKind[] = [
  CONTROLLER_REVISIONS,
  DAEMON_SETS,
  DEPLOYMENTS,
  REPLICA_SETS,
  STATEFUL_SETS,
];
