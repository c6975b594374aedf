import { badRequestError } from "../../api/api-error.ts";
import type { KubeObject } from "../../api/object.ts";
import { type FieldSelector, parseFieldSelector } from "../../api/selectors/field-selector.ts";
import { type LabelSelector, parseLabelSelector } from "../../api/selectors/label-selector.ts";
import type { ResourceKind } from "../ports/resource-kind.ts";

/** Which objects of a kind a list or watch is about. */
export interface Selection {
  /** True when every object is meant: then nothing needs to be looked at. */
  readonly isEverything: boolean;
  matches(object: KubeObject): boolean;
  /** The name, when the selection can hold no more than one object of a namespace. */
  readonly name: string | undefined;
}

/** Throws BadRequest for a selector that cannot be parsed, and for a field that the kind does not offer. */
export function selectionOf(kind: ResourceKind, selectors: { label: string; field: string }): Selection {
  const labels = parseLabelSelector(selectors.label);
  const fields = parseFieldSelector(selectors.field);
  for (const { field } of fields.requirements) readerOf(kind, field);
  const named = fields.requirements.find(({ field, operator }) => field === "metadata.name" && operator === "=");
  return {
    isEverything: labels.isEverything && fields.isEverything,
    name: named?.value,
    matches: (object) => matchesLabels(labels, object) && matchesFields(kind, fields, object),
  };
}

function matchesLabels(selector: LabelSelector, { metadata }: KubeObject): boolean {
  return selector.isEverything || selector.matches(metadata.labels);
}

function matchesFields(kind: ResourceKind, selector: FieldSelector, object: KubeObject): boolean {
  return selector.isEverything || selector.matches((field) => readerOf(kind, field)(object));
}

function readerOf(kind: ResourceKind, field: string): (object: KubeObject) => string {
  if (field === "metadata.name") return ({ metadata }) => metadata.name ?? "";
  if (field === "metadata.namespace" && kind.namespaced) return ({ metadata }) => metadata.namespace ?? "";
  const read = kind.strategy.fields?.[field];
  if (read === undefined) {
    const known = 'only "metadata.name", "metadata.namespace"';
    const isPlain = kind.strategy.fields === undefined;
    throw badRequestError(
      isPlain ? `"${field}" is not a known field selector: ${known}` : `field label not supported: ${field}`,
    );
  }
  return read;
}
