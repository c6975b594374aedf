import { gunzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Files, Host } from "../../src/host/port.ts";
import { createFakeHostHarness, createRealHostHarness, type HostHarness } from "./host-harness.ts";

let harness: HostHarness;
let directory: string;
let host: Host;
let files: Files;
const path = (name: string) => `${directory}/${name}`;
const write = async (name: string, text: string) => await files.writeAtomically(path(name), text, 0o640);
const limits = { maxBytes: 1_000_000, signal: new AbortController().signal };

/** What the logs of containers and of the node are read and kept by. */
describe.each([
  ["fake", createFakeHostHarness],
  ["node", async () => await createRealHostHarness()],
])("host: logs: %s", (_name, createHarness) => {
  beforeEach(async () => {
    harness = await createHarness();
    ({ directory, host } = harness);
    files = host.files;
    await files.makeDirectory(path("root/deep"), 0o755);
  });
  afterEach(async () => harness.close());

  it("reads an open file at any place, also after it was renamed and removed", async () => {
    await write("root/deep/log", "0123456789");
    const file = await files.openBeneath(path("root"), "deep/log");
    expect((await file.status()).sizeBytes).toBe(10);
    await harness.rename(path("root/deep/log"), path("root/deep/old"));
    await write("root/deep/log", "new");
    const other = await files.openBeneath(path("root"), "deep/log");
    expect(other.identity).not.toBe(file.identity);
    await files.remove(path("root/deep/old"));
    const parts = await Promise.all([file.read(0, 3), file.read(8, 100), file.read(10, 5), file.read(99, 5)]);
    expect(parts.map(String)).toEqual(["012", "89", "", ""]);
    expect(String(await other.read(0, 10))).toBe("new");
    await Promise.all([file.close(), other.close()]);
  });

  it("sees what is written to a file that is open", async () => {
    await write("root/log", "old");
    const [one, same] = [await files.openBeneath(path("root"), "log"), await files.openBeneath(path("root"), "log")];
    expect(one.identity).toBe(same.identity);
    expect((await one.status()).modifiedAt).toBeGreaterThan(0);
    await Promise.all([one.close(), same.close()]);
  });

  it("follows links that stay beneath the root, unless it is not to", async () => {
    await write("root/deep/log", "text");
    await files.link("deep/log", path("root/relative"));
    await files.link(path("root/deep/log"), path("root/absolute"));
    await files.link("deep", path("root/directory"));
    for (const name of ["relative", "absolute", "directory/log"]) {
      const file = await files.openBeneath(path("root"), name);
      expect(String(await file.read(0, 10))).toBe("text");
      await file.close();
      const refused = files.openBeneath(path("root"), name, { refusesLinks: true });
      await expect(refused).rejects.toMatchObject({ code: "ELOOP" });
    }
    expect(await files.listBeneath(path("root"), "directory")).toEqual([{ name: "log", type: "file" }]);
  });

  it.each([
    ["nothing", "ENOENT"],
    ["deep/log/below", "ENOTDIR"],
    ["deep", "EISDIR"],
    ["fifo", "EINVAL"],
    ["out", "EXDEV"],
    ["up", "EXDEV"],
    ["loop", "ELOOP"],
    ["../secret", "EINVAL"],
    ["/secret", "EINVAL"],
  ])("does not open %s", async (name, code) => {
    await write("secret", "secret");
    await write("root/deep/log", "text");
    await harness.makeFifo(path("root/fifo"));
    await files.link(path("secret"), path("root/out"));
    await files.link("../secret", path("root/up"));
    await files.link("loop", path("root/loop"));
    await expect(files.openBeneath(path("root"), name)).rejects.toMatchObject({ code });
  });

  it("lists the root itself, and nothing that is no directory or leads out", async () => {
    await write("root/log", "");
    await files.link(directory, path("root/out"));
    const names = (await files.listBeneath(path("root"), "")).map(({ name, type }) => `${name} ${type}`);
    expect(names).toEqual(["deep directory", "log file", "out link"]);
    await expect(files.listBeneath(path("root"), "log")).rejects.toMatchObject({ code: "ENOTDIR" });
    await expect(files.listBeneath(path("root"), "out")).rejects.toMatchObject({ code: "EXDEV" });
    await expect(files.listBeneath(path("root"), "none")).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("renames a file, and replaces none", async () => {
    await write("log", "text");
    await files.rename(path("log"), path("old"));
    expect(String(await files.read(path("old"), 10))).toBe("text");
    expect(await files.stat(path("log"))).toBeUndefined();
    await write("log", "new");
    await expect(files.rename(path("log"), path("old"))).rejects.toMatchObject({ code: "EEXIST" });
    expect(String(await files.read(path("old"), 10))).toBe("text");
    await expect(files.rename(path("none"), path("other"))).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("compresses a file with its mode, over what was left of an earlier time", async () => {
    const text = "a line of a log\n".repeat(50_000);
    await write("log", text);
    await write("log.tmp", "half");
    const opened = await files.openDirectoryBeneath(directory, "");
    await opened.compress("log", { name: "log.gz", unfinished: "log.tmp" }, limits);
    await opened.close();
    const compressed = await files.read(path("log.gz"), 100_000);
    expect(gunzipSync(compressed).toString()).toBe(text);
    expect((await files.stat(path("log.gz")))?.mode).toBe(0o640);
    expect(await files.stat(path("log.tmp"))).toBeUndefined();
    expect(String(await files.read(path("log"), text.length))).toBe(text);
  });

  it.each([
    ["none", "ENOENT"],
    ["link", "ELOOP"],
    ["fifo", "EINVAL"],
    ["long", "EFBIG"],
  ])("compresses no %s, and leaves nothing", async (name, code) => {
    await write("secret", "secret");
    await write("long", "x".repeat(limits.maxBytes + 1));
    await files.link(path("secret"), path("link"));
    await harness.makeFifo(path("fifo"));
    const opened = await files.openDirectoryBeneath(directory, "");
    const to = { name: "log.gz", unfinished: "log.tmp" };
    await expect(opened.compress(name, to, limits)).rejects.toMatchObject({ code });
    await opened.close();
    expect((await files.list(directory)).map((entry) => entry.name)).toEqual([
      "fifo",
      "link",
      "long",
      "root",
      "secret",
    ]);
  });

  it("compresses nothing once it is to stop", async () => {
    await write("log", "text");
    const opened = await files.openDirectoryBeneath(directory, "");
    const to = { name: "log.gz", unfinished: "log.tmp" };
    await expect(opened.compress("log", to, { ...limits, signal: AbortSignal.abort() })).rejects.toMatchObject({
      name: "AbortError",
    });
    await opened.close();
    expect((await files.list(directory)).map(({ name }) => name)).toEqual(["log", "root"]);
  });

  it("works on in the directory that it opened, whatever its name leads to by then", async () => {
    for (const name of ["old", "log", "log.1"]) {
      await write(`root/deep/${name}`, "of the pod");
      await files.makeDirectory(path("secret"), 0o755);
      await write(`secret/${name}`, "secret");
    }
    const opened = await files.openDirectoryBeneath(path("root"), "deep");
    await harness.rename(path("root/deep"), path("root/moved"));
    await files.link(path("secret"), path("root/deep"));
    expect((await opened.list()).map(({ name }) => name)).toEqual(["log", "log.1", "old"]);
    await opened.remove("old");
    await opened.compress("log.1", { name: "log.1.gz", unfinished: "log.1.tmp" }, limits);
    await opened.rename("log", "log.2");
    await opened.close();
    const names = async (name: string) => (await files.list(path(name))).map((entry) => entry.name);
    expect(await names("secret")).toEqual(["log", "log.1", "old"]);
    expect(await names("root/moved")).toEqual(["log.1", "log.1.gz", "log.2"]);
  });

  it("makes a directory with its parents and its root, and sets its mode each time", async () => {
    await files.makeDirectoryBeneath(path("new/root"), "of a pod/of a container", 0o755);
    await files.makeDirectoryBeneath(path("new/root"), "of a pod/of a container", 0o711);
    const modes = await Promise.all(
      ["new", "new/root", "new/root/of a pod", "new/root/of a pod/of a container"].map(
        async (name) => (await files.stat(path(name)))?.mode,
      ),
    );
    expect(modes.map((mode) => (mode ?? 0) & 0o7777)).toEqual([0o755, 0o755, 0o755, 0o711]);
  });

  it.each([
    ["link", "ELOOP"],
    ["link/below/it", "ELOOP"],
    ["deep/link", "ELOOP"],
    ["log", "ENOTDIR"],
    ["../secret/made", "EINVAL"],
  ])("makes no directory at %s, and changes nothing elsewhere", async (name, code) => {
    await files.makeDirectory(path("secret"), 0o700);
    await files.link(path("secret"), path("root/link"));
    await files.link("../../secret", path("root/deep/link"));
    await write("root/log", "text");
    await expect(files.makeDirectoryBeneath(path("root"), name, 0o755)).rejects.toMatchObject({ code });
    expect(await files.list(path("secret"))).toEqual([]);
    expect(((await files.stat(path("secret")))?.mode ?? 0) & 0o7777).toBe(0o700);
  });

  it.each([
    ["link", "ELOOP"],
    ["link/below", "ELOOP"],
    ["log", "ENOTDIR"],
    ["none", "ENOENT"],
    ["../secret", "EINVAL"],
  ])("opens no %s for a directory", async (name, code) => {
    await files.makeDirectory(path("root/deep/below"), 0o755);
    await files.link("deep", path("root/link"));
    await write("root/log", "text");
    await expect(files.openDirectoryBeneath(path("root"), name)).rejects.toMatchObject({ code });
  });
});
