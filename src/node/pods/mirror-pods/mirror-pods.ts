import type { Pod } from "../../../api/gen/types.ts";
import { podReference } from "../../../api/pods.ts";
import { aborted, childController, isAbort, sleep } from "../../../base/abort.ts";
import { assert } from "../../../base/assert.ts";
import { computeBackOff } from "../../../base/back-off.ts";
import type { Clock } from "../../../base/clock.ts";
import { messageOf, throwJoined } from "../../../base/errors.ts";
import { createLimiter } from "../../../base/limiter.ts";
import type { Log } from "../../../base/log.ts";
import { jitter, type Random } from "../../../base/random.ts";
import { createTasks, type Tasks } from "../../../base/tasks.ts";
import type { KubeClient } from "../../../kube/port.ts";
import { createMirrorChanges, type MirrorChange } from "./change-mirror.ts";
import { findForbiddenReference } from "./make-mirror-pod.ts";
import { createMirrorTrack, type MirrorPlace, type MirrorTrack, placesOf } from "./mirror-track.ts";
import type { MirrorAction, MirrorView } from "./plan-mirror-pods.ts";

/** Keeps the API's images of the static pods: created, replaced when outdated or deleted, and removed with them. */
interface MirrorPods {
  /**
   * To be called whenever the view changes. An action that is under way for an older view is finished, but no other
   * begins.
   */
  update(view: MirrorView): void;
  /** Works until the signal fires, and returns when no request is under way. */
  run(signal: AbortSignal): Promise<void>;
}

