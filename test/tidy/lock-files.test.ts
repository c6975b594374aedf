import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { isRecord } from "../../src/api/object.ts";

const ROOT = join(import.meta.dirname, "../..");

/** The packages of a lock file by their places, without the project itself. */
function readPackages(path: string): ReadonlyArray<readonly [string, Record<string, unknown>]> {
  const lock: unknown = JSON.parse(readFileSync(join(ROOT, path), "utf8"));
  const packages = isRecord(lock) && isRecord(lock["packages"]) ? lock["packages"] : {};
  return Object.entries(packages).flatMap(([place, entry]) =>
    place !== "" && isRecord(entry) ? [[place, entry]] : [],
  );
}

/** Binaries for other machines than those that nodelet runs on. `npm ci` skips them there. */
const isForOthers = ({ optional, os, cpu, libc }: Record<string, unknown>) =>
  optional === true && (String(os) !== "linux" || String(cpu) === "arm" || String(libc) === "musl");

it.each(["package-lock.json", "test/mutation/package-lock.json"])("%s says what each package consists of", (path) => {
  const packages = readPackages(path);
  expect(packages.length).toBeGreaterThan(100);
  const unproven = packages.filter(([, entry]) => !isForOthers(entry) && !/^sha512-/.test(String(entry["integrity"])));
  expect(unproven.map(([place]) => place)).toEqual([]);
});

it.each(["package-lock.json", "test/mutation/package-lock.json"])("%s names no server: npm asks its own", (path) => {
  expect(readPackages(path).filter(([, entry]) => entry["resolved"] !== undefined)).toEqual([]);
});
