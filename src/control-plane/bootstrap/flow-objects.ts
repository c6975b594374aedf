import type { KubeObject } from "../../api/object.ts";
import { isRecord } from "../../api/object.ts";
import { MANDATORY_FLOW_SCHEMAS, SUGGESTED_FLOW_SCHEMAS } from "../kinds/flowcontrol/default-flow-schemas.ts";
import {
  EXEMPT,
  MANDATORY_PRIORITY_LEVELS,
  SUGGESTED_PRIORITY_LEVELS,
} from "../kinds/flowcontrol/default-priority-levels.ts";
import { isSame } from "../kinds/rules/semantic-changes.ts";

/** The annotation that a user sets to `false` to keep a changed object as it is. */
const AUTOUPDATE = "apf.kubernetes.io/autoupdate-spec";
const TRUE = new Set(["1", "t", "T", "TRUE", "true", "True"]);
const FALSE = new Set(["0", "f", "F", "FALSE", "false", "False"]);

function objectsOf(kind: string, specs: ReadonlyMap<string, object>): KubeObject[] {
  return [...specs].map(([name, spec]) => ({
    apiVersion: "flowcontrol.apiserver.k8s.io/v1",
    kind,
    metadata: { name, annotations: { [AUTOUPDATE]: "true" } },
    spec,
  }));
}

/** The flow schemas and priority levels that cannot be changed. */
export const MANDATORY_FLOW_OBJECTS: readonly KubeObject[] = [
  ...objectsOf("PriorityLevelConfiguration", MANDATORY_PRIORITY_LEVELS),
  ...objectsOf("FlowSchema", MANDATORY_FLOW_SCHEMAS),
];

/** Those that users may change. */
export const SUGGESTED_FLOW_OBJECTS: readonly KubeObject[] = [
  ...objectsOf("PriorityLevelConfiguration", SUGGESTED_PRIORITY_LEVELS),
  ...objectsOf("FlowSchema", SUGGESTED_FLOW_SCHEMAS),
];

/** The mandatory object as it must be; undefined when it is so. */
export function reconcileMandatoryFlow(existing: KubeObject | undefined, wanted: KubeObject): KubeObject | undefined {
  return existing === undefined ? wanted : revise(existing, wanted, true);
}

/**
 * The suggested object as it should be; undefined when nothing is to be written. It stays as a user changed it, unless
 * its annotation says otherwise; the annotation is set to what holds.
 */
export function reconcileSuggestedFlow(existing: KubeObject | undefined, wanted: KubeObject): KubeObject | undefined {
  return existing === undefined ? wanted : revise(existing, wanted, isKeptUpToDate(existing));
}

function revise(existing: KubeObject, wanted: KubeObject, isKept: boolean): KubeObject | undefined {
  const isMarked = markOf(existing) === isKept;
  const isCurrent = !isKept || isSame(wantedSpec(existing, wanted), existing["spec"]);
  if (isMarked && isCurrent) return undefined;
  const annotations = { ...existing.metadata.annotations, ...(!isMarked && { [AUTOUPDATE]: `${isKept}` }) };
  const spec = isCurrent ? existing["spec"] : wanted["spec"];
  return { ...existing, metadata: { ...existing.metadata, annotations }, spec };
}

/** What the annotation says; undefined where it is missing or says neither. */
function markOf({ metadata }: KubeObject): boolean | undefined {
  const text = metadata.annotations?.[AUTOUPDATE] ?? "";
  if (TRUE.has(text)) return true;
  return FALSE.has(text) ? false : undefined;
}

/** Without a word from its owner, an object is kept up to date as long as nobody changed it. */
function isKeptUpToDate(existing: KubeObject): boolean {
  return markOf(existing) ?? existing.metadata.generation === 1;
}

/** Users may change the shares of the exempt level. */
function wantedSpec({ kind, metadata, spec }: KubeObject, wanted: KubeObject): unknown {
  const isExempt = kind === "PriorityLevelConfiguration" && metadata.name === EXEMPT;
  if (!isExempt || !isRecord(spec) || !isRecord(wanted["spec"]) || !isRecord(spec["exempt"])) return wanted["spec"];
  return { ...wanted["spec"], exempt: spec["exempt"] };
}
