import { describe, expect, it } from "vitest";
import type { Pod } from "../../../api/gen/types.ts";
import { type PodSource, podUid } from "../../../api/pods.ts";
import type { LogFields } from "../../../base/log.ts";
import { silentLog } from "../../../base/log.ts";
import { createTimeline } from "../../../base/timeline.ts";
import { createFakeClock } from "../../../host/fake/fake-clock.ts";
import { createDesiredPods } from "./desired-pods.ts";
import type { PodUpdate } from "./pod-update.ts";

function makePod(name: string, uid = `uid-${name}`, annotations: Record<string, string> = {}): Pod {
  return { metadata: { name, namespace: "default", uid, annotations }, spec: { containers: [] } };
}

function start(...sources: PodSource[]) {
  const clock = createFakeClock();
  const timeline = createTimeline(clock);
  const errors: LogFields[] = [];
  const log = { ...silentLog, error: (_message: string, fields: LogFields = {}) => void errors.push(fields) };
  return { desired: createDesiredPods({ clock, log, timeline }, { sources }), timeline, errors };
}

const summarize = (updates: PodUpdate[]) =>
  updates.map(({ op, source, pods }) => [op, source, ...pods.map(podUid)].join(" "));

describe("desired pods", () => {
  it("is ready when every source was read, and says so with an ADD without pods where there is none", () => {
    const { desired } = start("file", "http");
    expect([desired.allReady(), desired.seenSources()]).toEqual([false, []]);
    expect(summarize(desired.apply({ source: "http", pods: [] }))).toEqual(["ADD http"]);
    expect([desired.allReady(), desired.seenSources()]).toEqual([false, ["http"]]);
    expect(summarize(desired.apply({ source: "file", pods: [makePod("a")] }))).toEqual(["ADD file uid-a"]);
    expect(desired.allReady()).toBe(true);
    expect(desired.apply({ source: "http", pods: [] })).toEqual([]);
  });

  it("is not ready by a snapshot from which something may be missing", () => {
    const { desired } = start("file");
    expect(summarize(desired.apply({ source: "file", pods: [makePod("a")], isPartial: true }))).toEqual([
      "ADD file uid-a",
    ]);
    expect(desired.allReady()).toBe(false);
    desired.apply({ source: "file", pods: [makePod("a"), makePod("b")] });
    expect(desired.allReady()).toBe(true);
    desired.apply({ source: "file", pods: [makePod("a")], isPartial: true });
    expect(desired.allReady()).toBe(true);
  });

  it("is ready from the start without sources", () => {
    expect(start().desired.allReady()).toBe(true);
  });

  it("finds pods by UID and by full name", () => {
    const { desired } = start("file", "http");
    desired.apply({ source: "file", pods: [makePod("a")] });
    desired.apply({ source: "http", pods: [makePod("b")] });
    expect(desired.pods().map(podUid)).toEqual(["uid-a", "uid-b"]);
    expect(desired.byUid("uid-b")?.metadata?.name).toBe("b");
    expect(desired.byFullName("a_default")?.metadata?.uid).toBe("uid-a");
    expect([desired.byUid("uid-c"), desired.byFullName("a_other")]).toEqual([undefined, undefined]);
    desired.apply({ source: "file", pods: [] });
    expect(desired.pods().map(podUid)).toEqual(["uid-b"]);
  });

  it("takes up a refused pod as soon as the other source frees its name", () => {
    const { desired, errors, timeline } = start("file", "http");
    desired.apply({ source: "http", pods: [makePod("a", "from-http")] });
    const pod = makePod("a", "from-file");
    const origins = new Map([[pod, "/manifests/a.yaml, document 2"]]);
    const snapshot = { source: "file" as const, pods: [pod], origins };
    expect(summarize(desired.apply(snapshot))).toEqual(["ADD file"]);
    desired.apply(snapshot);
    const message =
      'pod a_default (file, /manifests/a.yaml, document 2) is refused: its name "a_default" is that of pod a_default (http)';
    expect(errors).toEqual([{ pod: "a_default", uid: "from-file", error: message }]);
    expect(timeline.read("from-file")).toMatchObject([
      { type: "Warning", reason: "FailedValidation", message, count: 1 },
    ]);
    expect(summarize(desired.apply({ source: "http", pods: [] }))).toEqual([
      "REMOVE http from-http",
      "ADD file from-file",
    ]);
  });

  it("translates between static and mirror pods", () => {
    const { desired } = start("file", "api");
    desired.apply({ source: "file", pods: [makePod("a", "static")] });
    const mirror = makePod("a", "mirror", { "kubernetes.io/config.mirror": "static" });
    expect(summarize(desired.apply({ source: "api", pods: [mirror, makePod("b")] }))).toEqual(["ADD api mirror uid-b"]);
    expect(desired.pods().map(podUid)).toEqual(["static", "uid-b"]);
    expect(desired.mirrorPods().map(podUid)).toEqual(["mirror"]);
    const staticPod = desired.byFullName("a_default") ?? {};
    expect(podUid(desired.mirrorPodOf(staticPod) ?? {})).toBe("mirror");
    expect(podUid(desired.staticPodOf(mirror) ?? {})).toBe("static");
    expect(["mirror", "static", "uid-b", "none"].map(desired.resolveUid)).toEqual([
      "static",
      "static",
      "uid-b",
      "none",
    ]);
    expect(desired.byUid("mirror")).toBeUndefined();
  });

  it("does not accept a source that was not announced", () => {
    expect(() => start("file").desired.apply({ source: "http", pods: [] })).toThrow("announced");
  });
});
