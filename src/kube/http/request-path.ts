import type { KubeResource } from "../../api/kube-resource.ts";
import { assert } from "../../base/assert.ts";
import type { NamespacedName } from "../port.ts";

type Query = Readonly<Record<string, string | undefined>>;
type Addressed = Pick<KubeResource<unknown>, "group" | "version" | "plural" | "namespaced">;

/** The path of a collection, across all namespaces where none is given. */
export function collectionPath(resource: Addressed, namespace: string | undefined): string {
  const { group, version, plural, namespaced } = resource;
  const base = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  if (!namespaced || namespace === undefined || namespace === "") return `${base}/${plural}`;
  return `${base}/namespaces/${segment(namespace)}/${plural}`;
}

/** The path of an object, or of a subresource of it. An empty name would address the whole collection: refused. */
export function objectPath(resource: Addressed, { namespace, name }: NamespacedName, subresource?: string): string {
  assert(name !== "", "resource name may not be empty");
  assert(!resource.namespaced || namespace !== "", "an object of a namespaced kind is addressed with its namespace");
  const path = `${collectionPath(resource, namespace)}/${segment(name)}`;
  return subresource === undefined ? path : `${path}/${subresource}`;
}

/** The path with the parameters that have a value. */
export function withQuery(path: string, query: Query): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== "") parameters.append(name, value);
  }
  const text = parameters.toString();
  return text === "" ? path : `${path}?${text}`;
}

/** One part of a path, checked: `.`, `..` and a slash would lead to another path. */
function segment(name: string): string {
  assert(name !== "." && name !== ".." && !/[/%]/.test(name), "a name may not be a path");
  return encodeURIComponent(name);
}
