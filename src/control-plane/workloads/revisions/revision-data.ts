import type { ControllerRevision, PodTemplateSpec } from "../../../api/gen/types.ts";
import { isRecord, type KubeObject, typed } from "../../../api/object.ts";
import { isEqualJson } from "../../../api/patch/json-value.ts";
import { computeTemplateHash, sortFields } from "../deployments/template-hash.ts";
import { controllerRefTo } from "../pod-control/controller-ref.ts";

/** The longest begin of a revision's name, which is that of its owner. */
const MAX_PREFIX = 223;

/**
 * What a revision keeps of its owner: a strategic merge patch that puts the template back, because
 * `kubectl rollout undo` sends it as it stands. The fields have Go's order, because Go programs find a template's revision
 * by comparing bytes.
 */
function revisionDataOf(template: PodTemplateSpec): Record<string, unknown> {
  return { spec: { template: sortFields({ ...template, $patch: "replace" }) } };
}

/** The template that a revision keeps; undefined for data that no controller has made. */
export function templateOfRevision(object: KubeObject): PodTemplateSpec | undefined {
  const { data } = typed("ControllerRevision", object);
  const spec = isRecord(data) ? data["spec"] : undefined;
  const template = isRecord(spec) ? spec["template"] : undefined;
  if (!isRecord(template)) return undefined;
  const { $patch: _patch, ...fields } = template;
  return fields;
}

/** True when the revision keeps this very template. */
export function keepsTemplate(object: KubeObject, template: PodTemplateSpec): boolean {
  return isEqualJson(typed("ControllerRevision", object).data, revisionDataOf(template));
}

/** The number of a revision: the higher, the newer. */
export function revisionNumberOf(object: KubeObject): number {
  return typed("ControllerRevision", object).revision;
}

export interface NewRevision {
  readonly owner: KubeObject;
  readonly template: PodTemplateSpec;
  /** The label that tells the hash. */
  readonly hashLabel: string;
  readonly number: number;
  /** How many names were taken by other templates. */
  readonly collisionCount: number;
}

/** A revision of the owner, which is named after the hash of its template. */
export function buildRevision({ owner, template, hashLabel, number, collisionCount }: NewRevision): KubeObject {
  const { name = "", namespace = "", annotations } = owner.metadata;
  const hash = computeTemplateHash(template, collisionCount);
  const revision: ControllerRevision = { data: revisionDataOf(template), revision: number };
  return {
    apiVersion: "apps/v1",
    kind: "ControllerRevision",
    metadata: {
      name: `${name.slice(0, MAX_PREFIX)}-${hash}`,
      namespace,
      labels: { ...template.metadata?.labels, [hashLabel]: hash },
      ...(annotations && { annotations }),
      ownerReferences: [controllerRefTo(owner)],
    },
    ...revision,
  };
}
