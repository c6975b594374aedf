import { describe, expect, it } from "vitest";
import { CodedError } from "../../../../base/errors.ts";
import { silentLog } from "../../../../base/log.ts";
import { createFakeHost } from "../../../../host/fake/create-fake-host.ts";
import { subPathDirectoryName } from "./sub-path-directory.ts";
import { createSubPaths, type SubPathRequest } from "./sub-paths.ts";

const POD = "/var/lib/kubelet/pods/uid-1";
const ROOT = `${POD}/volumes/kubernetes.io~empty-dir/data`;
const TARGET = `${POD}/volume-subpaths/data/main/0`;

type Request = Partial<Omit<SubPathRequest, "volume">> & { hostPath?: string; readOnly?: boolean };

async function createRig() {
  const host = createFakeHost();
  const logged: unknown[] = [];
  const log = { ...silentLog, warn: (...said: unknown[]) => void logged.push(said) };
  const subPaths = createSubPaths({ ...host, log }, { rootDirectory: "/var/lib/kubelet" });
  await host.files.makeDirectory(ROOT, 0o777);
  await host.files.makeDirectory("/host", 0o777);
  const prepare = async ({ hostPath = ROOT, readOnly = false, ...more }: Request = {}) =>
    await subPaths.prepare({
      podUid: "uid-1",
      volumeName: "data",
      volume: { kind: "files", hostPath, readOnly, relabel: false },
      subPath: "sub",
      containerName: "main",
      index: 0,
      ...more,
    });
  const mounted = () =>
    host.mounts
      .mounted()
      .map(({ path }) => path)
      .filter((path) => path.startsWith(`${POD}/volume-subpaths`));
  return { ...host, subPaths, prepare, mounted, logged };
}

const failed = (act: string) => ({
  ok: false,
  error: `failed to ${act} for volumeMount "data" of container "main"`,
});

describe("a part of a volume", () => {
  it("is shown where a Go kubelet shows it", async () => {
    const { files, prepare, mounted } = await createRig();
    files.put(`${ROOT}/sub/file`, "content");
    expect(await prepare()).toEqual({ ok: true, value: TARGET });
    expect(files.text(`${TARGET}/file`)).toBe("content");
    expect(await prepare({ containerName: "other", index: 3, subPath: "sub/file" })).toEqual({
      ok: true,
      value: `${POD}/volume-subpaths/data/other/3`,
    });
    expect(files.text(`${POD}/volume-subpaths/data/other/3`)).toBe("content");
    expect(mounted()).toHaveLength(2);
    for (const directory of ["", "/data", "/data/main"]) {
      expect(await files.stat(`${POD}/volume-subpaths${directory}`)).toMatchObject({ mode: 0o750 });
    }
  });

  it.each([
    [0o777, 0o777],
    [0o2775, 0o2775],
    [0o1777, 0o1777],
    [0o3777, 0o3777],
    [0o700, 0o700],
  ])("that is missing is made: in a volume of mode %o with mode %o", async (volumeMode, mode) => {
    const { files, prepare } = await createRig();
    await files.makeDirectory(ROOT, volumeMode);
    expect(await prepare({ subPath: "./a//b/" })).toMatchObject({ ok: true });
    expect(await files.stat(`${ROOT}/a/b`)).toMatchObject({ type: "directory", mode });
    expect(await files.stat(`${ROOT}/a`)).toMatchObject({ mode });
  });

  it("may be all of it", async () => {
    const { files, prepare } = await createRig();
    files.put(`${ROOT}/file`, "content");
    await prepare({ subPath: "." });
    expect(files.text(`${TARGET}/file`)).toBe("content");
  });

  it("that a config map does not have is made, as charts name files that they may not give", async () => {
    const { files, prepare } = await createRig();
    expect(await prepare({ readOnly: true })).toEqual({ ok: true, value: TARGET });
    expect(await files.list(TARGET)).toEqual([]);
  });

  it("of a config map stays the version that it was until its container is started again", async () => {
    const { files, prepare } = await createRig();
    for (const version of ["1", "2"]) files.put(`${ROOT}/..${version}/key`, version);
    await files.link("..data/key", `${ROOT}/key`);
    await files.link("..1", `${ROOT}/..data`);
    await prepare({ subPath: "key", readOnly: true });
    await files.link("..2", `${ROOT}/..data`);
    expect(files.text(TARGET)).toBe("1");
    await prepare({ subPath: "key", readOnly: true });
    expect(files.text(TARGET)).toBe("2");
  });

  it("may have become something of another kind when its container is started again", async () => {
    const { files, prepare, mounted } = await createRig();
    await prepare();
    await files.removeEmptyDirectory(`${ROOT}/sub`);
    files.put(`${ROOT}/sub`, "a file");
    expect(await prepare()).toEqual({ ok: true, value: TARGET });
    expect(files.text(TARGET)).toBe("a file");
    expect(mounted()).toEqual([TARGET]);
  });
});

