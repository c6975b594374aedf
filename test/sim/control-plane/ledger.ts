import { isKubeObject, type KubeObject } from "../../../src/api/object.ts";
import { groupResourceOfKey } from "../../../src/control-plane/registry/keys.ts";
import type { JournalRecord } from "../../../src/journal/port.ts";

/** What one write did, as the disk has it. */
export interface Entry {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  /** `pods`, `deployments.apps` */
  readonly resource: string;
  readonly object: KubeObject;
  readonly previous: KubeObject | undefined;
}

/**
 * Every object on the disk, whichever process wrote it: what the disk has is what happened, and nothing of it is missed
 * or seen twice, also by a process's death.
 */
export interface Ledger {
  record(records: readonly JournalRecord[]): void;
  list(resource: string): KubeObject[];
  get(resource: string, name: string, namespace?: string): KubeObject | undefined;
  /** How many writes of objects that matter there were: leases and events come and go at rest, too. */
  readonly writes: number;
  follow(listener: (entry: Entry) => void): void;
}

export const NAMESPACE = "shop";
/** What is written at rest, too. */
const RESTLESS: readonly string[] = ["events", "leases.coordination.k8s.io"];

export function createLedger(): Ledger {
  const byResource = new Map<string, Map<string, KubeObject>>();
  const listeners: Array<(entry: Entry) => void> = [];
  let writes = 0;
  return {
    record(records) {
      for (const { key, type, json } of records) {
        const object: unknown = JSON.parse(json.toString());
        if (!isKubeObject(object)) throw new Error(`the disk has no object at ${key}`);
        const resource = groupResourceOfKey(key);
        const objects = byResource.get(resource) ?? new Map<string, KubeObject>();
        byResource.set(resource, objects);
        const previous = objects.get(key);
        if (type === "delete") objects.delete(key);
        else objects.set(key, object);
        if (!RESTLESS.includes(resource)) writes += 1;
        const change = previous === undefined ? "ADDED" : "MODIFIED";
        const entry: Entry = { type: type === "delete" ? "DELETED" : change, resource, object, previous };
        for (const listener of listeners) listener(entry);
      }
    },
    list: (resource) => [...(byResource.get(resource)?.values() ?? [])],
    get: (resource, name, namespace = NAMESPACE) =>
      [...(byResource.get(resource)?.values() ?? [])].find(
        ({ metadata }) => metadata.name === name && (metadata.namespace ?? "") === namespace,
      ),
    get writes() {
      return writes;
    },
    follow(listener) {
      listeners.push(listener);
    },
  };
}
