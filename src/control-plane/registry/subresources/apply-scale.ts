import { applyObject } from "../../../api/apply/apply.ts";
import { isRecord, type KubeObject } from "../../../api/object.ts";
import type { ResourceKind, ScalePaths } from "../../ports/resource-kind.ts";
import { apiVersion } from "../object-view.ts";
import type { RegistryDeps } from "../registry-deps.ts";
import type { RequestContext } from "../request-context.ts";
import { resetFieldsOf } from "../reset-fields.ts";
import { versionViews } from "../version-views.ts";
import { withValueAt } from "./scale.ts";

interface ScaleApplication {
  readonly kind: ResourceKind;
  readonly paths: ScalePaths;
  readonly namespace: string;
  readonly name: string;
  readonly context: RequestContext;
  /** Takes the replicas over from who owns them. */
  readonly force: boolean;
}

/**
 * The object with the replicas of a Scale that is applied: they belong to the manager, through `scale`. A Scale without
 * replicas gives up what its manager applied before. Throws Conflict where others own them.
 */
export function applyScale(
  deps: Pick<RegistryDeps, "kinds" | "now">,
  { kind, paths, namespace, name, context, force }: ScaleApplication,
  { scale, current }: { readonly scale: KubeObject; readonly current: KubeObject },
): KubeObject {
  const replicas = isRecord(scale["spec"]) ? scale["spec"]["replicas"] : undefined;
  const place = { metadata: { name, ...(kind.namespaced && { namespace }) } };
  const fields = replicas === undefined ? {} : withValueAt({}, paths.specReplicas, replicas);
  return applyObject({
    current,
    applied: { ...fields, apiVersion: apiVersion(kind), kind: kind.kind, ...place },
    node: kind.schema.node,
    manager: context.fieldManager,
    force,
    now: deps.now(),
    apiVersion: apiVersion(kind),
    versions: versionViews(deps.kinds, kind),
    subresource: "scale",
    ...resetFieldsOf(kind, "scale"),
  });
}
