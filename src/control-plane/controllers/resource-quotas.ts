import { isDeepStrictEqual } from "node:util";
import { type KubeObject, typed, untyped } from "../../api/object.ts";
import { type Controller, type ControllerDeps, runFollowing, unlessOvertaken } from "../control-loop/controller.ts";
import { namespacedKeyOf, splitNamespacedKey } from "../control-loop/namespaced-key.ts";
import { createWorkQueue } from "../control-loop/work-queue.ts";
import type { ResourceEvent } from "../ports/resources.ts";
import { isSameUsage, selectUsage } from "../quota/quota-amounts.ts";
import { countUsage, isMeasured } from "../quota/usage-rules.ts";

const QUOTAS = "resourcequotas";
const DEFINITIONS = "customresourcedefinitions.apiextensions.k8s.io";
/** Every quota is counted anew so often, for what time alone changes: a pod whose node is lost. */
const COUNT_AGAIN_MS = 5 * 60_000;

interface QuotaControllerDeps extends ControllerDeps {
  /** The resources of namespaced objects (`pods`, `deployments.apps`). Asked anew each time. */
  namespacedResources: () => readonly string[];
}

/**
 * Counts what quotas have in use (`pkg/controller/resourcequota`): for a new quota or one of other limits, and whenever
 * something of its namespace went or needs less. What comes is counted by admission, with the write.
 */
export function createResourceQuotaController(deps: QuotaControllerDeps): Controller {
  const { reader, writer, feed, clock } = deps;
  const quotasOf = new Map<string, Set<string>>();
  const queue = createWorkQueue(deps, {
    name: "resourcequota_primary",
    async reconcile(key) {
      const found = reader.get({ resource: QUOTAS, ...splitNamespacedKey(key) });
      if (found === undefined) return undefined;
      // Nothing is awaited between the count and the write, so that what is counted is what is there.
      const next = countedQuota(deps, found, clock.now());
      if (next !== undefined) await unlessOvertaken(writer.update(QUOTAS, next, "status"));
      return COUNT_AGAIN_MS;
    },
  });
  const addAll = (keys: Iterable<string> = []) => {
    for (const key of keys) queue.add(key);
  };
  const follow = () => [
    feed.follow(QUOTAS, (event) => {
      const { object } = event;
      const { namespace = "" } = object.metadata;
      const key = namespacedKeyOf(object.metadata);
      const keys = quotasOf.get(namespace) ?? new Set();
      if (event.type === "DELETED") keys.delete(key);
      else keys.add(key);
      if (keys.size > 0) quotasOf.set(namespace, keys);
      else quotasOf.delete(namespace);
      if (!isDeepStrictEqual(event.previous?.["spec"], object["spec"])) queue.add(key);
    }),
    feed.followAll((resource, event) => {
      if (quotasOf.size === 0) return;
      if (resource === DEFINITIONS) {
        // A quota may limit objects of a kind that comes only now.
        for (const keys of quotasOf.values()) addAll(keys);
      } else if (mayNeedLess(resource, event)) {
        addAll(quotasOf.get(event.object.metadata.namespace ?? ""));
      }
    }),
  ];
  return { run: (signal) => runFollowing(queue, follow, signal) };
}

function mayNeedLess(resource: string, { type }: ResourceEvent): boolean {
  return type === "DELETED" || (type === "MODIFIED" && isMeasured(resource));
}

/** The quota with the status that is right now; undefined when it has it. */
function countedQuota(
  { reader, namespacedResources }: QuotaControllerDeps,
  object: KubeObject,
  now: number,
): KubeObject | undefined {
  const quota = typed("ResourceQuota", object);
  const { hard = {} } = quota.spec ?? {};
  const { hard: shownHard, used: shownUsed } = quota.status ?? {};
  const { namespace = "" } = object.metadata;
  const counting = { reader, resources: namespacedResources(), now };
  // What nothing counts keeps the amount that somebody else has written.
  const used = {
    ...selectUsage(shownUsed ?? {}, Object.keys(hard)),
    ...countUsage(quota.spec ?? {}, namespace, counting),
  };
  const isShown = shownHard !== undefined && shownUsed !== undefined;
  if (isShown && isSameUsage(shownHard, hard) && isSameUsage(shownUsed, used)) return undefined;
  return untyped({ ...quota, status: { hard: { ...hard }, used: { ...used } } });
}
