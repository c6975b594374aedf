import { describe, expect, it } from "vitest";
import type { Pod, Volume } from "../../api/gen/types.ts";
import { createFakeHost } from "../../host/fake/create-fake-host.ts";
import { createPodVolumes } from "./pod-volumes.ts";

const POD = "/var/lib/kubelet/pods/uid-1";
const EMPTY_DIRS = `${POD}/volumes/kubernetes.io~empty-dir`;

function createRig() {
  const { files } = createFakeHost();
  const calls: string[] = [];
  files.intercept(({ operation, path, phase }) => {
    if (phase === "before" && operation !== "stat") calls.push(`${operation} ${path}`);
  });
  const volumes = createPodVolumes({ files }, { rootDirectory: "/var/lib/kubelet" });
  const setUp = async (list: Volume[], spec: Partial<NonNullable<Pod["spec"]>> = {}) => {
    const pod = { metadata: { uid: "uid-1" }, spec: { containers: [], volumes: list, ...spec } };
    const { paths, finished } = await volumes.setUp(pod);
    await finished;
    return paths;
  };
  return { files, volumes, calls, setUp };
}

describe("an emptyDir", () => {
  it("is a directory of the pod that everybody may write to, and outlives a second set-up", async () => {
    const { files, setUp } = createRig();
    const paths = await setUp([{ name: "cache", emptyDir: {} }]);
    expect([...paths]).toEqual([["cache", `${EMPTY_DIRS}/cache`]]);
    expect(await files.stat(`${EMPTY_DIRS}/cache`)).toMatchObject({ type: "directory", mode: 0o777 });
    files.put(`${EMPTY_DIRS}/cache/file`, "kept");
    await setUp([{ name: "cache", emptyDir: {} }]);
    expect(files.text(`${EMPTY_DIRS}/cache/file`)).toBe("kept");
  });

  it("in memory is mounted, and unmounted before it is removed", async () => {
    const { files, volumes, calls, setUp } = createRig();
    await setUp([{ name: "shm", emptyDir: { medium: "Memory" } }]);
    expect(calls).toContain(`mountMemory ${EMPTY_DIRS}/shm`);
    calls.length = 0;
    await volumes.tearDown("uid-1");
    expect(calls.filter((call) => !call.startsWith("list"))).toEqual([
      `unmount ${EMPTY_DIRS}/shm`,
      `remove ${POD}/plugins/kubernetes.io~empty-dir`,
      `remove ${POD}/volumes`,
    ]);
    expect(await files.stat("/var/lib/kubelet/pods/uid-1/volumes")).toBeUndefined();
  });

  it("on huge pages is refused", async () => {
    await expect(createRig().setUp([{ name: "big", emptyDir: { medium: "HugePages" } }])).rejects.toThrow(
      'MountVolume.SetUp failed for volume "big" : emptyDir.medium "HugePages" is not supported yet',
    );
  });

  it("is given to the pod's group once", async () => {
    const { calls, setUp } = createRig();
    const volumes = [{ name: "cache", emptyDir: {} }];
    for (let round = 0; round < 2; round++) await setUp(volumes, { securityContext: { fsGroup: 1000 } });
    expect(calls.filter((call) => call.startsWith("setGroup"))).toEqual([`setGroup ${EMPTY_DIRS}/cache`]);
  });

  it("in memory keeps its sticky bit when it is given to the pod's group", async () => {
    const { files, setUp } = createRig();
    const volumes = [{ name: "shm", emptyDir: { medium: "Memory" } }];
    await setUp(volumes, { securityContext: { fsGroup: 1000 } });
    expect(await files.stat(`${EMPTY_DIRS}/shm`)).toMatchObject({ mode: 0o3777, group: 1000 });
  });

  it("is noted as ready where another kubelet looks for it, once", async () => {
    const { files, calls, setUp } = createRig();
    for (let round = 0; round < 2; round++) await setUp([{ name: "cache", emptyDir: {} }]);
    const note = `${POD}/plugins/kubernetes.io~empty-dir/cache`;
    expect(await files.stat(note)).toMatchObject({ type: "directory", mode: 0o750 });
    expect(calls.filter((call) => call.startsWith("touch"))).toEqual([`touch ${note}/ready`]);
  });
});

