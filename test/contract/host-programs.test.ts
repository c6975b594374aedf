import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createFakeClock } from "../../src/host/fake/fake-clock.ts";
import { createFakePrograms, type FakeProgram } from "../../src/host/fake/fake-programs.ts";
import { linuxPrograms } from "../../src/host/linux/system/linux-programs.ts";
import type { ProgramRun, Programs } from "../../src/host/programs-port.ts";

interface Harness {
  readonly programs: Programs;
  readonly directory: string;
  /** The same program twice: as a script, and as what the fake runs. */
  install(path: string, script: string, fake: FakeProgram): Promise<void>;
  /** Lets time pass, where it does not by itself. */
  pass(ms: number): Promise<void>;
  close(): Promise<void>;
}

async function createRealHarness(): Promise<Harness> {
  const directory = await mkdtemp(join(tmpdir(), "nodelet-programs-"));
  return {
    programs: linuxPrograms,
    directory,
    async install(path, script) {
      await writeFile(path, `#!/bin/sh\n${script}\n`);
      await chmod(path, 0o755);
    },
    pass: async () => undefined,
    close: async () => rm(directory, { recursive: true, force: true }),
  };
}

async function createFakeHarness(): Promise<Harness> {
  const clock = createFakeClock();
  const programs = createFakePrograms(clock);
  return {
    programs,
    directory: "/programs",
    install: async (path, _script, fake) => programs.install(path, fake),
    pass: async (ms) => void (await clock.advance(ms)),
    close: async () => undefined,
  };
}

const NEVER = new AbortController().signal;

describe.each([
  ["fake", createFakeHarness],
  ["linux", createRealHarness],
])("programs: %s", (_name, createHarness) => {
  let harness: Harness;
  beforeEach(async () => {
    harness = await createHarness();
  });
  afterEach(async () => harness.close());

  const start = (changes: Partial<ProgramRun> = {}, signal = NEVER) => {
    const path = `${harness.directory}/program`;
    const run = {
      path,
      args: ["-v"],
      environment: { GREETING: "hello" },
      stdin: "words",
      timeoutMs: 10_000,
      ...changes,
    };
    return harness.programs.run(run, signal);
  };
  const install = async (script: string, fake: FakeProgram) =>
    await harness.install(`${harness.directory}/program`, script, fake);

  it("give what they print, of their arguments, environment and input", async () => {
    await install('echo "$1 $GREETING $(cat)"', ({ args, environment, stdin }) => {
      return { stdout: `${args[0]} ${environment["GREETING"]} ${stdin}\n` };
    });
    const outcome = await start();
    expect(outcome.kind === "printed" && outcome.stdout.toString()).toBe("-v hello words\n");
  });

  it("need not read their input, however long it is", async () => {
    await install("echo done", () => ({ stdout: "done\n" }));
    expect(await start({ stdin: "x".repeat(1_000_000) })).toMatchObject({ kind: "printed" });
  });

  it("fail with their exit code and the beginning of what they complain of", async () => {
    await install("echo oops >&2; exit 3", () => ({ exitCode: 3, stderr: "oops" }));
    const problem = { cause: "exit-code", problem: "failed with exit code 3", exitCode: 3 };
    expect(await start()).toEqual({ kind: "failed", ...problem, stdout: Buffer.alloc(0), stderr: "oops" });
  });

  it("may be missing", async () => {
    expect(await start({ path: `${harness.directory}/nothing` })).toEqual({ kind: "missing" });
  });

  it("are ended when their time is over", async () => {
    await install("exec sleep 60", () => ({ takesMs: 60_000 }));
    const outcome = start({ timeoutMs: 50 });
    await harness.pass(50);
    expect(await outcome).toMatchObject({ cause: "timed-out", problem: "did not end within 50 ms" });
  });

  it("are ended when they print too much, or go on and are cut short", async () => {
    await install("yes 0123456789abcdef | head -c 2000000", () => ({ stdout: "0".repeat(2_000_000) }));
    const problem = "printed more than 1048576 bytes";
    expect(await start()).toMatchObject({ kind: "failed", cause: "too-much-output", problem });
    const cut = await start({ output: { maxBytes: 10, atLimit: "cut" } });
    expect(cut.kind === "printed" && cut.stdout).toHaveLength(10);
  });

  it("are ended when nobody wants them any more", async () => {
    await install("exec sleep 60", () => ({ takesMs: 60_000 }));
    const controller = new AbortController();
    const outcome = start({}, controller.signal).catch((error: Error) => error.name);
    controller.abort();
    expect(await outcome).toBe("AbortError");
  });

  describe("whose output is streamed", () => {
    const stream = async (
      write: (bytes: Buffer) => Promise<void>,
      changes: Partial<ProgramRun> = {},
      signal = NEVER,
    ) => {
      const run = { path: `${harness.directory}/program`, args: [], environment: {}, stdin: "", timeoutMs: 10_000 };
      return await harness.programs.stream({ ...run, ...changes }, write, signal);
    };
    const ignore = async () => undefined;

    it("wait for who reads it, and lose nothing, however much that is", async () => {
      await install("yes 0123456789abcdef | head -c 5000000", () => ({
        stdout: "0123456789abcdef\n".repeat(300_000).slice(0, 5_000_000),
      }));
      let bytes = 0;
      let underWay = 0;
      const outcome = await stream(async (chunk) => {
        expect(++underWay).toBe(1);
        await new Promise((resolve) => setImmediate(resolve));
        bytes += chunk.length;
        underWay--;
      });
      expect([outcome, bytes]).toEqual([{ kind: "ended" }, 5_000_000]);
    });

    it("may fail, be missing, or take too long", async () => {
      await install("exit 3", () => ({ exitCode: 3 }));
      expect(await stream(ignore)).toMatchObject({ kind: "failed", problem: "failed with exit code 3" });
      expect(await stream(ignore, { path: `${harness.directory}/nothing` })).toEqual({ kind: "missing" });
      await install("exec sleep 60", () => ({ takesMs: 60_000 }));
      const outcome = stream(ignore, { timeoutMs: 50 });
      await harness.pass(50);
      expect(await outcome).toMatchObject({ kind: "failed", problem: "did not end within 50 ms" });
    });

    it("end with who reads it, and when nobody wants it any more", async () => {
      await install("echo words; exec sleep 60", () => ({ stdout: "words\n" }));
      await expect(stream(async () => await Promise.reject(new Error("the reader is gone")))).rejects.toThrow("reader");
      await install("exec sleep 60", () => ({ takesMs: 60_000 }));
      const controller = new AbortController();
      const outcome = stream(ignore, {}, controller.signal).catch((error: Error) => error.name);
      controller.abort();
      expect(await outcome).toBe("AbortError");
    });
  });
});
