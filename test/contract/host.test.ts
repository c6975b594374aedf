import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sleep } from "../../src/base/abort.ts";
import type { Files, Host, HttpRequest, NewTree } from "../../src/host/port.ts";
import { createFakeHostHarness, createRealHostHarness, type HostHarness } from "./host-harness.ts";

let harness: HostHarness;
let directory: string;
let host: Host;
let files: Files;
const path = (name: string) => `${directory}/${name}`;
const read = async (name: string) => (await files.read(path(name), 1_000)).toString();

describe.each([
  ["fake", createFakeHostHarness],
  ["node", async () => await createRealHostHarness()],
])("host: %s", (_name, createHarness) => {
  beforeEach(async () => {
    harness = await createHarness();
    ({ directory, host } = harness);
    files = host.files;
  });
  afterEach(async () => harness.close());

  describe("clock", describeClock);
  describe("reading", describeReading);
  describe("writing", describeWriting);
  describe("directories and links", describeDirectoriesAndLinks);
  describe("making trees", describeTrees);
  describe("removing", describeRemoving);
  describe("watching", describeWatching);
  describe("http", describeHttp);
  describe("machine", describeMachine);
});

function describeClock() {
  it("fires timers in order, later than now, and not when cancelled", async () => {
    const { clock } = host;
    const fired: string[] = [];
    const start = clock.monotonic();
    clock.setTimer(20, () => fired.push("second"));
    clock.setTimer(5, () => fired.push("cancelled")).cancel();
    clock.setTimer(-1, () => fired.push("first"));
    clock.setTimer(2 ** 40, () => fired.push("in decades")).cancel();
    expect(fired).toEqual([]);
    await harness.until(() => fired.length === 2);
    expect(fired).toEqual(["first", "second"]);
    expect(clock.monotonic() - start).toBeGreaterThanOrEqual(18);
  });

  it("ends a sleep at once when its signal fires", async () => {
    const controller = new AbortController();
    const sleeping = sleep(host.clock, 3_600_000, controller.signal);
    controller.abort();
    await expect(sleeping).rejects.toMatchObject({ name: "AbortError" });
  });
}

function describeReading() {
  it.each([
    ["an absent file", "absent", "ENOENT"],
    ["a file below a file", "file/below", "ENOTDIR"],
    ["a directory", "directory", "EISDIR"],
    ["a FIFO without a writer", "fifo", "EINVAL"],
    ["a link to itself", "loop", "ELOOP"],
    ["a file that is too long", "long", "EFBIG"],
  ])("refuses %s", async (_what, name, code) => {
    await files.writeAtomically(path("file"), "text", 0o644);
    await files.makeDirectory(path("directory"), 0o755);
    await harness.makeFifo(path("fifo"));
    await harness.makeSymlink(path("loop"), path("loop"));
    await files.writeAtomically(path("long"), "x".repeat(1_001), 0o644);
    await expect(files.read(path(name), 1_000)).rejects.toMatchObject({ code });
  });

  it("reads a file of exactly the limit, an empty one, and through a link", async () => {
    await files.writeAtomically(path("full"), "x".repeat(1_000), 0o644);
    await files.writeAtomically(path("empty"), "", 0o644);
    await files.link("full", path("link"));
    expect(await read("full")).toHaveLength(1_000);
    expect(await read("empty")).toBe("");
    expect(await read("link")).toHaveLength(1_000);
  });
}

const WRITES = ["writeAtomically", "exchange", "replace"] as const;

