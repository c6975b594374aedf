import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Log, type LogFields, silentLog } from "../../../base/log.ts";
import { createFakeHost, type FakeHost } from "../../../host/fake/create-fake-host.ts";
import { createHttpSource } from "./http-source.ts";
import type { SourceSnapshot } from "./source-snapshot.ts";

const URL = "http://manifests.test/pods";
const pod = (name: string) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name },
  spec: { containers: [{ name: "main", image: "x" }] },
});
const list = (...names: string[]) => JSON.stringify({ apiVersion: "v1", kind: "PodList", items: names.map(pod) });

let host: FakeHost;
let controller: AbortController;
let running: Promise<void>;
let snapshots: SourceSnapshot[];
let errors: LogFields[];
const log: Log = { ...silentLog, error: (_message, fields = {}) => void errors.push(fields) };

beforeEach(() => {
  host = createFakeHost();
  controller = new AbortController();
  snapshots = [];
  errors = [];
});

afterEach(async () => {
  controller.abort();
  await running;
  expect(host.clock.pendingTimers).toBe(0);
});

async function start(options: { url?: string; headers?: Array<[string, string]> } = {}): Promise<void> {
  const { clock, http } = host;
  const emit = (snapshot: SourceSnapshot) => void snapshots.push(snapshot);
  const source = createHttpSource({ clock, http, log, emit }, { url: URL, nodeName: "node-1", ...options });
  running = source.run(controller.signal);
  await clock.settle();
}

const nextCheck = async () => host.clock.advance(20_000);
const lastNames = () => snapshots.at(-1)?.pods.map(({ metadata }) => metadata?.name);

describe("HTTP source", () => {
  it.each<[string, string, string[]]>([
    ["a pod", JSON.stringify(pod("a")), ["a-node-1"]],
    ["a list of pods", list("a", "b"), ["a-node-1", "b-node-1"]],
    ["an empty list", list(), []],
    ["several documents", `${JSON.stringify(pod("a"))}\n---\n${JSON.stringify(pod("b"))}`, ["a-node-1", "b-node-1"]],
  ])("takes %s", async (_what, body, expected) => {
    host.http.serve(URL, { status: 200, body });
    await start();
    await nextCheck();
    expect(snapshots).toHaveLength(1);
    expect(snapshots[0]?.source).toBe("http");
    expect(lastNames()).toEqual(expected);
    expect(errors).toEqual([]);
  });

  it("sends its headers, and the ETag of what it has", async () => {
    host.http.serve(URL, ({ headers = [] }) => {
      const known = headers.some(([name, value]) => name === "If-None-Match" && value === '"1"');
      return known ? { status: 304 } : { status: 200, headers: { ETag: '"1"' }, body: list("a") };
    });
    await start({
      headers: [
        ["X-Token", "secret"],
        ["X-Token", "other"],
      ],
    });
    await nextCheck();
    expect(host.http.requests.map(({ headers }) => headers)).toEqual([
      [
        ["X-Token", "secret"],
        ["X-Token", "other"],
      ],
      [
        ["X-Token", "secret"],
        ["X-Token", "other"],
        ["If-None-Match", '"1"'],
      ],
    ]);
    expect(host.http.requests[0]).toMatchObject({ verifyTls: true, maxBodyBytes: 10 * 1024 * 1024 });
    expect([snapshots.length, errors]).toEqual([1, []]);
  });

  it("gives a new snapshot when the pods changed, and only then", async () => {
    host.http.serve(URL, { status: 200, body: list("a") });
    await start();
    host.http.serve(URL, { status: 200, body: `${list("a")}\n` });
    await nextCheck();
    expect(snapshots).toHaveLength(1);
    host.http.serve(URL, { status: 200, body: list("a", "b") });
    await nextCheck();
    expect(lastNames()).toEqual(["a-node-1", "b-node-1"]);
    host.http.serve(URL, { status: 200, body: list() });
    await nextCheck();
    expect(lastNames()).toEqual([]);
  });

  it.each<[string, Parameters<FakeHost["http"]["serve"]>[1], RegExp]>([
    ["no connection", undefined, /ECONNREFUSED/],
    ["a failure status", { status: 503, body: list() }, /status 503, expected 200/],
    ["a redirect elsewhere", { status: 302, headers: { Location: "http://elsewhere.test/" } }, /status 302/],
    ["a page that is not there", { status: 404 }, /status 404/],
    ["an empty answer", { status: 200, body: " \n" }, /the answer is empty/],
    ["an answer past 10 MiB", { status: 200, body: "x".repeat(10 * 1024 * 1024 + 1) }, /longer than/],
    ["an answer that takes too long", { status: 200, body: list(), delayMs: 15_000 }, /no answer within 10000 ms/],
    ["a web page", { status: 200, body: "<html>Log in</html>" }, /document 1/],
    ["only comments", { status: 200, body: "# back soon" }, /holds no pod/],
    [
      "an invalid pod",
      { status: 200, body: JSON.stringify({ ...pod("a"), spec: {} }) },
      /document 1: spec\.containers: Required value/,
    ],
  ])("keeps the last good list over %s, and says so once", async (_what, answer, error) => {
    host.http.serve(URL, { status: 200, body: list("a") });
    await start();
    host.http.serve(URL, answer);
    await nextCheck();
    await nextCheck();
    await nextCheck();
    expect(lastNames()).toEqual(["a-node-1"]);
    expect(errors).toHaveLength(1);
    expect(errors[0]?.["error"]).toMatch(error);
    host.http.serve(URL, { status: 200, body: list("b") });
    await nextCheck();
    await nextCheck();
    expect(lastNames()).toEqual(["b-node-1"]);
  });

  it("is not seen before the first good answer, except that an empty one counts as no pods", async () => {
    await start();
    expect(snapshots).toEqual([]);
    host.http.serve(URL, { status: 200, body: "" });
    await nextCheck();
    expect(snapshots).toMatchObject([{ source: "http", pods: [] }]);
    expect(errors).toHaveLength(2);
  });

  it("does not log credentials", async () => {
    await start({ url: "http://user:secret@manifests.test/pods" });
    expect(errors).toMatchObject([{ url: URL }]);
  });
});
