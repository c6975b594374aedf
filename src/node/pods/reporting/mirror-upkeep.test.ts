import { expect, it } from "vitest";
import type { Node, Pod } from "../../../api/gen/types.ts";
import { podFullName, podUid } from "../../../api/pods.ts";
import type { MirrorView } from "../mirror-pods/plan-mirror-pods.ts";
import type { PodState } from "../workers/pod-state.ts";
import { apiPod, createDesired, mirrorOf, staticPod } from "./__fixtures__/desired.ts";
import { createMirrorUpkeep } from "./mirror-upkeep.ts";

const web = staticPod("hash-1");
const ending = {
  deleted: true,
  evicted: false,
  gracePeriodSeconds: 1,
  statusOverride: undefined,
  restartRequested: false,
};

function syncing(pod: Pod): [string, PodState] {
  const fullName = podFullName(pod);
  return [podUid(pod), { phase: "syncing", subject: { kind: "pod", pod }, fullName, restartRequested: false }];
}

function createRig() {
  const views: MirrorView[] = [];
  const outlived = new Set<Pod>();
  let node: Node | undefined;
  let onNode = () => {};
  let onStatus: (published: { pod: Pod }) => void = () => {};
  let stops = 0;
  const stop = () => void stops++;
  const desired = createDesired({ pods: [web, apiPod("api-1"), staticPod("hash-2", "refused")], mirrors: [] });
  const upkeep = createMirrorUpkeep({
    desired,
    lives: {
      forgetGone: () => {},
      isOutlived: (mirror) => outlived.has(mirror),
      outlivedMirrorOf: (pod) => (outlived.has(pod) ? pod : undefined),
    },
    mirrors: { update: (view) => void views.push(view) },
    registration: {
      node: () => node,
      subscribe(listener) {
        onNode = listener;
        return stop;
      },
    },
    statuses: {
      subscribe(listener) {
        onStatus = listener;
        return stop;
      },
    },
  });
  return {
    upkeep,
    desired,
    views,
    outlived,
    register() {
      node = { metadata: { name: "node-1", uid: "node-uid" } };
      onNode();
    },
    publish: (pod: Pod) => onStatus({ pod }),
    stops: () => stops,
  };
}

it("wants mirrors of the static pods that were let in", () => {
  const { upkeep, desired, views } = createRig();
  const mirror = mirrorOf(web, "mirror-1");
  desired.wanted.mirrors = [mirror];
  upkeep.podsChanged(new Map([syncing(web), syncing(apiPod("api-1"))]));
  expect(views).toMatchObject([{ staticPods: [web], mirrorPods: [mirror], nodeUid: undefined, sourcesReady: true }]);
});

it("keeps the mirrors of pods that are being stopped, until they are", () => {
  const { upkeep, views } = createRig();
  const common = { subject: { kind: "pod", pod: web } as const, fullName: podFullName(web), ...ending };
  for (const phase of ["terminating", "terminated", "finished"] as const) {
    upkeep.podsChanged(new Map([["hash-1", { ...common, phase }]]));
  }
  expect(views.map(({ isEnding }) => isEnding(podFullName(web)))).toEqual([true, true, false]);
});

it("looks again when the node is registered, and when a pod's mirror turns out to be outlived", async () => {
  const { upkeep, views, outlived, register, publish, stops } = createRig();
  const stopping = new AbortController();
  const running = upkeep.run(stopping.signal);
  expect(views).toHaveLength(0);
  register();
  expect(views).toMatchObject([{ nodeUid: "node-uid" }]);
  publish(web);
  expect(views).toHaveLength(1);
  outlived.add(web);
  publish(web);
  expect(views).toHaveLength(2);
  stopping.abort();
  await running;
  expect(stops()).toBe(2);
});
