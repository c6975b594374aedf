import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";

const DOCS = join(import.meta.dirname, "../../docs");

it("every test that docs/peers.md names exists", async () => {
  const table = await readFile(join(DOCS, "peers.md"), "utf8");
  const named = [...table.matchAll(/\[([^\]]+)\]\((\.\.\/[^)]+\.test\.ts)\)/g)];
  expect(named.length).toBeGreaterThan(20);
  const gone = await Promise.all(
    named.map(async ([, title = "", path = ""]) => {
      const text = await readFile(join(DOCS, path), "utf8");
      const words = title.replace(/^that /, "");
      return text.includes(words) ? [] : [`${path}: ${title}`];
    }),
  );
  expect(gone.flat()).toEqual([]);
});
