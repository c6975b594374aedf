import { beforeEach, describe, expect, it } from "vitest";
import { silentLog } from "../../base/log.ts";
import { createFakeClock, type FakeClock } from "../../host/fake/fake-clock.ts";
import type { AnswerWriter } from "../../host/http-server.ts";
import { createMemoryJournal } from "../../journal/memory-journal.ts";
import { configMapKind } from "../kinds/core/config-map.ts";
import type { ObjectStore } from "../ports/object-store.ts";
import { createObjectStore } from "../store/create-object-store.ts";
import type { AcceptedForm } from "./media-type.ts";
import { listQueryOf } from "./query-options.ts";
import { createEventLines, serveWatch } from "./serve-watch.ts";

const MIB = 1024 * 1024;

/** A client that reads when it is told to. */
function createReader() {
  const gone = new AbortController();
  const written: Array<Buffer | string> = [];
  let unread: Buffer[] = [];
  let text = "";
  const writer: AnswerWriter = {
    signal: gone.signal,
    get bufferedBytes() {
      return unread.reduce((sum, chunk) => sum + chunk.length, 0);
    },
    write: (chunk) => {
      written.push(chunk);
      unread.push(Buffer.from(chunk));
    },
    end: () => gone.abort(),
  };
  return {
    writer,
    gone,
    /** As it was given, not copied. */
    written,
    /** All events so far, parsed. */
    read(): Array<{ type: string; object: { metadata: Record<string, unknown>; code?: number; message?: string } }> {
      text += Buffer.concat(unread).toString();
      unread = [];
      return text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
    },
  };
}

