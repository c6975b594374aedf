import { isRecord } from "../../api/object.ts";
import type { Clock } from "../../base/clock.ts";
import type { KubeClient, KubePatch } from "../port.ts";
import type { Caller } from "./caller.ts";
import { listPages } from "./list-pages.ts";
import { readNamedObject, readObject } from "./read-object.ts";
import { collectionPath, objectPath, withQuery } from "./request-path.ts";
import { runWatch } from "./run-watch.ts";

/** No object that a node reads is as long. */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;

const PATCH_TYPES: Readonly<Record<KubePatch["type"], string>> = {
  strategic: "application/strategic-merge-patch+json",
  merge: "application/merge-patch+json",
  json: "application/json-patch+json",
};

/** The verbs of the port as requests of the API; `timeoutMs` is the limit of a list that names none. */
export function createKubeVerbs(
  { caller, clock }: { caller: Caller; clock: Clock },
  options: { timeoutMs: number },
): KubeClient {
  return {
    async get(resource, name, getOptions = {}) {
      const path = withQuery(objectPath(resource, name), { resourceVersion: getOptions.resourceVersion });
      const body = await caller.call({ method: "GET", path }, getOptions, MAX_ANSWER_BYTES);
      return readNamedObject(resource, name, body);
    },
    list: async (resource, { timeoutMs = options.timeoutMs, ...listOptions } = {}) =>
      await listPages({ caller, clock }, resource, { ...listOptions, timeoutMs }),
    watch: async (resource, watchOptions, onEvent) => await runWatch(caller, { resource, ...watchOptions }, onEvent),
    async create(resource, object, { fieldManager, ...callOptions } = {}) {
      const place = nameOf(object);
      const path = withQuery(collectionPath(resource, place.namespace), { fieldManager });
      const request = { method: "POST", path, body: asBody(object) } as const;
      const answer = await caller.call(request, callOptions, MAX_ANSWER_BYTES);
      return place.name === "" ? readObject(resource, answer) : readNamedObject(resource, place, answer);
    },
    async replace(resource, object, { fieldManager, subresource, ...callOptions } = {}) {
      const place = nameOf(object);
      const path = withQuery(objectPath(resource, place, subresource), { fieldManager });
      const request = { method: "PUT", path, body: asBody(object) } as const;
      return readNamedObject(resource, place, await caller.call(request, callOptions, MAX_ANSWER_BYTES));
    },
    async patch(resource, name, { type, body }, { fieldManager, subresource, ...callOptions } = {}) {
      const path = withQuery(objectPath(resource, name, subresource), { fieldManager });
      const request = { method: "PATCH", path, body, contentType: PATCH_TYPES[type] } as const;
      return readNamedObject(resource, name, await caller.call(request, callOptions, MAX_ANSWER_BYTES));
    },
    async delete(resource, name, { gracePeriodSeconds, uid, ...callOptions } = {}) {
      const body = {
        kind: "DeleteOptions",
        apiVersion: "v1",
        ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
        ...(uid !== undefined && { preconditions: { uid } }),
      };
      const request = { method: "DELETE", path: objectPath(resource, name), body } as const;
      await caller.call(request, callOptions, MAX_ANSWER_BYTES);
    },
    async createBeneath(parent, name, { subresource, resource, body, ...callOptions }) {
      const request = { method: "POST", path: objectPath(parent, name, subresource), body: asBody(body) } as const;
      return readObject(resource, await caller.call(request, callOptions, MAX_ANSWER_BYTES));
    },
  };
}

/** The place that an object's metadata names. */
function nameOf(object: unknown): { namespace: string; name: string } {
  const metadata = isRecord(object) ? object["metadata"] : undefined;
  const text = (key: string) => {
    const value = isRecord(metadata) ? metadata[key] : undefined;
    return typeof value === "string" ? value : "";
  };
  return { namespace: text("namespace"), name: text("name") };
}

function asBody(object: unknown): object {
  if (typeof object === "object" && object !== null) return object;
  throw new TypeError("what is written is an object");
}
