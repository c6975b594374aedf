import { describe, expect, it } from "vitest";
import { MINUTE } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { silentLog } from "../base/log.ts";
import { createTimeline, type Decision, type TimelineRecord } from "../base/timeline.ts";
import { createFakeHost } from "../host/fake/create-fake-host.ts";
import { fileError } from "../host/file-error.ts";
import { createPodHistory } from "./pod-history.ts";
import { readHistory } from "./read-history.ts";

const DIRECTORY = "/var/lib/kubelet/nodelet/history";
const DAY = 24 * 60 * MINUTE;
const WEB = { namespace: "default", name: "web" };

const pod = (name: string, uid = name) => ({ namespace: "default", name, uid });
const decision = (message: string, more: Partial<Decision> = {}): Decision => ({
  type: "Normal",
  reason: "Started",
  message,
  ...more,
});

/** One node agent after the other on one disk. */
function createRig({ maxBytes = 1024 * 1024 } = {}) {
  const host = createFakeHost();
  const { clock, files } = host;
  const warnings: string[] = [];
  const log: Log = { ...silentLog, warn: (message) => warnings.push(message) };
  const present = new Set<string>();
  const start = () => {
    const timeline = createTimeline(clock);
    const options = { directory: DIRECTORY, maxBytes, maxAgeMs: 7 * DAY };
    const history = createPodHistory(
      { files, clock, log, timeline, present: () => (uid) => present.has(uid) },
      options,
    );
    const stopping = new AbortController();
    const running = history.run(stopping.signal);
    const stop = async () => {
      stopping.abort();
      await running;
    };
    return { record: timeline.record, history, stop };
  };
  const messages = async (name = "web") => {
    const { records } = await readHistory(files, DIRECTORY, { namespace: "default", name });
    return records.map(({ message, count }) => (count === 1 ? message : `${message} x${count}`));
  };
  return { clock, files, warnings, present, start, messages };
}

describe("the history of pods", () => {
  it("is read again by the next node agent, in order, with the pods of the same name", async () => {
    const { start, messages } = createRig();
    const first = start();
    first.record(pod("web", "a"), decision("one"));
    first.record(pod("other"), decision("not this"));
    first.record(pod("web", "a"), decision("two"));
    await first.stop();
    const second = start();
    second.record(pod("web", "b"), decision("three"));
    await second.stop();
    expect(await messages()).toEqual(["one", "two", "three"]);
  });

  it("keeps how long a step took and what led to a decision", async () => {
    const { files, start } = createRig();
    const first = start();
    const causes = [{ reason: "MemoryPressure", message: "since a minute", at: 5 }];
    first.record(pod("web"), decision("a", { tookMs: 12 }));
    first.record(pod("web"), decision("b", { causes }));
    await first.stop();
    const { records } = await readHistory(files, DIRECTORY, WEB);
    expect(records).toMatchObject([{ tookMs: 12 }, { causes }]);
    expect(records[0]).not.toHaveProperty("causes");
  });

  it("writes within a second, and what is asked for at once", async () => {
    const { clock, start, messages } = createRig();
    const { record, history, stop } = start();
    record(pod("web"), decision("one"));
    await clock.advance(1_000);
    expect(await messages()).toEqual(["one"]);
    record(pod("web"), decision("two"));
    expect((await history.read(WEB)).records.map(({ message }) => message)).toEqual(["one", "two"]);
    await stop();
  });

  it("writes few lines of a decision that is made again and again, and its last count", async () => {
    const { files, start, messages } = createRig();
    const { record, stop } = start();
    for (let count = 0; count < 1_000; count++) record(pod("web"), decision("again"));
    record(pod("web"), decision("else"));
    await stop();
    expect(await messages()).toEqual(["again x1000", "else"]);
    expect(files.text(`${DIRECTORY}/00000001.jsonl`)?.split("\n")).toHaveLength(14);
  });

  it("gives up the oldest records when it is full", async () => {
    const { clock, files, start, messages } = createRig({ maxBytes: 64 * 1024 });
    const { record, stop } = start();
    for (let count = 0; count < 200; count++) {
      record(pod("web"), decision(`${count} ${"x".repeat(1_000)}`));
      await clock.advance(1_000);
    }
    await stop();
    const sizes = (await files.list(DIRECTORY)).map(({ name }) => files.text(`${DIRECTORY}/${name}`)?.length ?? 0);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(72 * 1024);
    const kept = await messages();
    expect(kept.at(-1)).toMatch(/^199 /);
    expect(kept[0]).not.toMatch(/^0 /);
  });

  it("keeps the records of a pod for a week after it is gone, and of one that is there for ever", async () => {
    const { clock, present, start, messages } = createRig({ maxBytes: 1024 * 1024 });
    present.add("web");
    const { record, stop } = start();
    for (const name of ["web", "gone"]) record(pod(name), decision("begun"));
    await clock.advance(1_000);
    // Many records make the first file full, so that another is begun.
    record(pod("filler"), decision("x".repeat(4_000)));
    for (let count = 0; count < 20; count++) record(pod("filler"), decision(`${count}${"x".repeat(4_000)}`));
    await clock.advance(1_000);
    record(pod("last"), decision("begun"));
    await clock.advance(6 * DAY);
    expect([await messages("web"), await messages("gone")]).toEqual([["begun"], ["begun"]]);
    await clock.advance(2 * DAY);
    expect([await messages("web"), await messages("gone")]).toEqual([["begun"], []]);
    await stop();
  });
});

