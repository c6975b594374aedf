import { badRequestError } from "../../api/api-error.ts";
import type { KubeObject } from "../../api/object.ts";
import { type FieldSelector, parseFieldSelector } from "../../api/selectors/field-selector.ts";
import { type LabelSelector, parseLabelSelector } from "../../api/selectors/label-selector.ts";
import type { StoredObject } from "../ports/object-store.ts";
import type { ResourceKind } from "../ports/resource-kind.ts";
import { passingViewOf } from "./object-view.ts";

/** Selects the objects of a kind for a list or watch. */
export interface Selection {
  /** True when every object is selected, so that no object has to be looked at. */
  readonly isEverything: boolean;
  matches(stored: StoredObject): boolean;
  /** The object's name when at most one object of a namespace can be selected. */
  readonly name: string | undefined;
}

/** Throws BadRequest for a selector that cannot be parsed, and for a field that the kind does not offer. */
export function selectionOf(kind: ResourceKind, selectors: { label: string; field: string }): Selection {
  const labels = parseLabelSelector(selectors.label);
  const fields = parseFieldSelector(selectors.field);
  for (const { field } of fields.requirements) readerOf(kind, field);
  const named = fields.requirements.find(({ field, operator }) => field === "metadata.name" && operator === "=");
  const ofKind = selectablesOf(kind);
  const { places } = ofKind;
  return {
    isEverything: labels.isEverything && fields.isEverything,
    name: named?.value,
    matches: (stored) => {
      return matchesSelectors({ labels, fields }, { places, selectable: selectableOf(kind, ofKind, stored) });
    },
  };
}

/** The part of an object that selectors look at. It is as small as possible, because one is kept for every object. */
interface Selectable {
  readonly labels: Readonly<Record<string, string>> | undefined;
  /** The values in the order of the kind's fields. */
  readonly fields: readonly string[];
}

/** The selectable parts of a kind's objects. */
interface KindSelectables {
  /** The place of each field in `Selectable.fields`. */
  readonly places: ReadonlyMap<string, number>;
  /** The parts of the objects of this kind. An object may be seen as several kinds. */
  readonly known: WeakMap<StoredObject, Selectable>;
}

function matchesSelectors(
  { labels, fields }: { labels: LabelSelector; fields: FieldSelector },
  { places, selectable }: { places: KindSelectables["places"]; selectable: Selectable },
): boolean {
  if (!labels.isEverything && !labels.matches(selectable.labels)) return false;
  return fields.isEverything || fields.matches((field) => selectable.fields[places.get(field) ?? -1] ?? "");
}

const selectables = new WeakMap<ResourceKind, KindSelectables>();

function selectablesOf(kind: ResourceKind): KindSelectables {
  const existing = selectables.get(kind);
  if (existing) return existing;
  const plain = kind.namespaced ? ["metadata.name", "metadata.namespace"] : ["metadata.name"];
  const fields = [...plain, ...Object.keys(kind.strategy.fields ?? {})];
  const created = { places: new Map(fields.map((field, place) => [field, place])), known: new WeakMap() };
  selectables.set(kind, created);
  return created;
}

/**
 * The selectable part of a version, kept as long as the version. Without it a list by label would parse thousands of
 * objects for the few that it returns.
 */
function selectableOf(kind: ResourceKind, { places, known }: KindSelectables, stored: StoredObject): Selectable {
  const existing = known.get(stored);
  if (existing) return existing;
  const object = passingViewOf(kind, stored);
  const fields = Array.from(places.keys(), (field) => readerOf(kind, field)(object));
  const selectable = { labels: object.metadata.labels, fields };
  known.set(stored, selectable);
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
