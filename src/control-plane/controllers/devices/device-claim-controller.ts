import { type KubeObject, typed } from "../../../api/object.ts";
import { DEVICE_CLAIMS, deviceClaimNamesOf, isPodDone } from "../../claims/device-claims.ts";
import { type Controller, type ControllerDeps, runFollowingWithEvents } from "../../control-loop/controller.ts";
import { namespacedKeyOf, splitNamespacedKey } from "../../control-loop/namespaced-key.ts";
import { createObjectIndex } from "../../control-loop/object-index.ts";
import { podNameOf } from "../../control-loop/pods-by-node.ts";
import { createEventRecorder } from "../../control-loop/record-events.ts";
import { createWorkQueue } from "../../control-loop/work-queue.ts";
import { CLAIM_TEMPLATES, makeDeviceClaims } from "./make-device-claims.ts";
import { reserveForPlacedPod } from "./reserve-for-placed-pod.ts";
import { settleDeviceClaim } from "./settle-device-claim.ts";

const COMPONENT = "resource_claim";

/**
 * Makes the claims of devices that pods have templates for, and takes devices back from claims that nobody uses any
 * more (`pkg/controller/resourceclaim`). A pod owns the claims that were made for it, so that they are deleted with it.
 */
export function createDeviceClaimController(deps: ControllerDeps): Controller {
  const events = createEventRecorder(deps, COMPONENT);
  const podsOfClaim = createObjectIndex(claimKeysOf);
  const podsOfTemplate = createObjectIndex(templateKeysOf);
  const queue = createWorkQueue(deps, {
    name: COMPONENT,
    async reconcile(item) {
      const [kind, key = ""] = item.split(" ");
      if (kind === "claim") await settleDeviceClaim(deps, splitNamespacedKey(key));
      else await settlePod(key);
      return undefined;
    },
  });
  const settlePod = async (key: string) => {
    const object = deps.reader.get(podNameOf(key));
    if (object === undefined || !isWaitingForClaims(object)) return;
    await makeDeviceClaims({ ...deps, events }, object);
    await reserveForPlacedPod(deps, object);
  };
  const addPods = (keys: readonly string[]) => {
    for (const key of keys) queue.add(`pod ${key}`);
  };
  const follow = () => [
    deps.feed.follow("pods", (event) => {
      const { object } = event;
      podsOfClaim.apply(event);
      podsOfTemplate.apply(event);
      if (event.type !== "DELETED" && isWaitingForClaims(object)) addPods([namespacedKeyOf(object.metadata)]);
      else if (event.type === "DELETED" || isPodDone(typed("Pod", object))) {
        for (const key of claimKeysOf(object)) queue.add(`claim ${key}`);
      }
    }),
    deps.feed.follow(DEVICE_CLAIMS, ({ type, object }) => {
      const key = namespacedKeyOf(object.metadata);
      if (type !== "DELETED") queue.add(`claim ${key}`);
      addPods(podsOfClaim.keysOf(key));
    }),
    deps.feed.follow(CLAIM_TEMPLATES, ({ type, object }) => {
      if (type !== "DELETED") addPods(podsOfTemplate.keysOf(namespacedKeyOf(object.metadata)));
    }),
  ];
  return { run: (signal) => runFollowingWithEvents(queue, follow, events, signal) };
}

/** True for a pod with claims that may still run. */
function isWaitingForClaims(object: KubeObject): boolean {
  const pod = typed("Pod", object);
  const { deletionTimestamp } = object.metadata;
  return (pod.spec?.resourceClaims ?? []).length > 0 && deletionTimestamp === undefined && !isPodDone(pod);
}

function claimKeysOf(object: KubeObject): string[] {
  const { namespace = "" } = object.metadata;
  return deviceClaimNamesOf(typed("Pod", object)).map((name) => namespacedKeyOf({ namespace, name }));
}

function templateKeysOf(object: KubeObject): string[] {
  const { namespace = "" } = object.metadata;
  return (typed("Pod", object).spec?.resourceClaims ?? []).flatMap(({ resourceClaimTemplateName: name }) => {
    return name === undefined ? [] : [namespacedKeyOf({ namespace, name })];
  });
}
