import { cloneJson } from "../../api/clone-json.ts";
import type { FieldError } from "../../api/field-error.ts";
import { type KubeObject, type ObjectOf, type TypedKinds, typed } from "../../api/object.ts";
import type { Strategy } from "../ports/resource-kind.ts";

type Hook = "default" | "prepareCreate" | "prepareUpdate" | "validate" | "validateUpdate" | "warnings" | "fields";

/** A strategy whose hooks see typed fields. Hooks that change an object do so in place, in a copy of their own. */
interface TypedStrategy<Kind extends keyof TypedKinds> extends Omit<Strategy, Hook> {
  default?(draft: ObjectOf<Kind>): void;
  /** The status of a new object, whatever its author sent; undefined for a kind without one. */
  readonly initialStatus?: Readonly<Record<string, unknown>>;
  prepareCreate?(draft: ObjectOf<Kind>): void;
  prepareUpdate?(draft: ObjectOf<Kind>, current: ObjectOf<Kind>): void;
  validate?(object: ObjectOf<Kind>): FieldError[];
  validateUpdate?(next: ObjectOf<Kind>, current: ObjectOf<Kind>): FieldError[];
  warnings?(object: ObjectOf<Kind>): string[];
  readonly fields?: Readonly<Record<string, (object: ObjectOf<Kind>) => string>>;
}

/** The strategy of a kind, for its row. */
export function strategyOf<Kind extends keyof TypedKinds>(kind: Kind, hooks: TypedStrategy<Kind>): Strategy {
  const { default: setDefaults, prepareUpdate, validate, validateUpdate, warnings, fields, ...rest } = hooks;
  const { prepareCreate: _typed, initialStatus: _status, ...plain } = rest;
  return {
    ...plain,
    ...(setDefaults && { default: (object) => changed(kind, object, setDefaults) }),
    ...((hooks.prepareCreate ?? hooks.initialStatus) && { prepareCreate: (object) => created(kind, object, hooks) }),
    ...(prepareUpdate && {
      prepareUpdate: (next, current) => changed(kind, next, (draft) => prepareUpdate(draft, typed(kind, current))),
    }),
    ...(validate && { validate: (object) => validate(typed(kind, object)) }),
    ...(validateUpdate && {
      validateUpdate: (next, current) => validateUpdate(typed(kind, next), typed(kind, current)),
    }),
    ...(warnings && { warnings: (object) => warnings(typed(kind, object)) }),
    ...(fields && { fields: typedFields(kind, fields) }),
  };
}

function changed<Kind extends keyof TypedKinds>(
  kind: Kind,
  object: KubeObject,
  change: (draft: ObjectOf<Kind>) => void,
): KubeObject {
  const draft = typed(kind, cloneJson(object));
  change(draft);
  return draft;
}

function created<Kind extends keyof TypedKinds>(
  kind: Kind,
  object: KubeObject,
  hooks: TypedStrategy<Kind>,
): KubeObject {
  const { initialStatus: status, prepareCreate } = hooks;
  const fresh = status === undefined ? object : { ...object, status };
  return prepareCreate ? changed(kind, fresh, prepareCreate) : fresh;
}

function typedFields<Kind extends keyof TypedKinds>(
  kind: Kind,
  fields: NonNullable<TypedStrategy<Kind>["fields"]>,
): NonNullable<Strategy["fields"]> {
  const entries = Object.entries(fields).map(([name, read]) => {
    return [name, (object: KubeObject) => read(typed(kind, object))] as const;
  });
  return Object.fromEntries(entries);
}
