import { existsSync } from "node:fs";
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { aborted } from "../base/abort.ts";
import { CodedError } from "../base/errors.ts";
import { createFakeClock } from "../host/fake/fake-clock.ts";
import { type Note, NotesDefinition } from "./__fixtures__/notes-service.ts";
import { openChannel } from "./channel.ts";
import { parseEndpoint } from "./endpoint.ts";
import { createMemoryServer } from "./fake/memory-server.ts";
import type { GrpcErrorCode } from "./port.ts";
import { serveGrpc } from "./serve.ts";
import { type HandlerContext, type HandlersOf, implement } from "./served-service.ts";
import { createService, type ServiceOf } from "./service.ts";

type Handlers = HandlersOf<typeof NotesDefinition>;

let directory = "";
let path = "";
let closers: Array<() => unknown> = [];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "nodelet-grpc-"));
  path = join(directory, "x.sock");
});
afterEach(async () => {
  for (const close of closers.reverse()) await close();
  closers = [];
  await rm(directory, { recursive: true });
});

interface Served {
  connect(): ServiceOf<typeof NotesDefinition> & { close(): void };
  /** Lets time pass until nothing is left to wait for. */
  pass(ms: number): Promise<void>;
  stop(): Promise<void> | void;
}

async function serveOnSocket(handlers: Handlers): Promise<Served> {
  const server = await serveGrpc({ path, services: [implement(NotesDefinition, handlers)] });
  closers.push(() => server.close());
  return {
    connect() {
      const channel = openChannel({ endpoint: parseEndpoint(`unix://${path}`), requestTimeoutMs: 10_000 });
      closers.push(() => channel.close());
      return { ...createService(NotesDefinition, channel), close: () => channel.close() };
    },
    pass: async () => undefined,
    stop: () => server.close(),
  };
}

async function serveInMemory(handlers: Handlers): Promise<Served> {
  const clock = createFakeClock();
  const services = [implement(NotesDefinition, handlers)];
  const server = createMemoryServer({ clock, endpoint: "unix:///run/x.sock", services });
  return {
    connect() {
      const connection = server.connect({ requestTimeoutMs: 10_000 });
      return { ...createService(NotesDefinition, connection), close: () => connection.close() };
    },
    pass: clock.advance,
    stop: () => server.stop(),
  };
}

/** A handler that waits until it is told to end, and notes that it was. */
function createWaiting() {
  const told = new AbortController();
  const begun = new AbortController();
  const say = async (note: Note, { signal }: HandlerContext) => {
    begun.abort();
    await aborted(signal);
    told.abort();
    return note;
  };
  return { say, begun: aborted(begun.signal), told: aborted(told.signal) };
}

async function readAll(notes: AsyncIterable<Note>): Promise<string[]> {
  const texts: string[] = [];
  for await (const { text } of notes) texts.push(text);
  return texts;
}

async function* count(note: Note): AsyncGenerator<Note> {
  for (let number = 1; number <= Number(note.text); number += 1) yield { text: String(number) };
}