function describeWriting() {
  it.each(WRITES)("replaces a file in one step, with its mode, and leaves nothing beside it: %s", async (write) => {
    await files[write](path("state"), "old", 0o644);
    const before = await files.stat(path("state"));
    await files[write](path("state"), Buffer.from("new"), 0o600);
    const after = await files.stat(path("state"));
    expect(await read("state")).toBe("new");
    expect(after).toMatchObject({ type: "file", sizeBytes: 3, mode: 0o600 });
    expect(after?.version).not.toBe(before?.version);
    expect(await files.list(directory)).toEqual([{ name: "state", type: "file" }]);
  });

  it.each(WRITES)("replaces a link rather than what it leads to: %s", async (write) => {
    await files.writeAtomically(path("target"), "kept", 0o644);
    await files.link(path("target"), path("link"));
    await files[write](path("link"), "new", 0o644);
    expect([await read("target"), await read("link")]).toEqual(["kept", "new"]);
  });

  it.each(WRITES)("refuses to replace a directory, to write where none is, and leaves nothing: %s", async (write) => {
    await files.makeDirectory(path("directory"), 0o755);
    await expect(files[write](path("directory"), "", 0o644)).rejects.toMatchObject({ code: "EISDIR" });
    await expect(files[write](path("no/file"), "", 0o644)).rejects.toMatchObject({ code: "ENOENT" });
    expect(await files.list(directory)).toEqual([{ name: "directory", type: "directory" }]);
  });

  it("appends to a file or a new one, and follows no link", async () => {
    await files.append(path("log"), "one\n", 0o600);
    await files.append(path("log"), "two\n", 0o644);
    await harness.makeSymlink(path("log"), path("link"));
    expect(await read("log")).toBe("one\ntwo\n");
    expect((await files.stat(path("log")))?.mode).toBe(0o600);
    await expect(files.append(path("link"), "", 0o600)).rejects.toMatchObject({ code: "ELOOP" });
    await expect(files.append(path("no/log"), "", 0o600)).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("touches without changing content, and follows no link", async () => {
    await files.writeAtomically(path("message"), "kept", 0o600);
    await files.touch(path("message"), 0o666);
    await files.touch(path("fresh"), 0o666);
    await harness.makeSymlink(path("message"), path("link"));
    expect([await read("message"), await read("fresh")]).toEqual(["kept", ""]);
    expect((await files.stat(path("message")))?.mode).toBe(0o666);
    expect((await files.stat(path("fresh")))?.mode).toBe(0o666);
    await expect(files.touch(path("link"), 0o666)).rejects.toMatchObject({ code: "ELOOP" });
  });
}

function describeDirectoriesAndLinks() {
  it("hands the set-group-ID bit on to new directories, and takes it from one that is there", async () => {
    await files.makeDirectory(path("shared"), 0o755);
    await files.setGroup(path("shared"), process.getgid?.() ?? 0, 0o2755);
    await files.makeDirectory(path("shared/new/below"), 0o750);
    const modes = async () =>
      await Promise.all(["new", "new/below"].map(async (name) => (await files.stat(path(`shared/${name}`)))?.mode));
    expect(await modes()).toEqual([0o2755, 0o2750]);
    await files.makeDirectory(path("shared/new/below"), 0o750);
    expect(await modes()).toEqual([0o2755, 0o750]);
  });

  it("makes directories with the mode asked for, again and again", async () => {
    await files.makeDirectory(path("a/b/c"), 0o777);
    await files.makeDirectory(path("a/b/c"), 0o750);
    const modes = await Promise.all(["a", "a/b", "a/b/c"].map(async (name) => (await files.stat(path(name)))?.mode));
    expect(modes).toEqual([0o755, 0o755, 0o750]);
  });

  it("refuses a directory where a file is in the way", async () => {
    await files.writeAtomically(path("file"), "", 0o644);
    await expect(files.makeDirectory(path("file"), 0o755)).rejects.toMatchObject({ code: "EEXIST" });
    await expect(files.makeDirectory(path("file/x"), 0o755)).rejects.toMatchObject({ code: "ENOTDIR" });
  });

  it("lists by name with types, links not followed", async () => {
    await files.makeDirectory(path("b"), 0o755);
    await files.writeAtomically(path("c"), "", 0o644);
    await files.link("b", path("a"));
    await harness.makeFifo(path("d"));
    expect(await files.list(directory)).toEqual([
      { name: "a", type: "link" },
      { name: "b", type: "directory" },
      { name: "c", type: "file" },
      { name: "d", type: "other" },
    ]);
    await expect(files.list(path("absent"))).rejects.toMatchObject({ code: "ENOENT" });
    await expect(files.list(path("c"))).rejects.toMatchObject({ code: "ENOTDIR" });
  });

  it("has no status for what is not there, also behind a dangling link or below a file", async () => {
    await files.writeAtomically(path("file"), "", 0o644);
    await files.link(path("nothing"), path("dangling"));
    for (const name of ["absent", "dangling", "file/below"]) expect(await files.stat(path(name))).toBeUndefined();
    await files.link("file", path("link"));
    expect((await files.stat(path("link")))?.type).toBe("file");
  });

  it("replaces links and nothing else", async () => {
    await files.link("one", path("link"));
    await files.link("two", path("link"));
    expect(await files.readLink(path("link"))).toBe("two");
    await files.writeAtomically(path("file"), "", 0o644);
    await expect(files.link("one", path("file"))).rejects.toMatchObject({ code: "EEXIST" });
    expect(await files.readLink(path("file"))).toBeUndefined();
    expect(await files.readLink(path("absent"))).toBeUndefined();
    expect((await files.list(directory)).map(({ name }) => name)).toEqual(["file", "link"]);
  });
}

function describeTrees() {
  const tree = (names: readonly string[], more: Partial<NewTree> = {}): NewTree => ({
    files: new Map(names.map((name) => [name, { data: Buffer.from(`in ${name}`), mode: 0o640 }])),
    directoryMode: 0o755,
    ...more,
  });

  it.each([true, false])(
    "makes a directory with files at any depth, with the modes asked for (in memory: %s)",
    async (isInMemory) => {
      const names = ["top", "a/b/deep", "a/b/deeper", "a/c"];
      await files.createTree(path("tree"), tree(names, { directoryMode: 0o2751, isInMemory }));
      expect(await files.list(path("tree"))).toEqual([
        { name: "a", type: "directory" },
        { name: "top", type: "file" },
      ]);
      for (const name of ["top", "a/b/deep", "a/b/deeper", "a/c"])
        expect(await read(`tree/${name}`)).toBe(`in ${name}`);
      expect((await files.stat(path("tree/a/b/deep")))?.mode).toBe(0o640);
      for (const name of ["tree", "tree/a", "tree/a/b"]) expect((await files.stat(path(name)))?.mode).toBe(0o2751);
      await files.createTree(path("empty"), tree([]));
      expect(await files.list(path("empty"))).toEqual([]);
    },
  );

  it.each([true, false])("makes links beside the tree, which replace nothing (in memory: %s)", async (isInMemory) => {
    const links = new Map([
      ["current", "tree"],
      ["a", "current/a"],
    ]);
    await files.createTree(path("tree"), tree(["a"], { links, isInMemory }));
    expect(await files.readLink(path("current"))).toBe("tree");
    expect(await read("a")).toBe("in a");
    const again = files.createTree(path("other"), tree(["b"], { links, isInMemory }));
    await expect(again).rejects.toMatchObject({ code: "EEXIST" });
    expect([await read("a"), await read("other/b")]).toEqual(["in a", "in b"]);
  });

  it("gives everything to the group and each file to its user", async () => {
    const own = { data: Buffer.from("secret"), mode: 0o600, user: 1_234 };
    await files.createTree(path("tree"), tree([], { files: new Map([["sub/token", own]]), group: 2_000 }));
    expect(await files.stat(path("tree/sub/token"))).toMatchObject({ user: 1_234, group: 2_000, mode: 0o600 });
    for (const name of ["tree", "tree/sub"]) {
      expect(await files.stat(path(name))).toMatchObject({ group: 2_000, mode: 0o755 });
    }
  });

  it("takes the place of nothing, and follows no link", async () => {
    await files.makeDirectory(path("directory"), 0o755);
    await files.writeAtomically(path("file"), "kept", 0o644);
    await harness.makeSymlink(path("directory"), path("link"));
    await harness.makeSymlink(path("nothing"), path("dangling"));
    for (const isInMemory of [true, false]) {
      for (const name of ["directory", "file", "link", "dangling"]) {
        const refused = files.createTree(path(name), tree(["a"], { isInMemory }));
        await expect(refused).rejects.toMatchObject({ code: "EEXIST" });
      }
      const lost = files.createTree(path("no/tree"), tree(["a"], { isInMemory }));
      await expect(lost).rejects.toMatchObject({ code: "ENOENT" });
    }
    expect(await files.list(path("directory"))).toEqual([]);
    expect(await files.stat(path("nothing"))).toBeUndefined();
  });
}

function describeRemoving() {
  it("removes files and trees, follows no link, and does not mind what is absent", async () => {
    await files.makeDirectory(path("outside"), 0o755);
    await files.writeAtomically(path("outside/kept"), "kept", 0o644);
    await files.makeDirectory(path("tree/deep/er"), 0o755);
    await files.writeAtomically(path("tree/deep/file"), "", 0o644);
    await harness.makeFifo(path("tree/fifo"));
    await files.link(path("outside"), path("tree/deep/link"));
    await files.remove(path("tree"));
    await files.remove(path("tree"));
    await files.remove(path("no/such/path"));
    expect(await read("outside/kept")).toBe("kept");
    expect(await files.list(directory)).toEqual([{ name: "outside", type: "directory" }]);
  });

  it("removes directories however deep a container nested them, also where a name that it would like is taken", async () => {
    const deep = "d/".repeat(600);
    await files.makeDirectory(path(`tree/${deep}e/${deep}`), 0o755);
    await files.makeDirectory(path("tree/.lifted-0/full"), 0o755);
    await files.writeAtomically(path("tree/.lifted-1"), "", 0o644);
    await files.remove(path("tree"));
    expect(await files.list(directory)).toEqual([]);
  });

  it("removes a directory only if it holds nothing", async () => {
    await files.makeDirectory(path("volume"), 0o755);
    await files.writeAtomically(path("volume/data"), "kept", 0o644);
    await expect(files.removeEmptyDirectory(path("volume"))).rejects.toMatchObject({ code: "ENOTEMPTY" });
    await files.link(path("volume"), path("link"));
    await expect(files.removeEmptyDirectory(path("link"))).rejects.toMatchObject({ code: "ENOTDIR" });
    expect(await read("volume/data")).toBe("kept");
    await files.remove(path("volume/data"));
    await files.removeEmptyDirectory(path("volume"));
    await files.removeEmptyDirectory(path("volume"));
    expect(await files.list(directory)).toEqual([{ name: "link", type: "link" }]);
  });

  it("leaves alone what is mounted in the tree", async (context) => {
    await files.makeDirectory(path("tree/volume"), 0o755);
    if (!(await harness.mount(path("tree/volume")))) return context.skip("may not mount");
    await expect(files.remove(path("tree"))).rejects.toMatchObject({
      code: "EBUSY",
      message: expect.stringContaining(path("tree/volume")),
    });
    expect(await read("tree/volume/precious")).toBe("");
  });

  it("gives a directory to a group, with the bit that hands the group on", async () => {
    await files.makeDirectory(path("shared"), 0o777);
    await files.setGroup(path("shared"), 2_000, 0o2777);
    expect(await files.stat(path("shared"))).toMatchObject({ mode: 0o2777, group: 2_000 });
    await expect(files.setGroup(path("absent"), 2_000, 0o2777)).rejects.toMatchObject({ code: "ENOENT" });
  });
}

function describeWatching() {
  it("calls when it begins and after each kind of change, until its signal fires", async () => {
    let calls = 0;
    const controller = new AbortController();
    const watching = files.watch(
      directory,
      () => {
        calls++;
      },
      controller.signal,
    );
    await harness.until(() => calls > 0);
    const changes: Array<() => Promise<void>> = [
      async () => files.writeAtomically(path("new"), "1", 0o644),
      async () => files.writeAtomically(path("new"), "2", 0o644),
      async () => harness.rename(path("new"), path("renamed")),
      async () => files.link("renamed", path("link")),
      async () => files.remove(path("renamed")),
    ];
    for (const change of changes) {
      const before = calls;
      await change();
      await harness.until(() => calls > before);
    }
    controller.abort();
    await watching;
  });

  it("ends with a last call when the directory is removed or moved", async () => {
    for (const end of [
      async () => files.remove(path("watched")),
      async () => harness.rename(path("watched"), path("moved")),
    ]) {
      await files.makeDirectory(path("watched"), 0o755);
      let calls = 0;
      let hasEnded = false;
      const watching = files.watch(path("watched"), () => void calls++, new AbortController().signal);
      const ended = watching.then(() => {
        hasEnded = true;
      });
      await harness.until(() => calls > 0);
      const before = calls;
      await end();
      await harness.until(() => hasEnded);
      await ended;
      expect(calls).toBeGreaterThan(before);
    }
  });

  it("notes which names left a directory, also where they are back by then", async () => {
    await files.writeAtomically(path("kept"), "", 0o644);
    await files.writeAtomically(path("moved"), "", 0o644);
    await files.writeAtomically(path("back"), "1", 0o644);
    await files.remove(path("kept"));
    const removals = await files.noteRemovals(directory);
    expect([...removals.take()]).toEqual([]);
    await files.writeAtomically(path("kept"), "1", 0o644);
    await files.writeAtomically(path("kept"), "2", 0o644);
    await files.remove(path("back"));
    await files.writeAtomically(path("back"), "1", 0o644);
    await harness.rename(path("moved"), path("elsewhere"));
    const names = [...removals.take()].filter((name) => !name.startsWith("."));
    expect(names.toSorted()).toEqual(["back", "moved"]);
    expect([...removals.take()]).toEqual([]);
    await files.remove(path("back"));
    removals.close();
    removals.close();
    expect([...removals.take()]).toEqual([]);
    await expect(files.noteRemovals(path("absent"))).rejects.toMatchObject({ code: "ENOENT" });
    await expect(files.noteRemovals(path("kept"))).rejects.toMatchObject({ code: "ENOTDIR" });
  });

  it("refuses what is no directory, and does nothing when the signal has fired", async () => {
    await files.writeAtomically(path("file"), "", 0o644);
    const { signal } = new AbortController();
    await expect(files.watch(path("absent"), () => undefined, signal)).rejects.toMatchObject({ code: "ENOENT" });
    await expect(files.watch(path("file"), () => undefined, signal)).rejects.toMatchObject({ code: "ENOTDIR" });
    await files.watch(directory, () => expect.fail("not called"), AbortSignal.abort());
  });
}

function describeHttp() {
  const ask = async (url: string, options: Partial<HttpRequest> = {}, signal = new AbortController().signal) => {
    const request = { method: "GET" as const, url, timeoutMs: 5_000, maxBodyBytes: 1_000, ...options };
    const answer = host.http.request(request, signal);
    let isSettled = false;
    const settle = () => {
      isSettled = true;
    };
    answer.then(settle, settle);
    await harness.until(() => isSettled);
    return answer;
  };

  it("gives status, headers by lower-case name, and body", async () => {
    const url = await harness.serve({ "/pods": { status: 200, headers: { ETag: '"1"' }, body: "hello" } });
    const answer = await ask(`${url}/pods`);
    expect([answer.status, answer.headers["etag"], answer.body.toString()]).toEqual([200, '"1"', "hello"]);
  });

  it("gives a failure status as an answer, and no body for HEAD", async () => {
    const url = await harness.serve({ "/broken": { status: 503, body: "sorry" } });
    expect(await ask(`${url}/broken`)).toMatchObject({ status: 503 });
    expect((await ask(`${url}/broken`, { method: "HEAD" })).body).toHaveLength(0);
  });

  it("refuses a body that is longer than allowed, and takes one of exactly that length", async () => {
    const url = await harness.serve({
      "/long": { status: 200, body: "x".repeat(1_001) },
      "/full": { status: 200, body: "x".repeat(1_000) },
    });
    await expect(ask(`${url}/long`)).rejects.toMatchObject({ code: "EFBIG" });
    expect((await ask(`${url}/full`)).body).toHaveLength(1_000);
  });

  it("gives up after the time-out, and at once when its signal fires", async () => {
    const url = await harness.serve({ "/slow": { status: 200, delayMs: 60_000 } });
    await expect(ask(`${url}/slow`, { timeoutMs: 20 })).rejects.toMatchObject({ code: "ETIMEDOUT" });
    const controller = new AbortController();
    host.clock.setTimer(10, () => controller.abort());
    await expect(ask(`${url}/slow`, {}, controller.signal)).rejects.toMatchObject({ name: "AbortError" });
  });

  it("follows redirects on the same host only", async () => {
    const url = await harness.serve({
      "/moved": { status: 302, headers: { Location: "/here" } },
      "/here": { status: 200, body: "found" },
      "/away": { status: 302, headers: { Location: "http://elsewhere.test/" } },
      "/loop": { status: 302, headers: { Location: "/loop" } },
    });
    expect((await ask(`${url}/moved`)).body.toString()).toBe("found");
    expect((await ask(`${url}/away`)).status).toBe(302);
    expect((await ask(`${url}/loop`)).status).toBe(302);
  });

  it("rejects when nobody listens", async () => {
    await expect(ask("http://127.0.0.1:1/")).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });
}

function describeMachine() {
  it("knows its name, size and addresses", async () => {
    const { machine } = host;
    expect(machine.hostname()).toMatch(/^[a-z0-9._-]+$/);
    expect(machine.cpuCount()).toBeGreaterThan(0);
    expect(await machine.memoryCapacityBytes()).toBeGreaterThan(1_000_000n);
    for (const address of await machine.nodeAddresses()) expect(address).toMatch(/^[0-9a-f:.]+$/);
    expect(machine.interfaceAddresses()).toContain("127.0.0.1");
    expect(machine.interfaceAddresses()).toEqual(expect.arrayContaining(await machine.nodeAddresses()));
    expect(await machine.swapCapacityBytes()).toBeGreaterThanOrEqual(0n);
  });

  it("knows who it is, with something to say wherever Kubernetes wants it said", async () => {
    const identity = await host.machine.identity();
    expect(identity.bootId).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(identity.kernelRelease).toMatch(/^\d+\.\d+/);
    expect(identity.osImage).toMatch(/^[^"']+$/);
    expect(identity.architecture).toMatch(/^(amd64|arm64|arm|386|ppc64le|s390x|riscv64|loong64)$/);
    for (const text of Object.values(identity)) expect(text).toBe(text.trim());
    expect(await host.machine.identity()).toEqual(identity);
  });

  it("knows its huge pages, smallest first", async () => {
    const sizes = (await host.machine.hugepages()).map(({ pageSizeBytes }) => pageSizeBytes);
    expect(sizes).toEqual(sizes.toSorted((a, b) => (a < b ? -1 : 1)));
    for (const size of sizes) expect(size % 1024n).toBe(0n);
    for (const { pages } of await host.machine.hugepages()) expect(pages).toBeGreaterThanOrEqual(0n);
  });

  it("knows how large the file system beneath a path is", async () => {
    const { sizeBytes, inodes } = await host.machine.fileSystemCapacity("/");
    expect(sizeBytes).toBeGreaterThan(1_000_000n);
    expect(inodes).toBeGreaterThanOrEqual(0n);
  });

  it("knows how full the file system beneath a path is", async () => {
    const { bytes, inodes } = await host.machine.fileSystemUsage("/");
    expect(bytes.total).toBe((await host.machine.fileSystemCapacity("/")).sizeBytes);
    for (const { total, available, used } of [bytes, inodes]) {
      for (const part of [available, used]) expect(part).toBeGreaterThanOrEqual(0n);
      expect(available + used).toBeLessThanOrEqual(total);
    }
  });
}
