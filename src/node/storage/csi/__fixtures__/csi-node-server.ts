import { alreadyExistsError, conflictError, invalidError, notFoundError } from "../../../../api/api-error.ts";
import type { CSINode } from "../../../../api/gen/types.ts";
import { CSI_NODES, type KubeResource } from "../../../../api/kube-resource.ts";
import { isEqualJson } from "../../../../api/patch/json-value.ts";
import type { KubeClient } from "../../../../kube/port.ts";

type Verb = "get" | "create" | "replace";

/** The part of an API server that one CSINode needs: versions, conflicts, and drivers that cannot be changed. */
export function createCsiNodeServer() {
  const subject = { group: "storage.k8s.io", resource: "csinodes" };
  let stored: CSINode | undefined;
  let version = 0;
  const calls: Verb[] = [];

  const put = (object: CSINode): CSINode => {
    stored = structuredClone({ ...object, metadata: { ...object.metadata, resourceVersion: String(++version) } });
    return structuredClone(stored);
  };
  /** Validates as ValidateCSINodeUpdate does; the limit may change where the gate is on. */
  const validate = (before: CSINode, after: CSINode) => {
    for (const driver of after.spec.drivers) {
      const old = before.spec.drivers.find(({ name }) => name === driver.name);
      if (old === undefined) continue;
      const comparable = server.isLimitMutable ? [withoutLimit(old), withoutLimit(driver)] : [old, driver];
      if (isEqualJson(comparable[0], comparable[1])) continue;
      const problem = { path: `spec.drivers[${driver.name}]`, message: "field is immutable" };
      throw invalidError({ group: subject.group, kind: "CSINode" }, "n", [problem]);
    }
  };
  const call = async <T>(verb: Verb, resource: KubeResource<T>, answer: () => CSINode): Promise<T> => {
    calls.push(verb);
    await server.intercept(verb);
    return resource.read(answer());
  };

  const client: Pick<KubeClient, Verb> = {
    get: async (resource) =>
      call("get", resource, () => {
        if (stored === undefined) throw notFoundError(subject, "n");
        return structuredClone(stored);
      }),
    create: async (resource, object) =>
      call("create", resource, () => {
        if (stored !== undefined) throw alreadyExistsError(subject, "n");
        return put(CSI_NODES.read(object));
      }),
    replace: async (resource, object) =>
      call("replace", resource, () => {
        const next = CSI_NODES.read(object);
        if (stored === undefined) throw notFoundError(subject, "n");
        if (stored.metadata?.resourceVersion !== next.metadata?.resourceVersion) {
          throw conflictError(subject, "n", "the object has been modified");
        }
        validate(stored, next);
        return put(next);
      }),
  };

  const server = {
    client,
    calls,
    isLimitMutable: true,
    /** This hook is called before each answer; what it throws is the answer. */
    intercept: async (_verb: Verb): Promise<void> => undefined,
    stored: () => stored,
    /** Writes as another client would. */
    put,
    remove: () => {
      stored = undefined;
    },
  };
  return server;
}

function withoutLimit<T extends { allocatable?: unknown }>({ allocatable: _, ...others }: T): Omit<T, "allocatable"> {
  return others;
}
