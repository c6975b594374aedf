import { type FieldError, fieldPath } from "../../api/field-error.ts";
import { isRecord } from "../../api/object.ts";
import { validateLabels } from "../../api/validation/metadata.ts";
import { checkDns1035Label } from "../../api/validation/names.ts";
import { invalid, required } from "../../api/validation/problems.ts";
import { fieldOf, isEmbeddedResource, itemsOf, type Schema } from "./schema-props.ts";

/** The problems in the identity of objects within the object (`x-kubernetes-embedded-resource`). */
export function validateEmbeddedObjects(schema: Schema, value: unknown, path = ""): FieldError[] {
  if (Array.isArray(value)) {
    const items = itemsOf(schema);
    return items ? value.flatMap((item, index) => validateEmbeddedObjects(items, item, `${path}[${index}]`)) : [];
  }
  if (!isRecord(value)) return [];
  const errors = isEmbeddedResource(schema) ? checkIdentity(value, path) : [];
  for (const [name, item] of Object.entries(value)) {
    const field = fieldOf(schema, name);
    if (typeof field === "object") errors.push(...validateEmbeddedObjects(field, item, fieldPath(path, name)));
  }
  return errors;
}

function checkIdentity(object: Readonly<Record<string, unknown>>, path: string): FieldError[] {
  const { apiVersion, kind, metadata } = object;
  const labels = isRecord(metadata) && isRecord(metadata["labels"]) ? Object.entries(metadata["labels"]) : [];
  const texts = labels.flatMap(
    ([name, text]): Array<[string, string]> => (typeof text === "string" ? [[name, text]] : []),
  );
  return [
    ...checkText(fieldPath(path, "apiVersion"), apiVersion, checkApiVersion),
    ...checkText(fieldPath(path, "kind"), kind, checkKind),
    ...validateLabels(fieldPath(path, "metadata.labels"), Object.fromEntries(texts)),
  ];
}

function checkText(path: string, value: unknown, check: (text: string) => string[]): FieldError[] {
  if (value === undefined) return [required(path)];
  if (typeof value !== "string") return [invalid(path, value, "must be a string")];
  if (value === "") return [invalid(path, value, "must not be empty")];
  return check(value).map((problem) => invalid(path, value, problem));
}

function checkApiVersion(text: string): string[] {
  return text.split("/").length > 2 ? [`unexpected GroupVersion string: ${text}`] : [];
}

function checkKind(text: string): string[] {
  const problems = checkDns1035Label(text.toLowerCase());
  return problems.length === 0 ? [] : [`may have mixed case, but should otherwise match: ${problems.join(",")}`];
}
