import { type KubeObject, typed } from "../../../../../src/api/object.ts";
import type { LedgerCheck } from "../../checks/check.ts";
import type { ControlPlaneWorld } from "../../world.ts";
import type { Estate } from "../estate.ts";
import { scaledResourceOf } from "../estate-kinds.ts";

const RESOURCE = "horizontalpodautoscalers.autoscaling";
/** What a node has told is believed for a while, and a look is made each 15 seconds. */
const BELIEVED_MS = 60_000;

interface Bounds {
  readonly least: number;
  readonly most: number;
}

/** An autoscaler keeps to its bounds, and changes nothing else while nobody tells what pods use. */
export function createAutoscalerCheck(world: ControlPlaneWorld, { usage }: Estate): LedgerCheck {
  const { clock, fail } = world;
  /** Those that may have been read when a change was decided: the newest two. */
  const bounds = new Map<string, readonly Bounds[]>();
  return {
    changed({ type, resource, object, previous }) {
      const { name = "" } = object.metadata;
      if (resource === RESOURCE && type !== "DELETED") {
        const { minReplicas = 1, maxReplicas } = typed("HorizontalPodAutoscaler", object).spec;
        const now = { least: minReplicas, most: maxReplicas };
        const [latest] = bounds.get(name) ?? [];
        if (latest?.least !== now.least || latest.most !== now.most) bounds.set(name, latest ? [now, latest] : [now]);
      }
      if (resource !== scaledResourceOf(name) || type !== "MODIFIED" || previous === undefined) return;
      const [before, after] = [replicasOf(previous), replicasOf(object)];
      if (before === after || !isByScale(object)) return;
      const known = bounds.get(name) ?? [];
      const text = `${name} was scaled from ${before} to ${after}, with ${JSON.stringify(known)}`;
      if (!known.some(({ least, most }) => after >= Math.min(least, before) && after <= most)) {
        fail("an autoscaler keeps to its bounds", text);
      }
      const isSilent = usage.silentSince !== undefined && clock.monotonic() - usage.silentSince > BELIEVED_MS;
      const isBound = known.some(({ least, most }) => after === least || after === most);
      if (isSilent && !isBound) fail("an autoscaler without metrics scales nothing", text);
    },
  };
}

function replicasOf({ spec }: KubeObject): number {
  return typeof spec === "object" && spec !== null && "replicas" in spec ? Number(spec.replicas) : 0;
}

/** Nobody else than the autoscaler writes by the subresource. */
function isByScale({ metadata }: KubeObject): boolean {
  const owner = metadata.managedFields?.find(({ fieldsV1 }) => JSON.stringify(fieldsV1 ?? {}).includes('"f:replicas"'));
  return owner?.subresource === "scale";
}