describe("a watch", () => {
  let store: ObjectStore;
  let clock: FakeClock;
  const counts = { opened: 0, closed: 0, sent: 0 };

  beforeEach(async () => {
    clock = createFakeClock();
    store = await createObjectStore({ journal: createMemoryJournal(), clock, log: silentLog });
    Object.assign(counts, { opened: 0, closed: 0, sent: 0 });
  });

  const put = async (
    name: string,
    data: Record<string, string> = {},
    labels: Record<string, string> = {},
    creationTimestamp?: string,
  ) => {
    const metadata = { name, namespace: "a", labels, ...(creationTimestamp && { creationTimestamp }) };
    await store.put(`core/configmaps/a/${name}`, { apiVersion: "v1", kind: "ConfigMap", metadata, data });
  };
  const lines = createEventLines();
  const watch = (query: string, form: AcceptedForm = { encoding: "json", as: undefined, version: "v1" }) => {
    const reader = createReader();
    const observer = {
      opened: () => void counts.opened++,
      closed: () => void counts.closed++,
      sent: () => void counts.sent++,
    };
    const answer = serveWatch(
      { store, clock, lines, random: () => 0, observer },
      {
        kind: configMapKind,
        namespace: "",
        query: listQueryOf(new URLSearchParams(query), { isWatch: true }),
        wanted: { form, includeObject: "Metadata", now: 0 },
      },
    );
    const { body } = answer;
    if (typeof body !== "object" || !("stream" in body)) throw new Error("the answer does not stream");
    body.stream(reader.writer);
    return reader;
  };

  it("that does not read is told so and ended, and nobody else notices", async () => {
    const slow = watch("");
    const quick = watch("");
    for (let index = 0; index < 20 && !slow.gone.signal.aborted; index++) {
      await put("big", { a: `${index}`.padEnd(MIB, "x") });
      quick.read();
    }
    expect(slow.gone.signal.aborted).toBe(true);
    const last = slow.read().at(-1);
    expect(last).toMatchObject({ type: "ERROR", object: { code: 410, reason: "Expired" } });
    expect(last?.object.message).toMatch(/had not read 16777216 bytes of events; list and watch anew/);
    await put("after");
    expect(quick.read().at(-1)).toMatchObject({ type: "ADDED", object: { metadata: { name: "after" } } });
    expect(slow.read().at(-1)).toMatchObject({ type: "ERROR" });
    expect(counts).toMatchObject({ opened: 2, closed: 1 });
  });

  it("may take its time over the initial events, however many they are", async () => {
    for (let index = 0; index < 20; index++) await put(`big-${index}`, { a: "x".repeat(MIB) });
    const reader = watch("");
    await put("late");
    expect(reader.gone.signal.aborted).toBe(false);
    expect(reader.read()).toHaveLength(21);
  });

  it.each<[string, AcceptedForm]>([
    ["metadata", { encoding: "json", as: "PartialObjectMetadata", version: "v1" }],
    ["a table", { encoding: "json", as: "Table", version: "v1" }],
    ["protobuf", { encoding: "protobuf", as: undefined, version: "v1" }],
  ])("of %s that does not read keeps no copy of all objects", async (_, form) => {
    for (let index = 0; index < 12; index++) await put(`big-${index}`, {}, { a: "x".repeat(MIB / 4) });
    const reader = watch("allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan", form);
    await put("late");
    await clock.advance(60_000);
    const most = 1.5 * MIB;
    expect(reader.writer.bufferedBytes).toBeLessThan(most);
    if (form.encoding === "protobuf") return;
    let seen = reader.read();
    for (let turn = 0; turn < 3; turn++) {
      await clock.advance(1_000);
      expect(reader.writer.bufferedBytes).toBeLessThan(most);
      seen = reader.read();
    }
    const types = seen.map(({ type }) => type);
    expect(types.slice(0, 14)).toEqual([...Array.from({ length: 12 }, () => "ADDED"), "BOOKMARK", "ADDED"]);
  });

  it("gets a bookmark each minute if it wants any, and ends with one at its time-out", async () => {
    const reader = watch("allowWatchBookmarks=true&timeoutSeconds=90&resourceVersion=0");
    await put("one");
    await clock.advance(60_000);
    expect(reader.read().map(({ type }) => type)).toEqual(["ADDED", "BOOKMARK"]);
    expect(reader.read().at(-1)?.object.metadata).toEqual({ resourceVersion: String(store.revision) });
    await clock.advance(30_000);
    expect(reader.read().map(({ type }) => type)).toEqual(["ADDED", "BOOKMARK", "BOOKMARK"]);
    expect(reader.gone.signal.aborted).toBe(true);
    expect(counts).toEqual({ opened: 1, closed: 1, sent: 1 });
  });

  it("without a time-out ends after half an hour to an hour", async () => {
    const reader = watch("");
    await clock.advance(30 * 60_000 - 1);
    expect(reader.gone.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(reader.gone.signal.aborted).toBe(true);
  });

  it("shows an object that stops matching as deleted, at the revision of the change", async () => {
    await put("one", {}, { app: "web" });
    const reader = watch("labelSelector=app%3Dweb");
    await put("one", {}, { app: "db" });
    expect(
      reader.read().map(({ type, object }) => [type, object.metadata["resourceVersion"], object.metadata["labels"]]),
    ).toEqual([
      ["ADDED", "1", { app: "web" }],
      ["DELETED", "2", { app: "web" }],
    ]);
  });

  it("of a client that has gone holds nothing", async () => {
    const reader = watch("");
    reader.gone.abort();
    await put("one");
    expect(reader.read()).toEqual([]);
    expect(counts).toEqual({ opened: 1, closed: 1, sent: 0 });
  });

  it("of a table tells how old each object is at its event, not when the watch began", async () => {
    const reader = watch("resourceVersion=0", { encoding: "json", as: "Table", version: "v1" });
    await clock.advance(60_000);
    await put("late", {}, {}, new Date(clock.now()).toISOString());
    await clock.advance(5_000);
    await put("late", { a: "1" }, {}, new Date(clock.now() - 5_000).toISOString());
    const rows: unknown = reader.read().map(({ object }) => object);
    expect(rows).toMatchObject(["0s", "5s"].map((age) => ({ rows: [{ cells: ["late", expect.anything(), age] }] })));
  });

  it.each<AcceptedForm>([
    { encoding: "json", as: undefined, version: "v1" },
    { encoding: "json", as: "PartialObjectMetadata", version: "v1" },
    { encoding: "protobuf", as: undefined, version: "v1" },
    { encoding: "protobuf", as: "PartialObjectMetadata", version: "v1" },
  ])("in $encoding, as $as, gets the very event that others of the form get", async (form) => {
    const others = watch("resourceVersion=0", { encoding: "json", as: "Table", version: "v1" });
    const readers = [watch("resourceVersion=0", form), watch("resourceVersion=0", form)];
    await put("one");
    await put("one", { a: "1" });
    const [first, second] = readers.map(({ written }) => written);
    expect(first).toHaveLength(2);
    for (const [index, event] of first?.entries() ?? []) expect(second?.[index]).toBe(event);
    expect(first).not.toEqual(others.written);
    expect(first?.[0]).not.toEqual(first?.[1]);
  });
});
