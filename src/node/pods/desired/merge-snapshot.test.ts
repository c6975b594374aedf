import { describe, expect, it } from "vitest";
import type { Pod } from "../../../api/gen/types.ts";
import { podFullName, podUid } from "../../../api/pods.ts";
import { claimsOf, type MergeInput, mergeSnapshot } from "./merge-snapshot.ts";

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
const SEEN = "kubernetes.io/config.seen";

function makePod(name: string, changes: Partial<Pod> = {}, metadata: Partial<NonNullable<Pod["metadata"]>> = {}): Pod {
  return {
    metadata: { name, namespace: "default", uid: `uid-${name}`, ...metadata },
    spec: { containers: [{ name: "main", image: "busybox" }] },
    status: { phase: "Pending" },
    ...changes,
  };
}

function merge(offered: Pod[], before: Pod[] = [], options: Partial<MergeInput> = {}) {
  const describe = (pod: Pod) => `pod ${podFullName(pod)}`;
  const accepted = new Map(before.map((pod) => [podUid(pod), pod]));
  const input: MergeInput = { source: "file", offered, accepted, claims: new Map(), describe, now: NOW, ...options };
  return mergeSnapshot(input);
}

const accept = (...pods: Pod[]) => [...merge(pods).accepted.values()];
const summarize = ({ updates }: ReturnType<typeof merge>) =>
  updates.map(({ op, pods }) => [op, ...pods.map((pod) => pod.metadata?.uid)].join(" "));

describe("merging a snapshot", () => {
  const before = accept(makePod("a"));
  const annotated = accept(makePod("a", {}, { annotations: { mine: "1" } }));

  it.each<[string, Pod[], Pod[], string[]]>([
    ["a new pod", [], [makePod("a")], ["ADD uid-a"]],
    ["the same pod", before, [makePod("a")], []],
    ["a pod that is gone", before, [], ["REMOVE uid-a"]],
    ["another specification", before, [makePod("a", { spec: { containers: [] } })], ["UPDATE uid-a"]],
    ["a field that is undefined rather than absent", before, [makePod("a", {}, { labels: {} })], []],
    ["another label", before, [makePod("a", {}, { labels: { app: "web" } })], ["UPDATE uid-a"]],
    ["another annotation", before, [makePod("a", {}, { annotations: { mine: "1" } })], ["UPDATE uid-a"]],
    ["an annotation less", annotated, [makePod("a")], ["UPDATE uid-a"]],
    ["the node's own annotations", before, [makePod("a", {}, { annotations: { [SEEN]: "never" } })], []],
    ["another version that says the same", before, [makePod("a", {}, { resourceVersion: "2" })], ["RECONCILE uid-a"]],
    ["another status", before, [makePod("a", { status: { phase: "Failed" } })], ["RECONCILE uid-a"]],
    [
      "another specification and status",
      before,
      [makePod("a", { spec: { containers: [] }, status: { phase: "Failed" } })],
      ["UPDATE uid-a"],
    ],
    [
      "a graceful deletion",
      before,
      [makePod("a", {}, { deletionTimestamp: "2026-01-02T03:04:05Z", deletionGracePeriodSeconds: 30 })],
      ["DELETE uid-a"],
    ],
    [
      "a shorter grace period",
      accept(makePod("a", {}, { deletionTimestamp: "2026-01-02T03:04:05Z", deletionGracePeriodSeconds: 30 })),
      [makePod("a", {}, { deletionTimestamp: "2026-01-02T03:04:05Z", deletionGracePeriodSeconds: 5 })],
      ["DELETE uid-a"],
    ],
    ["a manifest that changed", before, [makePod("a", {}, { uid: "other" })], ["REMOVE uid-a", "ADD other"]],
    [
      "everything at once, in order",
      accept(makePod("a"), makePod("b"), makePod("c"), makePod("d"), makePod("e")),
      [
        makePod("e", { status: { phase: "Running" } }),
        makePod("d", {}, { deletionTimestamp: "2026-01-02T03:04:05Z" }),
        makePod("c", { spec: { containers: [] } }),
        makePod("b"),
        makePod("f"),
      ],
      ["REMOVE uid-a", "ADD uid-f", "UPDATE uid-c", "DELETE uid-d", "RECONCILE uid-e"],
    ],
  ])("%s", (_what, existing, offered, expected) => {
    expect(summarize(merge(offered, existing))).toEqual(expected);
  });

  it("marks the source and the time at which it saw the pod first, and keeps both", () => {
    const [pod] = accept(makePod("a"));
    expect(pod?.metadata?.annotations).toEqual({
      "kubernetes.io/config.source": "file",
      [SEEN]: "2026-01-02T03:04:05.678000000Z",
    });
    const offered = makePod("a", { spec: { containers: [] } }, { annotations: { mine: "1", [SEEN]: "forged" } });
    const updated = merge([offered], pod === undefined ? [] : [pod], { now: NOW + 60_000 });
    expect(updated.updates[0]?.pods[0]?.metadata?.annotations).toEqual({ ...pod?.metadata?.annotations, mine: "1" });
  });

  it("removes a pod as it was at its end, where that was seen", () => {
    const existing = accept(makePod("a"), makePod("b"));
    const last = makePod("a", {}, { deletionTimestamp: "2026-01-02T03:04:05Z", deletionGracePeriodSeconds: 0 });
    const { updates } = merge([], existing, { lastSeen: new Map([["uid-a", last]]) });
    expect(updates.map(({ op }) => op)).toEqual(["REMOVE"]);
    expect(updates[0]?.pods.map(({ metadata }) => metadata?.deletionGracePeriodSeconds)).toEqual([0, undefined]);
    expect(updates[0]?.pods[0]?.metadata?.annotations).toEqual(existing[0]?.metadata?.annotations);
  });

  it("removes and adds what was away meanwhile, also where nothing of it changed", () => {
    const existing = accept(makePod("a"), makePod("b"));
    const result = merge([makePod("a"), makePod("b"), makePod("c")], existing, {
      returned: new Set(["uid-a", "uid-c", "uid-gone"]),
      now: NOW + 1_000,
    });
    expect(summarize(result)).toEqual(["REMOVE uid-a", "ADD uid-a uid-c"]);
    expect(result.updates[0]?.pods).toEqual([existing[0]]);
    expect(result.accepted.get("uid-a")?.metadata?.annotations?.[SEEN]).toBe("2026-01-02T03:04:06.678000000Z");
  });

  it("changes no value that it was given", () => {
    const [existing] = accept(makePod("a"));
    const offered = makePod("a", { spec: { containers: [] } });
    const copies = structuredClone([existing, offered]);
    merge([offered], existing === undefined ? [] : [existing]);
    expect([existing, offered]).toEqual(copies);
  });
});

