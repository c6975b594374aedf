import { type ApiErrorReason, isApiError } from "../../../src/api/api-error.ts";
import type { Pod } from "../../../src/api/gen/types.ts";
import { CONFIG_MAPS as CONFIG_MAP_KIND, NODES, PODS, SECRETS as SECRET_KIND } from "../../../src/api/kube-resource.ts";
import { podReference, podUid } from "../../../src/api/pods.ts";
import { messageOf } from "../../../src/base/errors.ts";
import type { FakeClock } from "../../../src/host/fake/fake-clock.ts";
import { NODE_NAME } from "../manifests.ts";
import { short, type Trace } from "../trace.ts";
import {
  CONFIG_MAPS,
  KEY,
  NAMESPACE,
  type ObjectKind,
  POD_NAMES,
  randomApiPod,
  SECRETS,
  withOtherImage,
} from "./api-objects.ts";
import type { Cluster } from "./create-cluster.ts";

/** What users and administrators do to the API, and what they know for having done it. */
export interface ApiUser {
  do(deed: Deed): Promise<void>;
  /** Makes every object that pods may still wait for. */
  makeMissing(): Promise<void>;
  /** What an object's key says; undefined while there is none. */
  word(kind: ObjectKind, name: string): string | undefined;
  /** What it ever said. */
  words(kind: ObjectKind, name: string): ReadonlySet<string>;
  /** Pods whose containers a user had restarted. */
  readonly disturbed: ReadonlySet<string>;
}

export const DEEDS = [
  "create",
  "create",
  "create",
  "create several",
  "delete",
  "delete",
  "delete slowly",
  "delete by force",
  "replace by force",
  "label",
  "change image",
  "delete a mirror",
  "delete the node",
  "change an object",
  "change an object",
  "delete an object",
] as const;
export type Deed = (typeof DEEDS)[number];
/** Those that are done to a pod which is there. */
type PodDeed = Extract<
  Deed,
  "delete" | "delete slowly" | "delete by force" | "replace by force" | "label" | "change image"
>;

interface UserDeps {
  cluster: Cluster;
  clock: FakeClock;
  trace: Trace;
  /** Gives some pods limits. */
  growth: { dress(pod: Pod): Pod } | undefined;
  probed: { dress(pod: Pod): Pod } | undefined;
  fail(invariant: string, message: string): void;
}

/** The object is another's or nobody's by now, or the namespace's service account is not made yet. */
const EXPECTED: readonly ApiErrorReason[] = ["AlreadyExists", "NotFound", "Conflict", "Forbidden"];

const OBJECTS: ReadonlyArray<{ kind: ObjectKind; name: string }> = [
  ...SECRETS.map((name) => ({ kind: "Secret" as const, name })),
  ...CONFIG_MAPS.map((name) => ({ kind: "ConfigMap" as const, name })),
];

