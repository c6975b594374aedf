import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { createTree } from "./create-tree.ts";

it("makes a tree that is too large to be made at once by threads, although it is in memory", async () => {
  const directory = await mkdtemp(join(tmpdir(), "nodelet-tree-"));
  onTestFinished(async () => await rm(directory, { recursive: true, force: true }));
  const data = Buffer.alloc(512 * 1024, "x");
  const files = new Map([["large", { data, mode: 0o600 }]]);
  await createTree(join(directory, "tree"), { files, directoryMode: 0o755, isInMemory: true });
  expect((await readFile(join(directory, "tree/large"))).equals(data)).toBe(true);
});
