import { LRUCache } from "lru-cache";
import { isApiError } from "../../api/api-error.ts";
import type { ObjectReference } from "../../api/gen/types.ts";
import type { KubeObject } from "../../api/object.ts";
import { formatTime, SECOND } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import { createTasks } from "../../base/tasks.ts";
import type { ControllerDeps } from "./controller.ts";

/** A fact about an object that `kubectl describe` should show. */
interface ClusterEvent {
  readonly about: KubeObject;
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
}

/** Writes events in the background. Events are news and no state: an event that cannot be written is lost. */
export interface EventRecorder {
  record(event: ClusterEvent): void;
  /** Resolves when no write is under way; rejects when the recorder contradicted itself. */
  settled(): Promise<void>;
}

/** With more writes under way the store does not keep up, and events are the first thing to leave out. */
const MAX_WRITES = 256;
/**
 * The event that was recorded longest ago is forgotten first. When it is repeated afterwards, it becomes a new event.
 */
const MAX_KNOWN = 4_096;
/** Repetitions of an event are counted, and the count is written no more often than this. */
const REPEAT_MS = 10 * SECOND;

interface Known {
  event: KubeObject | undefined;
  count: number;
  writtenAt: number;
}

/** Records events in the name of a component, which `kubectl` shows as their source. */
export function createEventRecorder(
  deps: Pick<ControllerDeps, "writer" | "clock" | "log">,
  component: string,
): EventRecorder {
  const { writer, clock, log } = deps;
  const known = new LRUCache<string, Known>({ max: MAX_KNOWN });
  let crash: { error: unknown } | undefined;
  const tasks = createTasks((_name, error) => {
    crash ??= { error };
  });

  const write = async (said: Known, object: KubeObject) => {
    try {
      // An event that was written goes on counting. If it is gone meanwhile, the next repetition creates a new event.
      said.event = said.event
        ? await writer.update("events", { ...said.event, count: said.count, lastTimestamp: object["lastTimestamp"] })
        : await writer.create("events", object);
    } catch (error) {
      if (!isApiError(error)) throw error;
      said.event = undefined;
      log.debug("an event was not written", { component, reason: object["reason"], error: messageOf(error) });
    }
  };

  return {
    record(event) {
      const key = keyOf(event);
      const now = clock.monotonic();
      const said = known.get(key) ?? { event: undefined, count: 0, writtenAt: Number.NEGATIVE_INFINITY };
      known.set(key, said);
      said.count += 1;
      if (now - said.writtenAt < REPEAT_MS || tasks.running >= MAX_WRITES) return;
      said.writtenAt = now;
      tasks.spawn("event", () => write(said, eventOf(event, { component, at: formatTime(clock.now()) })));
    },
    async settled() {
      await tasks.settled();
      if (crash !== undefined) throw crash.error;
    },
  };
}

function keyOf({ about, reason, message }: ClusterEvent): string {
  const { namespace = "", name = "", uid = "" } = about.metadata;
  return [about.kind, namespace, name, uid, reason, message].join("\n");
}

function eventOf(
  { about, type, reason, message }: ClusterEvent,
  { component, at }: { component: string; at: string },
): KubeObject {
  const { name = "", namespace, uid, resourceVersion } = about.metadata;
  const involvedObject: ObjectReference = {
    apiVersion: about.apiVersion,
    kind: about.kind,
    name,
    ...(namespace !== undefined && { namespace }),
    ...(uid !== undefined && { uid }),
    ...(resourceVersion !== undefined && { resourceVersion }),
  };
  return {
    apiVersion: "v1",
    kind: "Event",
    // Events about objects without a namespace lie in `default`.
    metadata: { generateName: `${name}.`, namespace: namespace ?? "default" },
    involvedObject,
    type,
    reason,
    message,
    source: { component },
    reportingComponent: component,
    firstTimestamp: at,
    lastTimestamp: at,
    count: 1,
  };
}
