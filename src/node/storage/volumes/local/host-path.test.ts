import { beforeEach, describe, expect, it } from "vitest";
import type { PersistentVolumeSpec } from "../../../../api/gen/types.ts";
import { createFakeHost } from "../../../../host/fake/create-fake-host.ts";
import type { FakeFiles } from "../../../../host/fake/fake-files.ts";
import { volumeDirectories } from "../volume-directories.ts";
import type { VolumePlugin, VolumeSource } from "../volume-plugin.ts";
import { createHostPathPlugin } from "./host-path.ts";

let files: FakeFiles;
let plugin: VolumePlugin;

const THERE: Record<string, () => void> = {
  nothing: () => files.put("/host/other", ""),
  directory: () => files.put("/host/path/child", ""),
  file: () => files.put("/host/path", ""),
  socket: () => files.putSpecial("/host/path", "socket"),
  "character-device": () => files.putSpecial("/host/path", "character-device"),
  "block-device": () => files.putSpecial("/host/path", "block-device"),
};

const setUp = async (source: VolumeSource, podUid = "uid-1") => {
  const directories = volumeDirectories("/kubelet", podUid);
  const request = { pod: {}, volumeName: "data", source, directories, signal: new AbortController().signal };
  return await plugin.setUp(request).then(
    ({ volume }) => volume,
    (error: unknown) => String(error),
  );
};
const setUpPath = async (path: string, type?: string) => {
  const hostPath = { path, ...(type === undefined ? {} : { type }) };
  return await setUp({ kind: "pod", volume: { name: "data", hostPath } });
};
const ready = (hostPath: string) => ({ kind: "files", hostPath, readOnly: false, relabel: false });

beforeEach(() => {
  ({ files } = createFakeHost());
  plugin = createHostPathPlugin({ files });
});

const FITTING: Record<string, string[]> = {
  "": Object.keys(THERE),
  Directory: ["directory"],
  DirectoryOrCreate: ["nothing", "directory"],
  File: ["file"],
  FileOrCreate: ["nothing", "file"],
  Socket: ["socket"],
  CharDevice: ["character-device"],
  BlockDevice: ["block-device"],
};
const CASES = Object.entries(FITTING).flatMap(([type, fitting]) =>
  Object.keys(THERE).map((there) => ({ type, there, fits: fitting.includes(there) })),
);

it.each(CASES)("of type '$type' where there is $there: $fits", async ({ type, there, fits }) => {
  THERE[there]?.();
  const volume = await setUpPath("/host/path", type);
  if (fits) expect(volume).toEqual(ready("/host/path"));
  else if (there === "nothing") expect(volume).toBe("VolumeSetUpError: hostPath /host/path doesn't exist");
  else expect(volume).toMatch(/^VolumeSetUpError: hostPath type check failed: \/host\/path is not a /);
});

it.each([
  ["Directory", "file", "directory, it's a File"],
  ["File", "directory", "file, it's a Directory"],
  ["Socket", "block-device", "socket file, it's a BlockDevice"],
  ["CharDevice", "socket", "character device, it's a Socket"],
  ["BlockDevice", "character-device", "block device, it's a CharDevice"],
])("%s says what there is instead: %s", async (type, there, words) => {
  THERE[there]?.();
  expect(await setUpPath("/host/path", type)).toBe(
    `VolumeSetUpError: hostPath type check failed: /host/path is not a ${words}`,
  );
});

it("says so where it does not know what there is", async () => {
  files.putSpecial("/host/path", "other");
  expect(await setUpPath("/host/path", "File")).toBe(
    "VolumeSetUpError: hostPath type check failed, /host/path is not a file, unable to determine its type: " +
      "only recognise file, directory, socket, block device and character device",
  );
});

it.each([
  ["DirectoryOrCreate", { type: "directory", mode: 0o755 }],
  ["FileOrCreate", { type: "file", mode: 0o644 }],
])("%s makes what is missing", async (type, made) => {
  THERE["nothing"]?.();
  expect(await setUpPath("/host/path", type)).toEqual(ready("/host/path"));
  expect(await files.stat("/host/path")).toMatchObject(made);
});

it("DirectoryOrCreate makes the directories above, FileOrCreate does not", async () => {
  expect(await setUpPath("/new/deep/path", "DirectoryOrCreate")).toEqual(ready("/new/deep/path"));
  expect(await setUpPath("/gone/path", "FileOrCreate")).toMatch(/ENOENT/);
});

it("leaves what exists as it is", async () => {
  files.put("/host/path", "kept", 0o600);
  await setUpPath("/host/path", "FileOrCreate");
  expect(await files.stat("/host/path")).toMatchObject({ mode: 0o600, sizeBytes: 4 });
});

describe("a link", () => {
  it("is what it leads to", async () => {
    files.put("/host/path/child", "");
    await files.link("/host/path", "/link");
    expect(await setUpPath("/link", "Directory")).toEqual(ready("/link"));
    expect(await setUpPath("/link", "File")).toMatch(/is not a file, it's a Directory/);
  });

  it("that leads to nothing makes nothing", async () => {
    await files.link("/etc/cron.d/job", "/link");
    expect(await setUpPath("/link", "FileOrCreate")).toMatch(/ELOOP/);
    expect(await files.stat("/etc/cron.d/job")).toBeUndefined();
  });
});

it.each([
  ["/host/../etc", undefined, "VolumeSetUpError: invalid HostPath `/host/../etc`: must not contain '..'"],
  ["/host", "Fifo", "VolumeSetUpError: Fifo is an invalid volume type"],
])("%s of type %s is refused", async (path, type, message) => {
  expect(await setUpPath(path, type)).toBe(message);
});

it("a path counts from the root", async () => {
  files.put("/host/path", "");
  expect(await setUpPath("host/path", "File")).toEqual(ready("/host/path"));
});

describe("a persistent volume", () => {
  const persistent = (spec: PersistentVolumeSpec = {}, readOnly = false): VolumeSource => ({
    kind: "persistent",
    persistentVolume: { metadata: { name: "pv-1" }, spec: { hostPath: { path: "/host" }, ...spec } },
    claim: {},
    readOnly,
  });

  it("is read-only where the pod's claim is", async () => {
    expect(await setUp(persistent({}, true))).toEqual({ ...ready("/host"), readOnly: true });
  });

  it("is no block device", async () => {
    expect(await setUp(persistent({ volumeMode: "Block" }))).toBe(
      'VolumeOperationError: MapVolume.FindMapperPluginBySpec failed for volume "pv-1" : ' +
        "kubernetes.io/host-path has no block devices",
    );
  });

  it("for one pod waits until that is gone", async () => {
    const source = persistent({ accessModes: ["ReadWriteOncePod"] });
    expect(await setUp(source, "a")).toEqual(ready("/host"));
    expect(await setUp(source, "a")).toEqual(ready("/host"));
    expect(await setUp(source, "b")).toMatch(/ReadWriteOncePod access mode and is already in use by another pod$/);
    plugin.forget?.("a");
    expect(await setUp(source, "b")).toEqual(ready("/host"));
  });
});
