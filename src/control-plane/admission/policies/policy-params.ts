import type { ParamKind, ParamRef } from "../../../api/gen/types.ts";
import type { KubeObject } from "../../../api/object.ts";
import { labelSelectorOf } from "../../../api/selectors/label-selector.ts";
import type { ResourceReader } from "../../ports/resources.ts";

/** Finds where the objects of a kind are stored; undefined while the kind is not served. */
export type ResolveParamKind = (
  apiVersion: string,
  kind: string,
) => { readonly resource: string; readonly namespaced: boolean } | undefined;

export interface ParamsDeps {
  readonly reader: ResourceReader;
  readonly resolveKind: ResolveParamKind;
}

/** The objects that a policy is evaluated with, null for none, or why they cannot be told. */
type FoundParams = { readonly params: ReadonlyArray<KubeObject | null> } | { readonly problem: string };

/** The parameters of a binding, for a request in the namespace. */
export function findParams(
  { reader, resolveKind }: ParamsDeps,
  kind: ParamKind | undefined,
  ref: ParamRef | undefined,
  namespace: string,
): FoundParams {
  if (kind === undefined || ref === undefined) return { params: [null] };
  const { apiVersion = "", kind: name = "" } = kind;
  const found = resolveKind(apiVersion, name);
  if (!found) return { problem: `paramKind kind \`${apiVersion}, Kind=${name}\` not known` };
  if (!found.namespaced && ref.namespace) {
    return { problem: "paramRef.namespace must not be provided for a cluster-scoped `paramKind`" };
  }
  const place = found.namespaced ? (ref.namespace ?? "") || namespace : "";
  if (found.namespaced && place === "") {
    return { problem: "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources" };
  }
  const params = selectParams(reader, { resource: found.resource, namespace: place }, ref);
  if (params.length === 0 && ref.parameterNotFoundAction === "Deny") {
    return { problem: "no params found for policy binding with `Deny` parameterNotFoundAction" };
  }
  return { params };
}

interface Place {
  readonly resource: string;
  readonly namespace: string;
}

function selectParams(reader: ResourceReader, { resource, namespace }: Place, ref: ParamRef): readonly KubeObject[] {
  if (ref.name) {
    const one = reader.get({ resource, namespace, name: ref.name });
    return one ? [one] : [];
  }
  const selector = labelSelectorOf(ref.selector);
  const all = namespace === "" ? reader.list(resource) : reader.list(resource, namespace);
  return all.filter(({ metadata }) => selector.matches(metadata.labels));
}
