import { badRequestError } from "../../api/api-error.ts";
import type { KubeObject } from "../../api/object.ts";
import { type FieldSelector, parseFieldSelector } from "../../api/selectors/field-selector.ts";
import { type LabelSelector, parseLabelSelector } from "../../api/selectors/label-selector.ts";
import type { StoredObject } from "../ports/object-store.ts";
import type { ResourceKind } from "../ports/resource-kind.ts";
import { passingViewOf } from "./object-view.ts";

/** Which objects of a kind a list or watch is about. */
export interface Selection {
  /** True when every object is meant: then nothing needs to be looked at. */
  readonly isEverything: boolean;
  matches(stored: StoredObject): boolean;
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
    matches: (stored) => matchesSelectors({ labels, fields }, selectableOf(kind, stored)),
  };
}

/** What of an object selectors look at. */
interface Selectable {
  readonly labels: Readonly<Record<string, string>> | undefined;
  readonly fields: ReadonlyMap<string, string>;
}

function matchesSelectors(
  { labels, fields }: { labels: LabelSelector; fields: FieldSelector },
  selectable: Selectable,
): boolean {
  if (!labels.isEverything && !labels.matches(selectable.labels)) return false;
  return fields.isEverything || fields.matches((field) => selectable.fields.get(field) ?? "");
}

/** By kind, because an object may be seen as several. */
const selectables = new WeakMap<ResourceKind, WeakMap<StoredObject, Selectable>>();

/** Kept as long as the version is: a list by a label would else parse thousands of objects for the few that it returns. */
function selectableOf(kind: ResourceKind, stored: StoredObject): Selectable {
  const ofKind = selectables.get(kind) ?? new WeakMap<StoredObject, Selectable>();
  selectables.set(kind, ofKind);
  const known = ofKind.get(stored);
  if (known) return known;
  const object = passingViewOf(kind, stored);
  const plain = kind.namespaced ? ["metadata.name", "metadata.namespace"] : ["metadata.name"];
  const fields = [...plain, ...Object.keys(kind.strategy.fields ?? {})];
  const selectable = {
    labels: object.metadata.labels,
    fields: new Map(fields.map((field) => [field, readerOf(kind, field)(object)])),
  };
  ofKind.set(stored, selectable);
  return selectable;
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
