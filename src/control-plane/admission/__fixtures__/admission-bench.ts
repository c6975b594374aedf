import { expect } from "vitest";
import { ApiError } from "../../../api/api-error.ts";
import type { Pod, PodSpec } from "../../../api/gen/types.ts";
import { type KubeObject, typed, untyped } from "../../../api/object.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../../ports/request.ts";
import type { ResourceKind } from "../../ports/resource-kind.ts";
import type { ObjectName, ResourceReader } from "../../ports/resources.ts";

/** The stored objects by resource (`pods`). */
type World = Readonly<Record<string, readonly KubeObject[]>>;

/** Reads a world that does not change. */
export function readerOf(world: World): ResourceReader {
  return {
    get({ resource, namespace, name }: ObjectName) {
      const objects = world[resource] ?? [];
      return objects.find(({ metadata }) => metadata.name === name && (metadata.namespace ?? "") === namespace);
    },
    list(resource, namespace) {
      const objects = world[resource] ?? [];
      return namespace === undefined ? objects : objects.filter(({ metadata }) => metadata.namespace === namespace);
    },
  };
}

/** A row of the table of kinds, as far as admission looks at it. */
function kindOf(resource: string): ResourceKind {
  const [plural = "", ...group] = resource.split(".");
  return {
    group: group.join("."),
    version: "v1",
    kind: "Any",
    listKind: "AnyList",
    plural,
    singular: "any",
    shortNames: [],
    categories: [],
    namespaced: true,
    verbs: [],
    schema: {
      decode: (value) => ({ value, errors: [], warnings: [] }),
      node: { kind: "untyped" },
      strategicMerge: true,
      definition: "Any",
    },
    strategy: {},
    subresources: [],
    columns: [],
  };
}

type RequestParts = Partial<Omit<AdmissionRequest, "kind" | "subresource">>;

/** A creation by an administrator in namespace `a`, changed by the parts. `pods/status` names a subresource. */
export function requestFor(target: string, parts: RequestParts = {}): AdmissionRequest {
  const [resource = "", subresource = ""] = target.split("/");
  return {
    operation: "CREATE",
    kind: kindOf(resource),
    subresource,
    namespace: "a",
    name: parts.object?.metadata.name ?? parts.current?.metadata.name ?? "",
    user: { username: "admin", groups: ["system:masters"] },
    object: undefined,
    current: undefined,
    dryRun: false,
    warn: () => undefined,
    ...parts,
  };
}

/** The object as the plugin lets it through. Throws what the plugin throws. */
export function admit(plugin: AdmissionPlugin, request: AdmissionRequest): KubeObject | undefined {
  const object = plugin.mutate?.(request) ?? request.object;
  plugin.validate?.({ ...request, object });
  return object;
}

/** The pod as the plugin lets it through. */
export function admitPod(plugin: AdmissionPlugin, request: AdmissionRequest): Pod {
  const object = admit(plugin, request);
  if (object === undefined) throw new TypeError("the request was not about a pod");
  return typed("Pod", object);
}

/** The ApiError with which the plugin refuses; the test fails when it does not. */
export function refusalOf(plugin: AdmissionPlugin, request: AdmissionRequest): ApiError {
  try {
    admit(plugin, request);
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  return expect.fail("the plugin let the request through");
}

/** A pod `p` of namespace `a` with one container, changed by the parts. */
export function pod(spec: Partial<PodSpec> = {}, metadata: Pod["metadata"] = {}): KubeObject {
  return untyped({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p", namespace: "a", ...metadata },
    spec: { containers: [{ name: "c", image: "i" }], ...spec },
  });
}
