import { PROTOBUF_FIELDS } from "../gen/protobuf-fields.ts";

/** A field of a message, as the generated table names it. */
export interface MessageField {
  /** The field's name in JSON; "" for a message whose fields are the parent's there. */
  readonly name: string;
  readonly number: number;
  readonly shape: "one" | "list" | "map";
  /** The name of a scalar or of another message; for a map it is the type of its values. */
  readonly type: string;
  /** True if the field is a pointer in Go: absence and zero differ, and only a field that is not absent is sent. */
  readonly isPointer: boolean;
  /** True for a scalar that JSON has even when it is zero. */
  readonly isRequired: boolean;
}

/** The two fields that tell an object's type. */
export interface ObjectType {
  readonly apiVersion: string;
  readonly kind: string;
}

/** Maps API groups to the packages that their messages lie in. Custom resources of other groups have no messages. */
const PACKAGES: ReadonlyMap<string, string> = new Map([
  ["", "core"],
  ["admissionregistration.k8s.io", "admissionregistration"],
  ["apiextensions.k8s.io", "apiextensions"],
  ["apiregistration.k8s.io", "apiregistration"],
  ["apps", "apps"],
  ["authentication.k8s.io", "authentication"],
  ["authorization.k8s.io", "authorization"],
  ["autoscaling", "autoscaling"],
  ["batch", "batch"],
  ["certificates.k8s.io", "certificates"],
  ["coordination.k8s.io", "coordination"],
  ["discovery.k8s.io", "discovery"],
  ["events.k8s.io", "events"],
  ["flowcontrol.apiserver.k8s.io", "flowcontrol"],
  ["meta.k8s.io", "meta"],
  ["networking.k8s.io", "networking"],
  ["node.k8s.io", "node"],
  ["policy", "policy"],
  ["rbac.authorization.k8s.io", "rbac"],
  ["resource.k8s.io", "resource"],
  ["scheduling.k8s.io", "scheduling"],
  ["storage.k8s.io", "storage"],
]);

/**
 * Returns the message's name: `rbac.authorization.k8s.io/v1` and `Role` give `rbac.v1.Role`. Undefined for kinds that
 * have no form in protobuf.
 */
export function messageNameOf({ apiVersion, kind }: ObjectType): string | undefined {
  const slash = apiVersion.indexOf("/");
  const inGroup = PACKAGES.get(slash === -1 ? "" : apiVersion.slice(0, slash));
  if (inGroup === undefined) return undefined;
  const own = `${inGroup}.${apiVersion.slice(slash + 1)}.${kind}`;
  if (rowOf(own) !== undefined) return own;
  // Statuses, discovery and partial metadata belong to every group.
  const shared = `meta.v1.${kind}`;
  return (inGroup === "core" || inGroup === "meta") && rowOf(shared) !== undefined ? shared : undefined;
}

/** Returns the table's row; lists are all alike and have none. */
function rowOf(message: string): string | undefined {
  const row = PROTOBUF_FIELDS[message];
  if (message.startsWith("Items:")) return `items=1:[]${message.slice("Items:".length)}`;
  if (row !== undefined || !message.endsWith("List")) return row;
  const item = message.slice(0, -"List".length);
  return PROTOBUF_FIELDS[item] && `metadata=1:meta.v1.ListMeta items=2:[]${item}`;
}

const parsed = new Map<string, ReadonlyMap<number, MessageField>>();

/**
 * Returns the fields of a message by their number; an unknown message has none. They are parsed when first asked for.
 */
export function messageFieldsOf(message: string): ReadonlyMap<number, MessageField> {
  const known = parsed.get(message);
  if (known) return known;
  const entries = (rowOf(message) ?? "").split(" ").filter((entry) => entry !== "");
  const fields = new Map(entries.map(parseField).map((field) => [field.number, field]));
  parsed.set(message, fields);
  return fields;
}

const SHAPES: Readonly<Record<string, MessageField["shape"]>> = { "[]": "list", "{}": "map" };

function parseField(entry: string): MessageField {
  const [, name = "", number = "", shape = "", type = "", mark = ""] =
    /^(.+?)=(\d+):(\[\]|\{\}|)([^*!]+)([*!]?)$/.exec(entry) ?? [];
  return {
    name: name === "~" ? "" : name,
    number: Number(number),
    shape: SHAPES[shape] ?? "one",
    type,
    isPointer: mark === "*",
    isRequired: mark === "!",
  };
}
