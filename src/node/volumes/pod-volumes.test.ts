import { describe, expect, it } from "vitest";
import type { Pod, Volume } from "../../api/gen/types.ts";
import { createFakeHost } from "../../host/fake/create-fake-host.ts";
import { createPodVolumes } from "./pod-volumes.ts";

const EMPTY_DIRS = "/var/lib/kubelet/pods/uid-1/volumes/kubernetes.io~empty-dir";

function createRig() {
  const { files } = createFakeHost();
  const calls: string[] = [];
  files.intercept(({ operation, path, phase }) => {
    if (phase === "before" && operation !== "stat") calls.push(`${operation} ${path}`);
  });
  const volumes = createPodVolumes({ files }, { rootDirectory: "/var/lib/kubelet" });
  const setUp = async (list: Volume[], spec: Partial<NonNullable<Pod["spec"]>> = {}) =>
    await volumes.setUp({ metadata: { uid: "uid-1" }, spec: { containers: [], volumes: list, ...spec } });
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
      "remove /var/lib/kubelet/pods/uid-1/volumes",
    ]);
    expect(await files.stat("/var/lib/kubelet/pods/uid-1/volumes")).toBeUndefined();
  });

  it("on huge pages is refused", async () => {
    await expect(createRig().setUp([{ name: "big", emptyDir: { medium: "HugePages" } }])).rejects.toThrow(
      'volume "big": emptyDir.medium "HugePages" is not supported yet',
    );
  });

  it("is given to the pod's group once", async () => {
    const { calls, setUp } = createRig();
    const volumes = [{ name: "cache", emptyDir: {} }];
    for (let round = 0; round < 2; round++) await setUp(volumes, { securityContext: { fsGroup: 1000 } });
    expect(calls.filter((call) => call.startsWith("setGroup"))).toEqual([`setGroup ${EMPTY_DIRS}/cache`]);
  });
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
    if (!fits) return await expect(volumes).rejects.toThrow('volume "data": hostPath type check failed: /host/path');
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