it("a quarter of a million records take the room that they may, few writes, and are looked through for few", async () => {
  const { clock, files } = createFakeHost();
  let appends = 0;
  const counting = {
    ...files,
    async append(...call: Parameters<typeof files.append>) {
      appends += 1;
      await files.append(...call);
    },
  };
  let hear: (record: TimelineRecord) => void = () => undefined;
  const timeline = {
    subscribe(listener: typeof hear) {
      hear = listener;
      return () => true;
    },
  };
  const options = { directory: DIRECTORY, maxBytes: 1024 * 1024, maxAgeMs: 7 * DAY };
  const deps = { files: counting, clock, log: silentLog, timeline, present: () => () => true };
  const history = createPodHistory(deps, options);
  const stopping = new AbortController();
  const running = history.run(stopping.signal);
  const [pods, rounds, each] = [500, 125, 2_000];
  for (let round = 0; round < rounds; round++) {
    for (let index = 0; index < each; index++) {
      const at = round * each + index;
      hear({ ...decision(`${at}`), pod: pod(`pod-${index % pods}`), at, firstAt: at, count: 1 });
    }
    await clock.advance(1_000);
  }
  const present = await files.list(DIRECTORY);
  const sizes = present.map(({ name }) => files.text(`${DIRECTORY}/${name}`)?.length ?? 0);
  // The newest write may go beyond what is allowed, until the next one.
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(2 * 1024 * 1024);
  expect(appends).toBe(rounds);
  const { records } = await history.read({ namespace: "default", name: "pod-7" });
  expect(records.at(-1)?.message).toBe(`${rounds * each - pods + 7}`);
  expect(records.length).toBeLessThan(2_000);
  expect(records.every(({ pod: of }) => of.name === "pod-7")).toBe(true);
  stopping.abort();
  await running;
}, 600_000);

it("two agents' records side by side are not mixed, and their directories tell them apart", async () => {
  const { clock, files } = createRig();
  const other = "/var/lib/other/nodelet/history";
  const agents = [DIRECTORY, other].map((directory) => {
    const timeline = createTimeline(clock);
    const options = { directory, maxBytes: 1024 * 1024, maxAgeMs: 7 * DAY };
    const history = createPodHistory({ files, clock, log: silentLog, timeline, present: () => () => true }, options);
    const stopping = new AbortController();
    const running = history.run(stopping.signal);
    const stop = async () => {
      stopping.abort();
      await running;
    };
    return { record: timeline.record, history, stop };
  });
  for (let count = 0; count < 10; count++) {
    for (const [index, { record }] of agents.entries()) record(pod("web"), decision(`of ${index}: ${count}`));
    await clock.advance(600);
  }
  for (const [index, { history }] of agents.entries()) {
    const { records } = await history.read(WEB);
    expect(records.map(({ message }) => message)).toEqual(
      Array.from({ length: 10 }, (_, count) => `of ${index}: ${count}`),
    );
  }
  for (const { stop } of agents) await stop();
});

describe("the history on a disk with faults", () => {
  it("passes over a torn record and writes on behind it", async () => {
    const { files, start, messages } = createRig();
    const first = start();
    first.record(pod("web"), decision("one"));
    first.record(pod("web"), decision("torn"));
    await first.stop();
    const path = `${DIRECTORY}/00000001.jsonl`;
    files.put(path, (files.text(path) ?? "").slice(0, -20));
    const second = start();
    second.record(pod("web"), decision("three"));
    await second.stop();
    expect(await messages()).toEqual(["one", "three"]);
  });

  it("moves a file of another version aside, with a word, and begins anew", async () => {
    const { files, warnings, start, messages } = createRig();
    files.put(`${DIRECTORY}/00000001.jsonl`, '{"nodeletHistory":2}\nwhatever\n');
    files.put(`${DIRECTORY}/00000002.jsonl`, '{"nodelet');
    const { record, stop } = start();
    record(pod("web"), decision("one"));
    await stop();
    expect(warnings).toEqual([
      "A file of the pods' history is not of this version; it was moved aside and is not read",
    ]);
    expect((await files.list(DIRECTORY)).map(({ name }) => name)).toEqual(["00000001.jsonl", "00000001.jsonl.aside"]);
    expect(await messages()).toEqual(["one"]);
  });

  it("costs the history only when the disk is full, and goes on when there is room", async () => {
    const { clock, files, warnings, start, messages } = createRig();
    const release = files.intercept(({ operation, path }) => {
      if (operation === "append") throw fileError("ENOSPC", "write", path);
    });
    const { record, stop } = start();
    record(pod("web"), decision("one"));
    await clock.advance(MINUTE);
    record(pod("web"), decision("two"));
    await clock.advance(MINUTE);
    expect(warnings).toHaveLength(1);
    release();
    await clock.advance(MINUTE);
    expect(await messages()).toEqual(["one", "two"]);
    await stop();
  });

  it("takes names and messages with line ends, quotes and escapes as they are", async () => {
    const { files, start } = createRig();
    const { record, stop } = start();
    const name = 'a"},"\n{"pod":\u001b[31m<b>\\';
    record({ ...pod(name), uid: 'u"\n' }, decision('x\n"y"\u001b[2J'));
    await stop();
    const { records } = await readHistory(files, DIRECTORY, { namespace: "default", name });
    expect(records).toMatchObject([{ pod: { name, uid: 'u"\n' }, message: 'x\n"y"\u001b[2J' }]);
  });
});
