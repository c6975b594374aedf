import type { ExpressionWarning, ValidatingAdmissionPolicy } from "../../../api/gen/types.ts";
import { apiVersionOf, typed, untyped } from "../../../api/object.ts";
import { sleep } from "../../../base/abort.ts";
import {
  type CheckedKind,
  checkPolicyTypes,
  expressionWarnings,
  type TypeProblem,
} from "../../cel/policies/check-types.ts";
import type { CelType } from "../../cel/types.ts";
import { type Controller, type ControllerDeps, runFollowing, unlessOvertaken } from "../../control-loop/controller.ts";
import { createWorkQueue } from "../../control-loop/work-queue.ts";
import type { ResourceKind } from "../../ports/resource-kind.ts";
import { kindsOfPolicy } from "./kinds-of-policy.ts";

const RESOURCE = "validatingadmissionpolicies.admissionregistration.k8s.io";

interface PolicyStatusDeps extends ControllerDeps {
  /** The kinds that are served now. */
  kinds(): readonly ResourceKind[];
  /** What expressions know of a kind's objects; undefined where there is no schema. */
  typeOf(kind: ResourceKind): CelType | undefined;
}

/** The warnings of a status have no more text than this; what is left out is told in a last one. */
const MAX_WARNINGS_LENGTH = 128 * 1024;

/**
 * Checks the expressions of each policy once for each of its generations against the kinds that it is about, and writes
 * what does not fit into its status. Nothing depends on that but its author: the policy is in force all the same
 * (`pkg/controller/validatingadmissionpolicystatus`).
 */
export function createPolicyStatus(deps: PolicyStatusDeps): Controller {
  const { reader, writer, feed } = deps;
  const queue = createWorkQueue(deps, {
    name: "validatingadmissionpolicy-status",
    async reconcile(name) {
      const found = reader.get({ resource: RESOURCE, namespace: "", name });
      if (found === undefined) return undefined;
      const policy = typed("ValidatingAdmissionPolicy", found);
      const { generation = 0 } = policy.metadata ?? {};
      if (generation <= (policy.status?.observedGeneration ?? 0)) return undefined;
      const warnings = await checkedWarnings(deps, policy);
      const typeChecking = warnings.length > 0 ? { expressionWarnings: warnings } : {};
      const status = { ...policy.status, observedGeneration: generation, typeChecking };
      await unlessOvertaken(writer.update(RESOURCE, untyped({ ...policy, status }), "status"));
      return undefined;
    },
  });
  const follow = () => [
    feed.follow(RESOURCE, ({ type, object }) => {
      if (type !== "DELETED") queue.add(object.metadata.name ?? "");
    }),
  ];
  return { run: (signal) => runFollowing(queue, follow, signal) };
}

async function checkedWarnings(
  deps: PolicyStatusDeps,
  policy: ValidatingAdmissionPolicy,
): Promise<ExpressionWarning[]> {
  const { spec = {} } = policy;
  const { matchConstraints = {}, paramKind } = spec;
  const kinds = deps.kinds();
  const params = kinds.find((row) => apiVersionOf(row) === paramKind?.apiVersion && row.kind === paramKind.kind);
  const paramsType = params && deps.typeOf(params);
  const problems: TypeProblem[] = [];
  for (const kind of kindsOfPolicy(matchConstraints, kinds)) {
    const type = deps.typeOf(kind);
    if (type === undefined) continue;
    const checked: CheckedKind = { group: kind.group, version: kind.version, kind: kind.kind, type };
    problems.push(...checkPolicyTypes(spec, checked, paramsType));
    // A policy may have a thousand expressions: others are served between one kind and the next.
    await sleep(deps.clock, 0);
  }
  return shortened(expressionWarnings(problems));
}

/** The warnings that fit into an object, by whole warnings. */
function shortened(warnings: readonly ExpressionWarning[]): ExpressionWarning[] {
  const kept: ExpressionWarning[] = [];
  let length = 0;
  for (const warning of warnings) {
    length += warning.warning.length;
    if (length <= MAX_WARNINGS_LENGTH) kept.push(warning);
    else {
      const missing = warnings.length - kept.length;
      const text = `this and ${missing - 1} further expressions have warnings that are too long to show`;
      return [...kept, { fieldRef: warning.fieldRef, warning: text }];
    }
  }
  return kept;
}
