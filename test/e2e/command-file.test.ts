import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const COMMAND = "bin/nodelet.js";
const PROGRAM = "dist/nodelet.js";

/** The lines that the shell reads, by which a file is started with the flags and the environment of the program. */
const readStart = (path: string): string[] => readFileSync(path, "utf8").split("\n").slice(0, 2);

it("starts Node.js as the program does", () => {
  expect(readStart(COMMAND)).toEqual(readStart(PROGRAM));
});

describe("npx in a checkout", () => {
  let checkout: string;
  let cache: string;
  beforeEach(() => {
    checkout = mkdtempSync(join(tmpdir(), "nodelet-checkout-"));
    cache = mkdtempSync(join(tmpdir(), "nodelet-npm-"));
    copyFileSync("package.json", join(checkout, "package.json"));
    mkdirSync(join(checkout, "bin"));
    copyFileSync(COMMAND, join(checkout, COMMAND));
    chmodSync(join(checkout, COMMAND), 0o755);
  });
  afterEach(() => {
    for (const path of [checkout, cache]) rmSync(path, { recursive: true, force: true });
  });

  const npx = (...words: string[]) => {
    const env = { ...process.env, npm_config_cache: cache, npm_config_offline: "true", npm_config_loglevel: "silent" };
    const { status, stdout, stderr } = spawnSync("npx", words, { cwd: checkout, env, encoding: "utf8" });
    return { status, stdout, stderr };
  };

  it("says what to do before the first build, and runs the program after it, by each of its names", () => {
    expect(npx("nodelet", "--help")).toEqual({
      status: 1,
      stdout: "",
      stderr: expect.stringMatching(/^nodelet: .*npm start.*npm run build.*\n$/),
    });
    mkdirSync(join(checkout, "dist"));
    const program = 'import { basename } from "node:path"; console.log(basename(process.argv[1]), process.argv[2]);';
    writeFileSync(join(checkout, PROGRAM), program);
    for (const name of ["nodelet", "kubectl-nodelet"])
      expect(npx(name, "--help")).toEqual({ status: 0, stdout: `${name} --help\n`, stderr: "" });
  });
});