describe("CVE-2017-1002101: a container's links", () => {
  it.each(["/etc", `${"../".repeat(9)}etc`, "/"])("to %s show nothing of the host, nor name it", async (target) => {
    const { files, prepare, mounted, logged } = await createRig();
    files.put("/etc/shadow", "secret");
    await files.link(target, `${ROOT}/sub`);
    for (const subPath of ["sub", "sub/shadow", "sub/new"]) {
      expect(await prepare({ subPath })).toEqual(failed("prepare subPath"));
    }
    expect(mounted()).toEqual([]);
    expect(await files.stat("/etc/new")).toBeUndefined();
    // Who looks after the node finds out what happened; who owns the pod does not.
    expect(logged).toHaveLength(3);
    expect(logged[0]).toMatchObject(["A sub path of a volume cannot be mounted", { uid: "uid-1", container: "main" }]);
  });

  it("within the volume are followed", async () => {
    const { files, prepare } = await createRig();
    files.put(`${ROOT}/there/file`, "content");
    await files.link("there", `${ROOT}/sub`);
    await prepare();
    expect(files.text(`${TARGET}/file`)).toBe("content");
  });
});

it("CVE-2021-25741: a directory that is swapped for a link just before the mount shows nothing of the host", async () => {
  const { files, mounts, prepare, mounted } = await createRig();
  files.put("/etc/shadow", "secret");
  files.put(`${ROOT}/sub/file`, "content");
  const undo = mounts.intercept(async ({ operation, phase }) => {
    if (operation !== "bindBeneath" || phase !== "before") return;
    files.move(`${ROOT}/sub`, `${ROOT}/aside`);
    await files.link("/etc", `${ROOT}/sub`);
  });
  expect(await prepare()).toEqual(failed("prepare subPath"));
  expect(mounted()).toEqual([]);
  undo();
  // It is not the end of the pod: once it is a directory again, the next try shows it.
  files.delete(`${ROOT}/sub`);
  files.move(`${ROOT}/aside`, `${ROOT}/sub`);
  expect(await prepare()).toEqual({ ok: true, value: TARGET });
  expect(files.text(`${TARGET}/file`)).toBe("content");
});

it.each([
  ["ENOSPC", "create subPath directory"],
  ["EROFS", "create subPath directory"],
  ["EXDEV", "prepare subPath"],
  ["ENOTDIR", "prepare subPath"],
])("%s is a failure to %s", async (code, act) => {
  const { mounts, prepare } = await createRig();
  mounts.intercept(() => {
    throw new CodedError(code, `${code} at /some/path`);
  });
  expect(await prepare()).toEqual(failed(act));
});

