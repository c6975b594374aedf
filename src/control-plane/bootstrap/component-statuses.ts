import type { KubeObject } from "../../api/object.ts";
import type { ComputedObjects } from "../ports/computed-objects.ts";

/** Which programs that accompany an API server run within this one. */
interface Components {
  readonly controllers: boolean;
  readonly scheduler: boolean;
}

/**
 * Creates the component statuses: the parts of this process, under the names that upstream has for them. All of them are
 * well while somebody can ask: the process ends when one of its parts does. Programs that run elsewhere are not asked.
 */
export function createComponentStatuses({ controllers, scheduler }: Components): ComputedObjects {
  const names = [...(controllers ? ["controller-manager"] : []), "etcd-0", ...(scheduler ? ["scheduler"] : [])];
  const statuses = names.map(statusOf);
  return {
    read: async ({ name }) => statuses.filter(({ metadata }) => name === undefined || metadata.name === name),
  };
}

function statusOf(name: string): KubeObject {
  const conditions = [{ type: "Healthy", status: "True", message: "ok" }];
  return { apiVersion: "v1", kind: "ComponentStatus", metadata: { name }, conditions };
}
