import type { KubeObject } from "../../api/object.ts";
import { MINUTE, SECOND, type Timer } from "../../base/clock.ts";
import { type Controller, type ControllerDeps, runFollowing, unlessOvertaken } from "../control-loop/controller.ts";
import { createWorkQueue } from "../control-loop/work-queue.ts";
import { resourceKeyOf, splitResourceKey } from "./owner-graph.ts";

interface ExpiryOptions {
  /** For logs. */
  name: string;
  resource: string;
  /** Milliseconds since the epoch from which on the object is to go; undefined for one that stays. */
  expiresAt: (object: KubeObject, now: number) => number | undefined;
}

/** Deadlines closer together than this are dealt with at once: one timer for thousands of events. */
const SWEEP_MS = 10 * SECOND;
/** However far the next deadline is: the wall clock may be set meanwhile, and nobody tells. */
const LONGEST_WAIT_MS = 60 * MINUTE;

/** Deletes objects of a resource when their time is over. Has a timer only while there is something to wait for. */
export function createExpiryController(deps: ControllerDeps, options: ExpiryOptions): Controller {
  const { reader, writer, feed, clock } = deps;
  const { name, resource, expiresAt } = options;
  const deadlines = new Map<string, number>();
  let timer: Timer | undefined;
  let firesAt = Number.POSITIVE_INFINITY;

  const queue = createWorkQueue(deps, {
    name,
    async reconcile(key) {
      const target = splitResourceKey(key);
      const object = reader.get(target);
      const now = clock.now();
      const deadline = object && expiresAt(object, now);
      if (object === undefined || deadline === undefined || deadline > now) return undefined;
      const { uid, resourceVersion } = object.metadata;
      // Whoever renews it at this moment keeps it.
      const preconditions = { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) };
      await unlessOvertaken(writer.remove(target, { preconditions }));
      return undefined;
    },
  });
  const sweep = () => {
    firesAt = Number.POSITIVE_INFINITY;
    const now = clock.now();
    let next = Number.POSITIVE_INFINITY;
    for (const [key, deadline] of deadlines) {
      if (deadline > now) next = Math.min(next, deadline);
      else {
        deadlines.delete(key);
        queue.add(key);
      }
    }
    if (deadlines.size > 0) arm(Math.max(next, now + SWEEP_MS));
  };
  const arm = (deadline: number) => {
    if (deadline >= firesAt) return;
    timer?.cancel();
    firesAt = deadline;
    timer = clock.setTimer(Math.min(deadline - clock.now(), LONGEST_WAIT_MS), sweep);
  };
  const follow = () => [
    feed.follow(resource, ({ type, object }) => {
      const { namespace = "", name: objectName = "" } = object.metadata;
      const key = resourceKeyOf({ resource, namespace, name: objectName });
      const deadline = type === "DELETED" ? undefined : expiresAt(object, clock.now());
      if (deadline === undefined) deadlines.delete(key);
      else {
        deadlines.set(key, deadline);
        arm(deadline);
      }
    }),
    () => timer?.cancel(),
  ];
  return { run: (signal) => runFollowing(queue, follow, signal) };
}
