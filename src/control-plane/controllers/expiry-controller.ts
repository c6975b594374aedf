import type { KubeObject } from "../../api/object.ts";
import { MINUTE, SECOND, type Timer } from "../../base/clock.ts";
import { type Controller, type ControllerDeps, runFollowing, unlessOvertaken } from "../control-loop/controller.ts";
import { createWorkQueue } from "../control-loop/work-queue.ts";
import { resourceKeyOf, splitResourceKey } from "./owner-graph.ts";

interface ExpiryOptions {
  /** For logs. */
  name: string;
  resource: string;
  /**
   * The time at which the object is to be deleted, in milliseconds since the epoch; undefined for an object that stays.
   */
  expiresAt: (object: KubeObject, now: number) => number | undefined;
  /** What becomes of the objects that it owns. Default: as the API server does by itself, in the background. */
  propagationPolicy?: "Foreground";
}

/** Deadlines closer together than this are handled together, so that one timer serves thousands of events. */
const SWEEP_MS = 10 * SECOND;
/**
 * The controller looks again after this, however far the next deadline is, because nothing tells when the wall clock is
 * set.
 */
const LONGEST_WAIT_MS = 60 * MINUTE;

/** Deletes the objects of a resource when their time is over. It has a timer only while an object is to expire. */
export function createExpiryController(deps: ControllerDeps, options: ExpiryOptions): Controller {
  const { reader, writer, feed, clock } = deps;
  const { name, resource, expiresAt, propagationPolicy } = options;
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
      if (object === undefined || deadline === undefined) return undefined;
      // The clock was set back since the deadline had passed.
      if (deadline > now) return Math.min(deadline - now, LONGEST_WAIT_MS);
      const { uid, resourceVersion } = object.metadata;
      // An object that is renewed at this moment stays.
      const preconditions = { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) };
      await unlessOvertaken(writer.remove(target, { preconditions, ...(propagationPolicy && { propagationPolicy }) }));
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