it("names every volume that failed, in the pod's order, and only when all have ended", async () => {
  const { files, setUp } = createRig();
  const volumes = [
    { name: "first", hostPath: { path: "/none", type: "File" } },
    { name: "second", emptyDir: {} },
    { name: "third", nfs: { server: "s", path: "/" } },
  ];
  await expect(setUp(volumes)).rejects.toThrow(
    'MountVolume.SetUp failed for volume "first" : hostPath type check failed: /none does not exist; ' +
      'MountVolume.SetUp failed for volume "third" : volumes of this kind are not supported by this version of nodelet',
  );
  expect(await files.stat(`${EMPTY_DIRS}/second`)).toMatchObject({ type: "directory" });
});

it("a tear-down unmounts all that it can, and removes nothing of what is still mounted", async () => {
  const { files, volumes, setUp } = createRig();
  const memory = { emptyDir: { medium: "Memory" } };
  await setUp([
    { name: "a", ...memory },
    { name: "b", ...memory },
  ]);
  files.put(`${EMPTY_DIRS}/a/file`, "kept");
  const repair = files.intercept(({ operation, path }) => {
    if (operation === "unmount" && path.endsWith("/a")) throw new Error("target is busy");
  });
  await expect(volumes.tearDown("uid-1")).rejects.toThrow("target is busy");
  expect(files.text(`${EMPTY_DIRS}/a/file`)).toBe("kept");
  expect(await files.stat(`${EMPTY_DIRS}/b`)).toMatchObject({ type: "directory" });
  repair();
  await volumes.tearDown("uid-1");
  expect(await files.stat(`${POD}/volumes`)).toBeUndefined();
});

it("a tear-down neither unmounts nor removes what a link in a volume's place leads to", async () => {
  const { files, volumes, calls } = createRig();
  files.put("/host/precious", "kept");
  files.mount("/host");
  await files.makeDirectory(EMPTY_DIRS, 0o755);
  await files.link("/host", `${EMPTY_DIRS}/planted`);
  await files.link("/host", `${POD}/volumes/kubernetes.io~secret`);
  await volumes.tearDown("uid-1");
  expect(files.text("/host/precious")).toBe("kept");
  expect(calls.filter((call) => call.startsWith("unmount"))).toEqual([]);
  expect(await files.stat(`${POD}/volumes`)).toBeUndefined();
});

it("a second tear-down finds nothing to do", async () => {
  const { volumes } = createRig();
  await volumes.tearDown("uid-1");
  await volumes.tearDown("uid-1");
});

describe("a hostPath", () => {
  const make: Record<string, (files: ReturnType<typeof createRig>["files"]) => void> = {
    nothing: () => {},
    directory: (files) => files.put("/host/path/child", ""),
    file: (files) => files.put("/host/path", ""),
    socket: (files) => files.putSpecial("/host/path", "socket"),
    "character-device": (files) => files.putSpecial("/host/path", "character-device"),
    "block-device": (files) => files.putSpecial("/host/path", "block-device"),
  };
  const accepted: Record<string, string[]> = {
    "": Object.keys(make),
    Directory: ["directory"],
    DirectoryOrCreate: ["nothing", "directory"],
    File: ["file"],
    FileOrCreate: ["nothing", "file"],
    Socket: ["socket"],
    CharDevice: ["character-device"],
    BlockDevice: ["block-device"],
  };
  const cases = Object.keys(accepted).flatMap((type) =>
    Object.keys(make).map((there) => ({ type, there, fits: accepted[type]?.includes(there) === true })),
  );
  it.each(cases)("of type '$type' where there is $there: $fits", async ({ type, there, fits }) => {
    const { files, setUp } = createRig();
    files.put("/host/other", "");
    make[there]?.(files);
    const volumes = setUp([{ name: "data", hostPath: { path: "/host/path", type } }]);
    if (!fits) return await expect(volumes).rejects.toThrow('volume "data" : hostPath type check failed: /host/path');
    expect((await volumes).get("data")).toBe("/host/path");
  });

  it.each([
    ["DirectoryOrCreate", "directory"],
    ["FileOrCreate", "file"],
  ])("%s makes what is missing, and a tear-down leaves it alone", async (type, made) => {
    const { files, volumes, setUp } = createRig();
    files.put("/host/other", "");
    await setUp([{ name: "data", hostPath: { path: "/host/path", type } }]);
    await volumes.tearDown("uid-1");
    expect(await files.stat("/host/path")).toMatchObject({ type: made });
  });

  it("of an unknown type is refused", async () => {
    const volume = { name: "data", hostPath: { path: "/x", type: "Fifo" } };
    await expect(createRig().setUp([volume])).rejects.toThrow('unknown hostPath type "Fifo"');
  });
});

it("another kind of volume is refused", async () => {
  await expect(createRig().setUp([{ name: "x", nfs: { server: "s", path: "/" } }])).rejects.toThrow('volume "x"');
});
