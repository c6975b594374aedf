import { notFoundError } from "../../../api/api-error.ts";
import type { CrossVersionObjectReference } from "../../../api/gen/types.ts";
import { isRecord, type KubeObject } from "../../../api/object.ts";
import { groupResource, type ResourceKind, type ScalePaths } from "../../ports/resource-kind.ts";
import { LOOPBACK_USER } from "../../ports/user.ts";
import type { ScaleTargets } from "../../workloads/autoscaler/scale-targets.ts";
import { keysOf } from "../keys.ts";
import type { RegistryDeps } from "../registry-deps.ts";
import type { RequestContext } from "../request-context.ts";
import { showOne } from "../shown.ts";
import { scaleOf, scalePathsOfKind } from "./scale.ts";
import { updateScale } from "./update-scale.ts";

interface Scalable {
  readonly kind: ResourceKind;
  readonly paths: ScalePaths;
}

/** Reads and sets how many replicas objects of any kind with the subresource `scale` are to have. */
export function createScaleTargets(deps: RegistryDeps): ScaleTargets {
  const context: RequestContext = {
    user: LOOPBACK_USER,
    dryRun: false,
    fieldManager: "nodelet",
    fieldValidation: "Ignore",
    warn() {},
  };
  /** Returns a message for a kind that is not served or has no scale. */
  const resolve = (target: CrossVersionObjectReference): Scalable | string => {
    const group = groupOf(target);
    const rows = deps.kinds.all().filter((row) => row.group === group && row.kind === target.kind);
    const [first] = rows;
    const kind = first && deps.kinds.stored(groupResource(first.storedAs ?? first));
    if (kind === undefined) return `no matches for kind "${target.kind}" in group "${group}"`;
    const paths = scalePathsOfKind(kind);
    return paths === undefined ? "the server could not find the requested resource" : { kind, paths };
  };
  return {
    async find(target, namespace) {
      const scalable = resolve(target);
      if (typeof scalable === "string") return { kind: "failed", message: scalable };
      const { kind, paths } = scalable;
      const stored = deps.store.headOf(keysOf(kind).of(namespace, target.name));
      if (stored === undefined) return { kind: "failed", message: missing(kind, target.name).message };
      const { spec, status } = scaleOf(await showOne(kind, stored), paths);
      return {
        kind: "scale",
        scale: {
          replicas: numberIn(spec, "replicas"),
          statusReplicas: numberIn(status, "replicas"),
          selector: isRecord(status) && typeof status["selector"] === "string" ? status["selector"] : "",
        },
      };
    },
    async setReplicas(target, namespace, replicas) {
      const scalable = resolve(target);
      if (typeof scalable === "string")
        throw notFoundError({ group: groupOf(target), resource: target.kind }, target.name);
      const { kind, paths } = scalable;
      const { name } = target;
      const scale: KubeObject = { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name }, spec: { replicas } };
      await updateScale(deps, { kind, paths, namespace, name, context, change: () => scale });
    },
  };
}

const missing = ({ group, plural }: ResourceKind, name: string) => notFoundError({ group, resource: plural }, name);

function groupOf({ apiVersion = "" }: CrossVersionObjectReference): string {
  const [group = "", version] = apiVersion.split("/");
  return version === undefined ? "" : group;
}

function numberIn(value: unknown, name: string): number {
  const count = isRecord(value) ? value[name] : undefined;
  return typeof count === "number" ? count : 0;
}
