import { alreadyExistsError, notFoundError } from "../../../../api/api-error.ts";
import type { KubeResource } from "../../../../api/kube-resource.ts";
import { isRecord } from "../../../../api/object.ts";
import type { KubeClient } from "../../../../kube/port.ts";

const SUBJECT = { group: "", resource: "events" };

/** The events of an API server that keeps them in a map, and may be told to fail. */
export function createFakeEventsApi() {
  const stored = new Map<string, Record<string, unknown>>();
  const calls: string[] = [];
  const hooks = {
    /** Runs before the effect. What it throws is the answer. */
    before: async (_call: string): Promise<void> => {},
    /** Runs after the effect. A throw simulates a lost answer. */
    after: async (_call: string): Promise<void> => {},
  };
  const call = async <T>(verb: string, name: string, effect: () => unknown, resource: KubeResource<T>): Promise<T> => {
    const said = `${verb} ${name}`;
    calls.push(said);
    await hooks.before(said);
    const result = resource.read(effect());
    await hooks.after(said);
    return result;
  };
  const client: Pick<KubeClient, "create" | "patch"> = {
    create(resource, object) {
      const created: unknown = JSON.parse(JSON.stringify(object));
      if (!isRecord(created) || !isRecord(created["metadata"])) throw new Error("an event has metadata");
      const key = `${String(created["metadata"]["namespace"])}/${String(created["metadata"]["name"])}`;
      const effect = () => {
        if (stored.has(key)) throw alreadyExistsError(SUBJECT, key);
        stored.set(key, created);
        return created;
      };
      return call("create", key, effect, resource);
    },
    patch(resource, { namespace, name }, patch) {
      const key = `${namespace}/${name}`;
      const effect = () => {
        const before = stored.get(key);
        if (before === undefined) throw notFoundError(SUBJECT, name);
        const after = { ...before, ...patch.body };
        stored.set(key, after);
        return after;
      };
      return call(`patch(${patch.type})`, key, effect, resource);
    },
  };
  return {
    client,
    stored,
    hooks,
    /** Returns the calls since the last time that this was called. */
    calls: () => calls.splice(0),
    /** `reason ×count message` of each event, in order of creation. */
    told: () => [...stored.values()].map((event) => `${event["reason"]} ×${event["count"]} ${event["message"]}`),
  };
}