describe("cleaning up", () => {
  it("leaves nothing of the pod's, and all that is in its volumes; it may be repeated", async () => {
    const { files, subPaths, prepare, mounted } = await createRig();
    files.put(`${ROOT}/file`, "content");
    await prepare();
    await prepare({ index: 1, subPath: "file" });
    await prepare({ containerName: "other", index: 12 });
    await prepare({ volumeName: "host", hostPath: ROOT.replace("data", "gone") });
    await subPaths.cleanUp("uid-1");
    await subPaths.cleanUp("uid-1");
    expect(mounted()).toEqual([]);
    expect(await files.stat(`${POD}/volume-subpaths`)).toBeUndefined();
    expect(files.text(`${ROOT}/file`)).toBe("content");
    expect(await files.stat(`${ROOT}/sub`)).toMatchObject({ type: "directory" });
  });

  it("of a pod that had none, or another's, is nothing", async () => {
    const { subPaths, prepare, mounted } = await createRig();
    await prepare();
    await subPaths.cleanUp("uid-2");
    expect(mounted()).toEqual([TARGET]);
  });

  it("takes what it can when something is busy, says what is, and is done when it is tried again", async () => {
    const { files, mounts, subPaths, prepare, mounted } = await createRig();
    await prepare();
    await prepare({ containerName: "other" });
    const release = mounts.hold(TARGET);
    await expect(subPaths.cleanUp("uid-1")).rejects.toThrow(`EBUSY`);
    expect(mounted()).toEqual([TARGET]);
    expect(await files.stat(`${POD}/volume-subpaths/data/other`)).toBeUndefined();
    release();
    await subPaths.cleanUp("uid-1");
    expect(await files.stat(`${POD}/volume-subpaths`)).toBeUndefined();
  });

  it("is not undone by a part that was to be shown before, and comes after it", async () => {
    const { clock, files, mounts, subPaths, prepare, mounted } = await createRig();
    let answer: () => void = () => undefined;
    mounts.intercept(async ({ operation, phase }) => {
      if (operation !== "bindBeneath" || phase !== "before") return;
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
    });
    const late = prepare();
    await clock.settle();
    await subPaths.cleanUp("uid-1");
    answer();
    expect(await late).toEqual(failed("create subPath directory"));
    expect(mounted()).toEqual([]);
    expect(await files.stat(`${POD}/volume-subpaths`)).toBeUndefined();
  });

  it("goes on after a crash at any step", async () => {
    for (let survived = 0, over = false; !over; survived++) {
      const { files, mounts, subPaths, prepare, mounted } = await createRig();
      files.put(`${ROOT}/file`, "content");
      await prepare();
      await prepare({ index: 1, subPath: "file" });
      let steps = 0;
      const crash = () => {
        if (steps++ === survived) throw new Error("crash");
      };
      const undo = [files.intercept(crash), mounts.intercept(crash)];
      over = await subPaths.cleanUp("uid-1").then(
        () => true,
        () => false,
      );
      for (const undone of undo) undone();
      await subPaths.cleanUp("uid-1");
      expect(mounted(), `after ${survived} steps`).toEqual([]);
      expect(await files.stat(`${POD}/volume-subpaths`)).toBeUndefined();
      expect(files.text(`${ROOT}/file`)).toBe("content");
    }
  });

  it.each<[string, (files: Awaited<ReturnType<typeof createRig>>["files"]) => Promise<void> | void]>([
    ["a link", async (files) => await files.link("/precious", `${POD}/volume-subpaths/data/main/7`)],
    ["a link above", async (files) => await files.link("/precious", `${POD}/volume-subpaths/data/linked`)],
    ["a file with content", (files) => files.put(`${POD}/volume-subpaths/data/main/7`, "content")],
    ["a directory with content", (files) => files.put(`${POD}/volume-subpaths/data/main/7/file`, "content")],
    ["a file above", (files) => files.put(`${POD}/volume-subpaths/data/file`, "")],
  ])("neither removes nor follows what is not ours: %s (CVE-2017-1002102)", async (_what, plant) => {
    const { files, subPaths, prepare, mounted } = await createRig();
    files.put("/precious/7", "kept");
    files.put("/precious/main/7", "kept");
    await prepare();
    await plant(files);
    const before = files.text(`${POD}/volume-subpaths/data/main/7`);
    await expect(subPaths.cleanUp("uid-1")).rejects.toThrow();
    expect(mounted()).toEqual([]);
    expect(files.text(`${POD}/volume-subpaths/data/main/7`)).toBe(before);
    expect(files.text("/precious/7")).toBe("kept");
    expect(files.text("/precious/main/7")).toBe("kept");
  });
});

it("cleans up nothing through a link in the place of all of a pod's sub paths", async () => {
  const { files, subPaths } = await createRig();
  files.put("/precious/data/main/7", "");
  await files.link("/precious", `${POD}/volume-subpaths`);
  await expect(subPaths.cleanUp("uid-1")).rejects.toThrow("was not made by this node agent");
  expect(files.text("/precious/data/main/7")).toBe("");
});

it("an unmount that hangs holds up the clean-up of no other pod", async () => {
  const { clock, mounts, subPaths, prepare, mounted } = await createRig();
  for (let index = 0; index < 20; index++) await prepare({ index });
  await prepare({ podUid: "uid-2", hostPath: "/host" });
  mounts.intercept(async ({ operation, path, phase }) => {
    if (operation === "unmount" && phase === "before" && path.startsWith(POD)) await new Promise(() => undefined);
  });
  const hung = subPaths.cleanUp("uid-1").catch((error: unknown) => error);
  await subPaths.cleanUp("uid-2");
  for (let waited = 0; waited < 5; waited++) await clock.advance(30_000);
  expect(String(await hung)).toContain("ETIMEDOUT");
  expect(mounted()).toHaveLength(20);
});

it.each([
  [`${POD}/volumes/kubernetes.io~empty-dir/data`, "data"],
  [`${POD}/volumes/kubernetes.io~csi/pvc-1/mount`, "pvc-1"],
  [`${POD}/volumes/kubernetes.io~nfs/pv-2`, "pv-2"],
  ["/mnt/disk", "data"],
  [`${POD}/volumes-of-another/x/y`, "data"],
  [`${POD}/volumes/odd`, "data"],
])("the parts of a volume at %s are beneath %s", (hostPath, name) => {
  const directories = { volumes: `${POD}/volumes` };
  expect(subPathDirectoryName(directories, { volumeName: "data", volume: { hostPath } })).toBe(name);
});
