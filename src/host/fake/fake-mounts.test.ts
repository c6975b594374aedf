import { beforeEach, describe, expect, it } from "vitest";
import { createFakeHost, type FakeHost } from "./create-fake-host.ts";
import type { MountAccess } from "./fake-mounts.ts";

let host: FakeHost;
const NFS = { source: "server:/export", target: "/mnt", type: "nfs", options: ["vers=4.2"], timeoutMs: 1_000 };
const paths = () => host.mounts.mounted().map(({ path }) => path);
/** The outcome of a promise so far. */
const watch = (promise: Promise<unknown>) => {
  const seen = { outcome: "pending" };
  promise.then(
    () => {
      seen.outcome = "done";
    },
    (error: Error & { code?: string }) => {
      seen.outcome = error.code ?? error.name;
    },
  );
  return seen;
};

beforeEach(async () => {
  host = createFakeHost();
  await host.files.makeDirectory("/mnt", 0o755);
});

describe("faults of fake mounts", () => {
  it("shows a hook every access, before and after its effect", async () => {
    const seen: MountAccess[] = [];
    const remove = host.mounts.intercept((access) => void seen.push(access));
    await host.mounts.bind("/", "/mnt", { readOnly: true });
    remove();
    await host.mounts.unmount("/mnt");
    expect(seen).toEqual([
      { operation: "bind", path: "/mnt", source: "/", phase: "before" },
      { operation: "bind", path: "/mnt", source: "/", phase: "after" },
    ]);
  });

  it.each([
    ["before", ["/"]],
    ["after", ["/", "/mnt"]],
  ])("fails a mount %s its effect", async (phase, expected) => {
    host.mounts.intercept((access) => {
      if (access.phase === phase) throw new Error("crash");
    });
    await expect(host.mounts.mountMemory("/mnt", undefined)).rejects.toThrow("crash");
    expect(paths()).toEqual(expected);
  });

  it("hangs a mount of a file system until its time is over, and it never comes", async () => {
    let release = () => {};
    const remove = host.mounts.intercept(async () => await new Promise<void>((resolve) => (release = resolve)));
    const mounting = watch(host.mounts.mountFileSystem(NFS));
    await host.clock.advance(999);
    expect(mounting.outcome).toBe("pending");
    await host.clock.advance(1);
    expect(mounting.outcome).toBe("ETIMEDOUT");
    remove();
    release();
    await host.clock.settle();
    expect([paths(), host.clock.pendingTimers]).toEqual([["/"], 0]);
  });

  it("ends a hung mount with its signal, and a hung unmount after its time", async () => {
    await host.mounts.mountFileSystem(NFS);
    host.mounts.intercept(async () => await new Promise<void>(() => undefined));
    const controller = new AbortController();
    const mounting = watch(host.mounts.formatAndMount(NFS, controller.signal));
    const unmounting = watch(host.mounts.unmount("/mnt", { timeoutMs: 500 }));
    controller.abort();
    await host.clock.advance(500);
    expect([mounting.outcome, unmounting.outcome, paths()]).toEqual(["AbortError", "ETIMEDOUT", ["/", "/mnt"]]);
  });
});

describe("fake file systems", () => {
  it("shows the same content wherever its source is mounted", async () => {
    await host.mounts.mountFileSystem(NFS);
    host.files.put("/mnt/file", "kept");
    await host.mounts.unmount("/mnt");
    expect(host.files.text("/mnt/file")).toBeUndefined();
    await host.files.makeDirectory("/other", 0o755);
    await host.mounts.mountFileSystem({ ...NFS, target: "/other", options: ["ro"] });
    expect(host.files.text("/other/file")).toBe("kept");
    await expect(host.files.touch("/other/file", 0o644)).rejects.toMatchObject({ code: "EROFS" });
    expect(host.mounts.mounted().at(-1)).toMatchObject({ source: "server:/export", type: "nfs", options: ["ro"] });
  });

  it.each([
    ["blank", undefined, ["rw"], undefined],
    ["blank and read-only", undefined, ["ro"], "EINVAL"],
    ["of its type", "ext4", ["ro"], undefined],
    ["of another type", "xfs", [], "EINVAL"],
  ])("formats a device that is %s, or does not", async (_what, held, options, code) => {
    host.mounts.putDevice("/dev/sdb", held);
    const request = { source: "/dev/sdb", target: "/mnt", type: "ext4", options, timeoutMs: 1_000 };
    if (held === undefined)
      await expect(host.mounts.mountFileSystem(request)).rejects.toMatchObject({ code: "EINVAL" });
    const mounting = host.mounts.formatAndMount(request);
    if (code === undefined) await mounting;
    else await expect(mounting).rejects.toMatchObject({ code });
    expect(paths()).toEqual(code === undefined ? ["/", "/mnt"] : ["/"]);
  });

  it("forgets what was mounted in a directory that an operator removes, and lets one unmount", async () => {
    await host.files.makeDirectory("/mnt/a/b", 0o755);
    await host.mounts.mountMemory("/mnt/a/b", undefined);
    host.mounts.drop("/mnt/a/b");
    expect(paths()).toEqual(["/"]);
    await host.mounts.mountMemory("/mnt/a/b", undefined);
    await expect(host.files.remove("/mnt/a")).rejects.toMatchObject({ code: "EBUSY" });
    host.files.delete("/mnt/a");
    expect(paths()).toEqual(["/"]);
  });

  it("follows a mount whose directory is renamed", async () => {
    await host.files.makeDirectory("/mnt/a", 0o755);
    await host.mounts.mountMemory("/mnt/a", undefined);
    host.files.move("/mnt", "/moved");
    expect(paths()).toEqual(["/", "/moved/a"]);
  });
});