describe("pods of one name", () => {
  const twin = makePod("a", {}, { uid: "twin" });
  const mirror = makePod("a", {}, { uid: "mirror", annotations: { "kubernetes.io/config.mirror": "x" } });
  const claims = new Map(claimsOf(makePod("a")).map((claim) => [claim, "pod a (http)"]));

  it.each<[string, Pod[], string[], { existing?: Pod[]; options?: Partial<MergeInput> }]>([
    ["the first stays", [makePod("a"), twin], ["ADD uid-a"], {}],
    ["a running pod stays, wherever the newcomer stands", [twin, makePod("a")], [], { existing: accept(makePod("a")) }],
    ["the next moves up", [twin], ["REMOVE uid-a", "ADD twin"], { existing: accept(makePod("a")) }],
    ["another namespace", [makePod("a"), makePod("a", {}, { uid: "x", namespace: "y" })], ["ADD uid-a x"], {}],
    ["one UID, two names", [makePod("a"), makePod("b", {}, { uid: "uid-a" })], ["ADD uid-a"], {}],
    ["the same pod twice", [makePod("a"), makePod("a")], ["ADD uid-a"], {}],
    ["another source has the name", [twin, makePod("b")], ["ADD uid-b"], { options: { claims } }],
    ["a mirror pod shares its static pod's", [mirror], ["ADD mirror"], { options: { source: "api", claims } }],
  ])("%s", (_what, offered, expected, { existing, options }) => {
    expect(summarize(merge(offered, existing, options))).toEqual(expected);
  });

  it("names both pods and what they share", () => {
    expect(merge([makePod("a"), twin]).refused).toEqual([
      { pod: twin, message: 'pod a_default is refused: its name "a_default" is that of pod a_default' },
    ]);
  });
});