export function createApiUser({ cluster, clock, trace, growth, probed, fail }: UserDeps): ApiUser {
  const { admin, dice, pods } = cluster;
  const current = new Map<string, string>();
  const ever = new Map<string, Set<string>>();
  const disturbed = new Set<string>();
  const keyOf = (kind: ObjectKind, name: string) => `${kind}/${name}`;
  let count = 0;

  const attempt = async (what: string, work: () => Promise<unknown>): Promise<boolean> => {
    try {
      await work();
      trace.note(`user: ${what}`);
      return true;
    } catch (error) {
      trace.note(`user: ${what}, which is refused: ${messageOf(error)}`);
      const isExpected = EXPECTED.some((reason) => isApiError(error, reason));
      if (!isExpected) fail("the API server does what users may ask", `${what}: ${messageOf(error)}`);
      return false;
    }
  };

  const create = async (name: string) => {
    const bare = randomApiPod(dice, name);
    const claiming = cluster.storage?.dress(bare) ?? bare;
    const growing = growth?.dress(claiming) ?? claiming;
    const pod = probed?.dress(growing) ?? growing;
    const claims = (pod.spec?.volumes ?? []).flatMap(
      ({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? [],
    );
    const what = claims.length === 0 ? `pod ${name}` : `pod ${name} with ${claims.join(" and ")}`;
    await attempt(`creates ${what}`, async () => await admin.create(PODS, pod));
  };

  const remove = async (pod: Pod, gracePeriodSeconds?: number) => {
    const { name, namespace, uid } = podReference(pod);
    const how = gracePeriodSeconds === undefined ? "" : ` within ${gracePeriodSeconds} s`;
    await attempt(`deletes pod ${name} ${short(uid)}${how}`, async () => {
      await admin.delete(PODS, { name, namespace }, { gracePeriodSeconds, uid });
    });
  };

  const say = async (kind: ObjectKind, name: string) => {
    const word = `word ${++count}`;
    const metadata = { name, namespace: NAMESPACE };
    const isNew = current.get(keyOf(kind, name)) === undefined;
    // It is read as soon as the server has it, which is before the answer.
    const words = ever.get(keyOf(kind, name)) ?? new Set();
    ever.set(keyOf(kind, name), words.add(word));
    const done = await attempt(`${isNew ? "creates" : "changes"} ${kind} ${name}: ${word}`, async () => {
      if (kind === "Secret") {
        const secret = { apiVersion: "v1", kind, metadata, stringData: { [KEY]: word } };
        await (isNew ? admin.create(SECRET_KIND, secret) : admin.replace(SECRET_KIND, secret));
      } else {
        const configMap = { apiVersion: "v1", kind, metadata, data: { [KEY]: word } };
        await (isNew ? admin.create(CONFIG_MAP_KIND, configMap) : admin.replace(CONFIG_MAP_KIND, configMap));
      }
    });
    if (done) current.set(keyOf(kind, name), word);
  };

  const unsay = async (kind: ObjectKind, name: string) => {
    if (current.get(keyOf(kind, name)) === undefined) return;
    const resource = kind === "Secret" ? SECRET_KIND : CONFIG_MAP_KIND;
    const done = await attempt(`deletes ${kind} ${name}`, async () => {
      await admin.delete<unknown>(resource, { name, namespace: NAMESPACE });
    });
    if (done) current.delete(keyOf(kind, name));
  };

  const patch = async (pod: Pod, what: string, body: object) => {
    const { name, namespace } = podReference(pod);
    return await attempt(`${what} of pod ${name}`, async () => {
      await admin.patch(PODS, { name, namespace }, { type: "strategic", body });
    });
  };

  const changePod = async (deed: PodDeed, pod: Pod): Promise<void> => {
    switch (deed) {
      case "delete":
        return await remove(pod, dice.pick([undefined, undefined, 1, 5, 45]));
      case "delete slowly": {
        clock.setTimer(dice.between(200, 20_000), () => void remove(pod, dice.pick([0, 1, 2])));
        return await remove(pod, dice.pick([10, 30, 60]));
      }
      case "delete by force":
        return await remove(pod, 0);
      case "replace by force":
        await remove(pod, 0);
        return await create(podReference(pod).name);
      case "label":
        await patch(pod, "changes a label", { metadata: { labels: { variant: String(dice.whole(100, 199)) } } });
        return;
      case "change image": {
        const container = withOtherImage(dice, pod);
        if (container === undefined) return;
        disturbed.add(podUid(pod));
        await patch(pod, `changes the image of ${container.name}`, { spec: { containers: [container] } });
      }
    }
  };

  return {
    async do(deed) {
      const object = dice.pickAny(OBJECTS) ?? { kind: "Secret", name: "" };
      switch (deed) {
        case "create":
          return await create(dice.pick(POD_NAMES));
        case "create several":
          for (const name of POD_NAMES.slice(0, dice.whole(2, 4))) await create(name);
          return;
        case "delete a mirror": {
          const mirror = dice.pickAny(pods.mirrors());
          if (mirror !== undefined) await remove(mirror, dice.pick([undefined, 0]));
          return;
        }
        case "delete the node":
          await attempt("deletes the node", async () => {
            await admin.delete(NODES, { name: NODE_NAME, namespace: "" });
          });
          return;
        case "change an object":
          return await say(object.kind, object.name);
        case "delete an object":
          return await unsay(object.kind, object.name);
        default: {
          const pod = dice.pickAny(pods.bound());
          if (pod !== undefined) await changePod(deed, pod);
        }
      }
    },
    async makeMissing() {
      for (const { kind, name } of OBJECTS) if (current.get(keyOf(kind, name)) === undefined) await say(kind, name);
    },
    word: (kind, name) => current.get(keyOf(kind, name)),
    words: (kind, name) => ever.get(keyOf(kind, name)) ?? new Set(),
    disturbed,
  };
}