/** What mirror pods need of their neighbours. */
interface MirrorPodsDeps {
  readonly client: Pick<KubeClient, "create" | "delete" | "get">;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** The node whose mirrors they are. */
interface MirrorPodsOptions {
  readonly nodeName: string;
}

const INITIAL_RETRY_MS = 1_000;
const MAX_RETRY_MS = 30_000;
/** How long to wait where a foreign pod has the mirror's name, which only people can settle. */
const TAKEN_RETRY_MS = 60_000;
/** A mirror that the watch does not show by then is looked for: it may have been deleted before the watch showed it. */
const UNSEEN_MS = 30_000;
const JITTER = 0.2;
/** Requests under way at once. */
const MAX_CONCURRENT = 8;

interface Entry {
  readonly track: MirrorTrack;
  failures: number;
  isBusy: boolean;
  /** Ends the wait that is under way. */
  wake: (() => void) | undefined;
  /** The last complaint, which is logged once. */
  said: string | undefined;
}

export function createMirrorPods(deps: MirrorPodsDeps, { nodeName }: MirrorPodsOptions): MirrorPods {
  const { client, clock, random, log } = deps;
  const changes = createMirrorChanges(client, nodeName);
  const limiter = createLimiter(MAX_CONCURRENT);
  const entries = new Map<string, Entry>();
  let working: { signal: AbortSignal; tasks: Tasks } | undefined;

  const sayOnce = (entry: Entry, pod: Pod, message: string): void => {
    const fields = { pod: podReference(pod).name, namespace: podReference(pod).namespace };
    log[entry.said === message ? "debug" : "warn"](message, fields);
    entry.said = message;
  };

  /** Waits until the time is over or the view shows another picture, after which a failure counts as a new one. */
  const pause = async (entry: Entry, ms: number, signal: AbortSignal): Promise<"elapsed" | "woken"> => {
    const { controller, release } = childController(signal);
    entry.wake = () => controller.abort();
    try {
      await sleep(clock, ms, controller.signal);
      return "elapsed";
    } catch (error) {
      if (signal.aborted || !isAbort(error)) throw error;
      return "woken";
    } finally {
      entry.wake = undefined;
      release();
    }
  };

  const take = async (action: MirrorAction, signal: AbortSignal): Promise<MirrorChange> =>
    await limiter.run(async () => {
      if (action.kind === "delete") return await changes.remove(action.mirror, signal);
      return await changes.create(action.staticPod, action.nodeUid, signal);
    }, signal);

  const backOff = (entry: Entry): number => {
    entry.failures++;
    const range = { initialMs: INITIAL_RETRY_MS, maxMs: MAX_RETRY_MS };
    return jitter(random, computeBackOff(entry.failures, range), JITTER);
  };

  /** How long to wait before the next action. */
  const settle = (entry: Entry, action: MirrorAction, change: MirrorChange): number => {
    if (change.kind === "taken") {
      sayOnce(entry, change.by, "Failed creating a mirror pod for: a pod that is no mirror has its name");
      return jitter(random, TAKEN_RETRY_MS, JITTER);
    }
    if (change.kind === "present" && !entry.track.present(change.mirror)) return backOff(entry);
    if (action.kind === "delete") entry.track.absent(action.mirror);
    entry.failures = 0;
    entry.said = undefined;
    return 0;
  };

  const advance = async (entry: Entry, action: MirrorAction, signal: AbortSignal): Promise<number> => {
    try {
      return settle(entry, action, await take(action, signal));
    } catch (error) {
      if (isAbort(error)) throw error;
      const what = action.kind === "create" ? "Failed creating a mirror pod for" : "Failed deleting a mirror pod";
      sayOnce(entry, action.kind === "create" ? action.staticPod : action.mirror, `${what}: ${messageOf(error)}`);
      return backOff(entry);
    }
  };

  /** Does the actions for a full name, one at a time. */
  const drive = async (entry: Entry, signal: AbortSignal): Promise<void> => {
    try {
      for (;;) {
        const action = entry.track.next();
        if (action === undefined && !entry.track.isAhead) return;
        if (action === undefined) {
          if ((await pause(entry, UNSEEN_MS, signal)) === "elapsed") entry.track.doubt();
        } else {
          const delayMs = await advance(entry, action, signal);
          if (delayMs > 0) await pause(entry, delayMs, signal);
        }
      }
    } finally {
      entry.isBusy = false;
    }
  };

  const kick = (fullName: string, entry: Entry): void => {
    if (working === undefined || working.signal.aborted || entry.isBusy || entry.track.next() === undefined) return;
    const { signal, tasks } = working;
    entry.isBusy = true;
    tasks.spawn(`the mirror of ${fullName}`, async () => await drive(entry, signal));
  };

  const see = (view: MirrorView, fullName: string, place: MirrorPlace): void => {
    const entry = entries.get(fullName) ?? createEntry(fullName);
    entries.set(fullName, entry);
    const forbidden = place.staticPod && findForbiddenReference(place.staticPod);
    if (place.staticPod !== undefined && forbidden !== undefined) {
      sayOnce(entry, place.staticPod, `Failed creating a mirror pod for: it would reference ${forbidden}`);
    }
    if (entry.track.see(view, place)) {
      entry.failures = 0;
      entry.wake?.();
    }
    kick(fullName, entry);
    if (!entry.isBusy && place.staticPod === undefined && place.mirror === undefined) entries.delete(fullName);
  };

  return {
    update(view) {
      const places = placesOf(view);
      const gone = [...entries.keys()].filter((fullName) => !places.has(fullName));
      for (const [fullName, place] of places) see(view, fullName, place);
      for (const fullName of gone) see(view, fullName, { staticPod: undefined, mirror: undefined });
    },
    async run(signal) {
      assert(working === undefined, "mirror pods are kept by one at a time");
      const { controller, release } = childController(signal);
      const crashes: unknown[] = [];
      const tasks = createTasks((_name, error) => {
        crashes.push(error);
        controller.abort();
      });
      working = { signal: controller.signal, tasks };
      for (const [fullName, entry] of entries) kick(fullName, entry);
      await aborted(controller.signal);
      await tasks.settled();
      release();
      working = undefined;
      throwJoined(crashes, "keeping mirror pods");
    },
  };
}

function createEntry(fullName: string): Entry {
  return { track: createMirrorTrack(fullName), failures: 0, isBusy: false, wake: undefined, said: undefined };
}
