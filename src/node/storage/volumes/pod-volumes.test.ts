import { describe, expect, it } from "vitest";
import type { PodSpec, Volume } from "../../../api/gen/types.ts";
import { createFakeHost } from "../../../host/fake/create-fake-host.ts";
import { createVolumeRig, podWith, setUpPaths } from "./__fixtures__/volume-rig.ts";

const POD = "/var/lib/kubelet/pods/uid-1";
const EMPTY_DIRS = `${POD}/volumes/kubernetes.io~empty-dir`;

type Access = { operation: string; path: string; phase: string };

function createRig() {
  const host = createFakeHost();
  const { files, mounts } = host;
  const calls: string[] = [];
  const note = ({ operation, path, phase }: Access) => {
    if (phase === "before" && operation !== "stat") calls.push(`${operation} ${path}`);
  };
  files.intercept(note);
  mounts.intercept(note);
  const volumes = createVolumeRig({ host }, "/var/lib/kubelet");
  const setUp = async (list: Volume[], spec: Partial<PodSpec> = {}) => {
    return await setUpPaths(volumes, podWith(list, spec));
  };
  return { files, mounts, volumes, calls, setUp };
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

  it("is there for variables of its files, although nothing mounts it", async () => {
    const { setUp } = createRig();
    const fileKeyRef = { volumeName: "cache", path: "app.env", key: "A" };
    const containers = [{ name: "main", volumeMounts: [], env: [{ name: "A", valueFrom: { fileKeyRef } }] }];
    const unused = { name: "unused", emptyDir: {} };
    const paths = await setUp([{ name: "cache", emptyDir: {} }, unused], { containers });
    expect([...paths]).toEqual([["cache", `${EMPTY_DIRS}/cache`]]);
  });

  it("in memory is mounted, and unmounted before it is removed", async () => {
    const { files, volumes, calls, setUp } = createRig();
    await setUp([{ name: "shm", emptyDir: { medium: "Memory" } }]);
    expect(calls).toContain(`mountMemory ${EMPTY_DIRS}/shm`);
    calls.length = 0;
    await volumes.tearDown("uid-1");
    expect(calls.filter((call) => /^(unmount|remove)/.test(call))).toEqual([
      `unmount ${EMPTY_DIRS}/shm`,
      `remove ${EMPTY_DIRS}/shm`,
      `remove ${POD}/plugins/kubernetes.io~empty-dir`,
      `remove ${EMPTY_DIRS}`,
      `remove ${POD}/volumes`,
    ]);
    expect(await files.stat("/var/lib/kubelet/pods/uid-1/volumes")).toBeUndefined();
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
    `MountVolume.SetUp failed for volume "first" : hostPath /none doesn't exist; ` +
      'MountVolume.SetUp failed for volume "third" : volumes of this kind are not supported by this version of nodelet',
  );
  expect(await files.stat(`${EMPTY_DIRS}/second`)).toMatchObject({ type: "directory" });
});

it("a tear-down unmounts all that it can, and removes nothing of what is still mounted", async () => {
  const { files, mounts, volumes, setUp } = createRig();
  const memory = { emptyDir: { medium: "Memory" } };
  await setUp([
    { name: "a", ...memory },
    { name: "b", ...memory },
  ]);
  files.put(`${EMPTY_DIRS}/a/file`, "kept");
  const repair = mounts.intercept(({ operation, path }) => {
    if (operation === "unmount" && path.endsWith("/a")) throw new Error("target is busy");
  });
  await expect(volumes.tearDown("uid-1")).rejects.toThrow("target is busy");
  expect(files.text(`${EMPTY_DIRS}/a/file`)).toBe("kept");
  expect(mounts.mounted().map(({ path }) => path)).toContain(`${EMPTY_DIRS}/a`);
  expect(await files.stat(`${EMPTY_DIRS}/b`)).toBeUndefined();
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

it("another kind of volume is refused", async () => {
  await expect(createRig().setUp([{ name: "x", nfs: { server: "s", path: "/" } }])).rejects.toThrow('volume "x"');
});
