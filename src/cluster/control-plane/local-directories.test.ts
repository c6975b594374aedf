import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { LocalDirectories } from "../../control-plane/ports/local-directories.ts";
import { createLocalDirectories } from "./local-directories.ts";

let place: string;
let root: string;
let directories: LocalDirectories;
beforeEach(async () => {
  place = await mkdtemp(join(tmpdir(), "nodelet-local-"));
  root = join(place, "volumes");
  directories = createLocalDirectories({ root, nodeName: "n1" });
});
afterEach(async () => await rm(place, { recursive: true, force: true }));

test("a directory is open to every user of a pod, and its root to nobody else", async () => {
  expect(await directories.list()).toEqual([]);
  expect(await directories.ensure("pvc-1")).toBeUndefined();
  expect((await stat(join(root, "pvc-1"))).mode & 0o7777).toBe(0o777);
  expect((await stat(root)).mode & 0o7777).toBe(0o700);
  await writeFile(join(root, "pvc-1", "file"), "data");
  expect(await directories.ensure("pvc-1")).toBeUndefined();
  expect(await readFile(join(root, "pvc-1", "file"), "utf8")).toBe("data");
  expect(await directories.list()).toEqual(["pvc-1"]);
});

test("links that a pod planted are removed, and what they lead to stays", async () => {
  const outside = join(place, "outside");
  await mkdir(join(outside, "deeper"), { recursive: true });
  await writeFile(join(outside, "deeper", "file"), "precious");
  await directories.ensure("pvc-1");
  await mkdir(join(root, "pvc-1", "sub"));
  for (const name of ["link", "sub/link"]) await symlink(outside, join(root, "pvc-1", name));
  await symlink("../../outside", join(root, "pvc-1", "relative"));
  expect(await directories.remove("pvc-1")).toBeUndefined();
  expect(await readdir(root)).toEqual([]);
  expect(await readFile(join(outside, "deeper", "file"), "utf8")).toBe("precious");
});

test("a link in the place of a directory is neither used nor followed", async () => {
  const outside = join(place, "outside");
  await mkdir(outside, { mode: 0o700 });
  await writeFile(join(outside, "file"), "precious");
  await mkdir(root);
  await symlink(outside, join(root, "pvc-1"));
  expect(await directories.ensure("pvc-1")).toMatch(/ENOTDIR|ELOOP/);
  expect((await stat(outside)).mode & 0o777).toBe(0o700);
  expect(await directories.list()).toEqual([]);
  expect(await directories.remove("pvc-1")).toBeUndefined();
  expect(await readFile(join(outside, "file"), "utf8")).toBe("precious");
});

test("only an empty directory is removed where its owner is not known", async () => {
  await directories.ensure("pvc-1");
  await directories.ensure("pvc-2");
  await writeFile(join(root, "pvc-2", "file"), "data");
  for (const name of ["pvc-1", "pvc-2", "pvc-3"]) await directories.removeEmpty(name);
  expect(await directories.list()).toEqual(["pvc-2"]);
});

test("a root that cannot be made is told", async () => {
  await writeFile(root, "");
  expect(await directories.ensure("pvc-1")).toContain(root);
});

test("a name that is a path is a bug of the caller", () => {
  for (const name of ["..", "a/b", "", ".hidden"]) expect(() => directories.pathOf(name)).toThrow("an object's name");
});