describe.each([
  { where: "on a socket", serve: serveOnSocket },
  { where: "in memory", serve: serveInMemory },
])("a service $where", ({ serve }) => {
  it("answers", async () => {
    const { connect } = await serve({ say: ({ text }) => ({ text: text.toUpperCase() }) });
    const { say } = connect();
    const answers = await Promise.all(["a", "b", "c"].map(async (text) => await say({ text })));
    expect(answers).toEqual([{ text: "A" }, { text: "B" }, { text: "C" }]);
  });

  it.each<[string, Error, GrpcErrorCode, string]>([
    ["with a code", new CodedError("not-found", "no such note"), "not-found", "no such note"],
    ["with another code", new CodedError("ENOENT", "no such file"), "unknown", "no such file"],
    ["without one", new TypeError("oops"), "unknown", "oops"],
    [
      "as a nested call",
      Object.assign(new CodedError("aborted", "Say at x: busy"), { detail: "busy" }),
      "aborted",
      "busy",
    ],
  ])("fails %s", async (_how, error, code, detail) => {
    const { connect } = await serve({
      say: () => {
        throw error;
      },
      async *follow(note) {
        yield note;
        throw error;
      },
    });
    await expect(connect().say({ text: "" })).rejects.toMatchObject({ rpc: "Say", code, detail });
    await expect(readAll(connect().follow({ text: "" }))).rejects.toMatchObject({ rpc: "Follow", code, detail });
  });

  it("answers a failure whose words no header could hold", async () => {
    const { connect } = await serve({
      say: ({ text }) => {
        throw new Error(`${text} is invalid`);
      },
    });
    const refused = connect().say({ text: "x".repeat(1_000_000) });
    await expect(refused).rejects.toMatchObject({ code: "unknown", detail: "x".repeat(2048) });
  });

  it("does not implement what has no handler", async () => {
    const { connect } = await serve({});
    await expect(connect().say({ text: "" })).rejects.toMatchObject({ code: "unimplemented" });
    await expect(readAll(connect().follow({ text: "" }))).rejects.toMatchObject({ code: "unimplemented" });
  });

  it("streams, also more than a socket holds", async () => {
    const { connect } = await serve({ follow: count });
    expect(await readAll(connect().follow({ text: "3" }))).toEqual(["1", "2", "3"]);
    expect(await readAll(connect().follow({ text: "20000" }))).toHaveLength(20_000);
  });

  it("tells a stream's handler when its reader has gone, even one that is silent", async () => {
    const told = new AbortController();
    const { connect } = await serve({
      async *follow(note, { signal }) {
        yield note;
        await aborted(signal);
        told.abort();
      },
    });
    const controller = new AbortController();
    const iterator = connect().follow({ text: "a" }, { signal: controller.signal })[Symbol.asyncIterator]();
    expect((await iterator.next()).value).toEqual({ text: "a" });
    const last = iterator.next();
    controller.abort();
    expect((await last).done).toBe(true);
    await aborted(told.signal);
  });

  it("ends a stream without an error when its signal fires", async () => {
    const { connect } = await serve({
      async *follow(note, { signal }) {
        yield note;
        await aborted(signal);
      },
    });
    const controller = new AbortController();
    const texts: string[] = [];
    for await (const { text } of connect().follow({ text: "a" }, { signal: controller.signal })) {
      texts.push(text);
      controller.abort();
    }
    expect(texts).toEqual(["a"]);
  });

  it("tells its handler when the caller gave up", async () => {
    const waiting = createWaiting();
    const { connect } = await serve(waiting);
    const controller = new AbortController();
    const call = connect().say({ text: "" }, { signal: controller.signal });
    await waiting.begun;
    controller.abort();
    await expect(call).rejects.toMatchObject({ name: "AbortError" });
    await waiting.told;
  });

  it("tells its handler when the caller's time is over", async () => {
    const waiting = createWaiting();
    const { connect, pass } = await serve(waiting);
    const call = connect().say({ text: "" }, { timeoutMs: 100 });
    const failed = expect(call).rejects.toMatchObject({ code: "deadline-exceeded" });
    await waiting.begun;
    await pass(100);
    await failed;
    await waiting.told;
  });

  it("that stops answers what is in flight, takes no more, and tells its handlers", async () => {
    const waiting = createWaiting();
    const { connect, stop } = await serve(waiting);
    const client = connect();
    const failed = expect(client.say({ text: "" })).rejects.toMatchObject({ code: "unavailable" });
    await waiting.begun;
    await stop();
    await failed;
    await waiting.told;
    await expect(client.say({ text: "" })).rejects.toMatchObject({ code: "unavailable" });
  });

  it("goes on when one of its connections is closed", async () => {
    const waiting = createWaiting();
    const { connect } = await serve({ ...waiting, follow: count });
    const client = connect();
    const failed = expect(client.say({ text: "" })).rejects.toMatchObject({ code: "cancelled" });
    await waiting.begun;
    client.close();
    await failed;
    await expect(readAll(connect().follow({ text: "1" }))).resolves.toEqual(["1"]);
  });
});

describe("serveGrpc", () => {
  const serve = async () => await serveGrpc({ path, services: [] });

  it("takes the place of a server that died, whose socket is still there", async () => {
    const dead = createServer().listen(path);
    await new Promise((resolve) => dead.once("listening", resolve));
    const kept = `${path}.kept`;
    await rename(path, kept);
    await new Promise((resolve) => dead.close(resolve));
    await rename(kept, path);
    const { connect } = await serveOnSocket({ say: (note) => note });
    await expect(connect().say({ text: "a" })).resolves.toEqual({ text: "a" });
  });

  it("does not take the place of one that lives, nor of a file", async () => {
    const server = await serve();
    await expect(serve()).rejects.toMatchObject({ code: "address-in-use" });
    await server.close();
    await writeFile(path, "precious");
    await expect(serve()).rejects.toMatchObject({ code: "address-in-use" });
    expect(existsSync(path)).toBe(true);
  });

  it("leaves no socket behind when it is closed, as often as it is", async () => {
    const server = await serve();
    expect(existsSync(path)).toBe(true);
    await Promise.all([server.close(), server.close()]);
    expect(existsSync(path)).toBe(false);
  });

  it("takes no longer request than it is told to", async () => {
    const services = [implement(NotesDefinition, { say: (note) => note })];
    const server = await serveGrpc({ path, services, maxRequestBytes: 1000 });
    closers.push(() => server.close());
    const channel = openChannel({ endpoint: parseEndpoint(`unix://${path}`), requestTimeoutMs: 10_000 });
    closers.push(() => channel.close());
    const { say } = createService(NotesDefinition, channel);
    await expect(say({ text: "x".repeat(1001) })).rejects.toMatchObject({ code: "resource-exhausted" });
    await expect(say({ text: "x" })).resolves.toEqual({ text: "x" });
  });

  it("refuses a path that no socket can have, and a directory that is not there", async () => {
    await expect(serveGrpc({ path: `/${"d".repeat(107)}`, services: [] })).rejects.toThrow("longer than the 107 bytes");
    await expect(serveGrpc({ path: join(directory, "none", "x.sock"), services: [] })).rejects.toMatchObject({
      code: "ENOENT",
    });
  });
});
