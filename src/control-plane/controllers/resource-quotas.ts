import { isDeepStrictEqual } from "node:util";
import { type KubeObject, typed, untyped } from "../../api/object.ts";
import { isAbort } from "../../base/abort.ts";
import { type Controller, type ControllerDeps, runFollowing, unlessOvertaken } from "../control-loop/controller.ts";
import { namespacedKeyOf, splitNamespacedKey } from "../control-loop/namespaced-key.ts";
import { createWorkQueue } from "../control-loop/work-queue.ts";
import type { ResourceEvent } from "../ports/resources.ts";
import { isSameUsage, type QuotaUsage, selectUsage } from "../quota/quota-amounts.ts";
import { countName } from "../quota/usage-rule.ts";
import { countUsage, isMeasured } from "../quota/usage-rules.ts";
import type { ForeignServers } from "./foreign-content.ts";
import { countForeign } from "./foreign-counts.ts";

const QUOTAS = "resourcequotas";
const DEFINITIONS = "customresourcedefinitions.apiextensions.k8s.io";
/** Every quota is counted anew so often, for what time alone changes: a pod whose node is lost. */
const COUNT_AGAIN_MS = 5 * 60_000;

/** Nobody tells when objects come and go that API servers of others have. */
const COUNT_FOREIGN_AGAIN_MS = 30_000;

interface QuotaControllerDeps extends ControllerDeps, Partial<ForeignServers> {
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
    async reconcile(key, signal) {
      const read = () => reader.get({ resource: QUOTAS, ...splitNamespacedKey(key) });
      const elsewhere = await countElsewhere(deps, read(), signal);
      const found = read();
      if (found === undefined) return undefined;
      // Nothing is awaited between the count and the write, so that what is counted is what is there.
      const next = countedQuota(deps, found, { elsewhere: elsewhere ?? {}, now: clock.now() });
      if (next !== undefined) await unlessOvertaken(writer.update(QUOTAS, next, "status"));
      return elsewhere === undefined ? COUNT_AGAIN_MS : COUNT_FOREIGN_AGAIN_MS;
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

/** What the API servers of others have of what the quota limits; undefined where it limits nothing of theirs. */
async function countElsewhere(
  { readForeign, foreignResources, namespacedResources }: QuotaControllerDeps,
  object: KubeObject | undefined,
  signal: AbortSignal,
): Promise<QuotaUsage | undefined> {
  if (object === undefined || readForeign === undefined || foreignResources === undefined) return undefined;
  const own = new Set(namespacedResources().map(countName));
  const limited = Object.keys(typed("ResourceQuota", object).spec?.hard ?? {});
  const names = limited.filter((name) => name.startsWith(countName("")) && !own.has(name));
  if (names.length === 0) return undefined;
  const { namespace = "" } = object.metadata;
  try {
    return await countForeign({ readForeign, foreignResources }, { namespace, names, signal });
  } catch (error) {
    // The control plane stops.
    if (isAbort(error)) return undefined;
    throw error;
  }
}

interface Count {
  readonly elsewhere: QuotaUsage;
  readonly now: number;
}

/** The quota with the status that is right now; undefined when it has it. */
function countedQuota(
  { reader, namespacedResources }: QuotaControllerDeps,
  object: KubeObject,
  { elsewhere, now }: Count,
): KubeObject | undefined {
  const quota = typed("ResourceQuota", object);
  const { hard = {} } = quota.spec ?? {};
  const { hard: shownHard, used: shownUsed } = quota.status ?? {};
  const { namespace = "" } = object.metadata;
  const counting = { reader, resources: namespacedResources(), now };
  // What nothing counts keeps the amount that somebody else has written.
  const used = {
    ...selectUsage(shownUsed ?? {}, Object.keys(hard)),
    ...selectUsage(elsewhere, Object.keys(hard)),
    ...countUsage(quota.spec ?? {}, namespace, counting),
  };
  const isShown = shownHard !== undefined && shownUsed !== undefined;
  if (isShown && isSameUsage(shownHard, hard) && isSameUsage(shownUsed, used)) return undefined;
  return untyped({ ...quota, status: { hard: { ...hard }, used: { ...used } } });
}
