import { expect, it } from "vitest";
import type { FileKeySelector } from "../../../api/gen/types.ts";
import { createFakeHost } from "../../../host/fake/create-fake-host.ts";
import type { ReadyVolume } from "../../storage/volumes/volume-plugin.ts";
import { parseEnvFile } from "./env-file.ts";
import { readEnvFiles } from "./env-files.ts";

const VOLUMES = new Map<string, ReadyVolume>([
  ["data", { kind: "files", hostPath: "/pods/data", readOnly: false, relabel: false }],
  ["disk", { kind: "device", hostPath: "/dev/x", readOnly: false }],
]);

async function createRig() {
  const { files } = createFakeHost();
  await files.makeDirectory("/pods/data/directory", 0o755);
  files.put("/pods/data/app.env", "A='x'");
  files.put("/pods/data/deep/app.env", "A='y'");
  files.put("/pods/data/large.env", "#".repeat(1024 * 1024 + 1));
  files.put("/etc/secret", "A='z'");
  await files.link("deep/app.env", "/pods/data/inner");
  await files.link("/etc/secret", "/pods/data/outer");
  const read = async (reference: Partial<FileKeySelector>) => {
    const fileKeyRef = { volumeName: "data", path: "app.env", key: "A", ...reference };
    const env = [{ name: "A", valueFrom: { fileKeyRef } }];
    return await readEnvFiles(files, { container: { name: "main", env }, volumes: VOLUMES });
  };
  return { files, read };
}

it.each([
  ["app.env", "A='x'"],
  ["deep/app.env", "A='y'"],
  ["inner", "A='y'"],
])("reads %s", async (path, content) => {
  const { read } = await createRig();
  expect(await read({ path })).toEqual(new Map([[`data/${path}`, { state: "found", object: parseEnvFile(content) }]]));
});

it("reads each file once, and none that a value hides", async () => {
  const { files } = await createRig();
  const opened: string[] = [];
  const spied = {
    openBeneath: async (root: string, path: string) => {
      opened.push(path);
      return await files.openBeneath(root, path);
    },
  };
  const fileKeyRef = { volumeName: "data", path: "app.env", key: "A" };
  const env = [
    { name: "A", valueFrom: { fileKeyRef } },
    { name: "B", valueFrom: { fileKeyRef: { ...fileKeyRef, key: "B" } } },
    { name: "C", value: "wins", valueFrom: { fileKeyRef: { ...fileKeyRef, path: "inner" } } },
  ];
  await readEnvFiles(spied, { container: { name: "main", env }, volumes: VOLUMES });
  expect(opened).toEqual(["app.env"]);
});

it.each<[Partial<FileKeySelector>, "missing" | "failed", string]>([
  [{ path: "gone" }, "missing", `couldn't read env file "gone" of volume "data": it does not exist`],
  [{ path: "outer" }, "failed", `couldn't read env file "outer" of volume "data": a link leads out of the volume`],
  [{ path: "directory" }, "failed", `couldn't read env file "directory" of volume "data": it is a directory`],
  [
    { path: "large.env" },
    "failed",
    `couldn't read env file "large.env" of volume "data": it is longer than 1048576 bytes`,
  ],
  [{ volumeName: "other" }, "failed", 'cannot find the volume "other" referenced by FileKeyRef'],
  [{ volumeName: "disk" }, "failed", 'cannot find the volume "disk" referenced by FileKeyRef'],
])("%j is %s", async (reference, state, error) => {
  const { read } = await createRig();
  expect([...(await read(reference)).values()]).toEqual([{ state, error }]);
});

it("names no path of the host where the disk fails", async () => {
  const failing = {
    openBeneath: async () =>
      await Promise.reject(Object.assign(new Error("EIO: i/o error, open '/pods'"), { code: "EIO" })),
  };
  const env = [{ name: "A", valueFrom: { fileKeyRef: { volumeName: "data", path: "app.env", key: "A" } } }];
  const read = await readEnvFiles(failing, { container: { name: "main", env }, volumes: VOLUMES });
  expect([...read.values()]).toEqual([
    { state: "failed", error: `couldn't read env file "app.env" of volume "data": EIO` },
  ]);
});
