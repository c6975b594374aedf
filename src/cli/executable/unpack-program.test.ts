import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type CarriedFiles, unpackProgram } from "./unpack-program.ts";

const CONTENTS: Readonly<Record<string, string>> = {
  "package.json": "{}",
  "dist/nodelet.js": "run",
  "node_modules/a/b/native.node": "\x7fELF",
};
const FILES = carry("version-1");
const NOW = Date.UTC(2030, 0, 1);

// The system's temporary directory is one that others may write to.
let place: string;
let base: string;
beforeEach(() => {
  mkdirSync(join(homedir(), ".cache"), { recursive: true });
  place = mkdtempSync(join(homedir(), ".cache", "nodelet-unpack-"));
  base = join(place, "programs");
});
afterEach(() => rmSync(place, { recursive: true, force: true }));

describe("what a single executable carries", () => {
  it("is there, and only this user and root may change it", () => {
    expect(unpackProgram(base, FILES, NOW)).toBe(join(base, "version-1"));
    for (const [path, text] of Object.entries(CONTENTS)) {
      expect(readFileSync(join(base, "version-1", path), "utf8")).toBe(text);
      expect(statSync(join(base, "version-1", path)).mode & 0o777).toBe(0o644);
    }
    expect(statSync(join(base, "version-1/node_modules/a")).mode & 0o777).toBe(0o755);
    expect(readdirSync(base)).toEqual(["version-1"]);
  });

  it("stays as it is while it is equal", () => {
    unpackProgram(base, FILES, NOW);
    const before = inodes();
    unpackProgram(base, FILES, NOW);
    expect(inodes()).toEqual(before);
  });

  it.each([
    ["a file that differs", () => writeFileSync(inBase("dist/nodelet.js"), "RUN")],
    ["a file that is cut off", () => writeFileSync(inBase("node_modules/a/b/native.node"), "")],
    ["a file that is missing", () => rmSync(inBase("package.json"))],
    ["a link to an equal file", () => replaceByLink("dist/nodelet.js")],
    ["a link to an equal directory", () => replaceByLink("dist")],
    ["a file in a directory's place", () => replaceByFile("dist")],
    ["a file that others may write to", () => chmodSync(inBase("dist/nodelet.js"), 0o666)],
    ["a directory that others may write to", () => chmodSync(inBase("node_modules"), 0o777)],
  ])("is made anew over %s", (_, damage) => {
    unpackProgram(base, FILES, NOW);
    damage();
    unpackProgram(base, FILES, NOW);
    for (const [path, text] of Object.entries(CONTENTS)) {
      expect(readFileSync(inBase(path), "utf8")).toBe(text);
      expect(lstatSync(inBase(path)).isFile()).toBe(true);
      expect(lstatSync(inBase(path)).mode & 0o022).toBe(0);
    }
    expect(lstatSync(inBase("dist")).isDirectory()).toBe(true);
    expect(readdirSync(base)).toEqual(["version-1"]);
  });

  it("leaves the newest of other versions, and nothing of starts that were cut off", () => {
    for (const [index, name] of ["a", "b", "c", "d", ".cut-off", ".under-way"].entries()) {
      mkdirSync(join(base, name), { recursive: true });
      const changed = name === ".under-way" ? NOW : NOW - 10_000_000 + index;
      utimesSync(join(base, name), changed / 1000, changed / 1000);
    }
    unpackProgram(base, FILES, NOW);
    expect(readdirSync(base).sort()).toEqual([".under-way", "b", "c", "d", "version-1"]);
  });
});

describe("a place that is not safe is refused", () => {
  it("where it is a link", () => {
    mkdirSync(join(place, "elsewhere"));
    symlinkSync(join(place, "elsewhere"), base);
    expect(() => unpackProgram(base, FILES, NOW)).toThrow(/programs is no safe place for a program: it is a link/);
    expect(readdirSync(join(place, "elsewhere"))).toEqual([]);
  });

  it.each([0o777, 0o1777, 0o775])("where others may write to it or above it: %o", (mode) => {
    chmodSync(place, mode);
    const words = `${place} is no safe place for a program: other users may write to it; mend that, or name another`;
    expect(() => unpackProgram(base, FILES, NOW)).toThrow(words);
    expect(existsSync(join(base, "version-1"))).toBe(false);
  });

  it("where nothing can be written", () => {
    writeFileSync(base, "");
    expect(() => unpackProgram(base, FILES, NOW)).toThrow(
      /cannot be unpacked into .*EEXIST.*NODELET_PROGRAM_DIRECTORY/,
    );
  });
});

function carry(id: string): CarriedFiles {
  return { id, paths: Object.keys(CONTENTS), read: (path) => Buffer.from(CONTENTS[path] ?? "", "latin1") };
}

function inBase(path: string): string {
  return join(base, FILES.id, path);
}

function inodes(): number[] {
  return Object.keys(CONTENTS).map((path) => statSync(inBase(path)).ino);
}

function replaceByLink(path: string): void {
  const kept = join(place, "kept");
  unpackProgram(kept, FILES, NOW);
  rmSync(inBase(path), { recursive: true });
  symlinkSync(join(kept, FILES.id, path), inBase(path));
}

function replaceByFile(path: string): void {
  rmSync(inBase(path), { recursive: true });
  writeFileSync(inBase(path), "");
}
