import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { codeOf } from "../../../base/errors.ts";
import type { ProgramRun } from "../../programs-port.ts";
import { linuxPrograms } from "./linux-programs.ts";
import { systemClock } from "./system-clock.ts";
import { talkToProgram } from "./talk-to-program.ts";

const NEVER = new AbortController().signal;

let directory = "";
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "nodelet-run-program-"));
});
afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

const shell = async (script: string, changes: Partial<ProgramRun> = {}) =>
  await linuxPrograms.run({ path: "sh", args: ["-c", script], environment: {}, timeoutMs: 20_000, ...changes }, NEVER);

const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) !== "ESRCH";
  }
};

it("a program does not speak for the service that this process is", async () => {
  vi.stubEnv("NOTIFY_SOCKET", "/run/notify");
  vi.stubEnv("GREETING", "hello");
  const outcome = await shell('echo "$NOTIFY_SOCKET$GREETING"').finally(() => vi.unstubAllEnvs());
  expect(outcome).toMatchObject({ kind: "printed", stdout: Buffer.from("hello\n") });
});

describe("a program that does not end in time", () => {
  it("is killed although it ignores SIGTERM, and so is what it has started", async () => {
    const script = `trap '' TERM; (trap '' TERM; echo $$ > ${directory}/pid; while :; do sleep 0.1; done) & wait`;
    expect(await shell(script, { timeoutMs: 500 })).toMatchObject({ kind: "failed", cause: "timed-out" });
    const pid = Number(await readFile(join(directory, "pid"), "utf8"));
    await expect.poll(() => isAlive(pid)).toBe(false);
  });

  it("is not waited for when others hold its output", async () => {
    const started = performance.now();
    const outcome = await shell("setsid sleep 20 & sleep 20", { timeoutMs: 50 });
    expect(outcome).toMatchObject({ kind: "failed", cause: "timed-out", problem: "did not end within 50 ms" });
    expect(performance.now() - started).toBeLessThan(15_000);
  });
});

describe("a program that ends", () => {
  it("is not waited for when others hold its output", async () => {
    const started = performance.now();
    const outcome = await shell("echo words; setsid sleep 20 &");
    expect(outcome).toMatchObject({ kind: "printed", stdout: Buffer.from("words\n") });
    expect(performance.now() - started).toBeLessThan(15_000);
  });

  it("by a signal says which", async () => {
    expect(await shell("kill -KILL $$")).toMatchObject({ cause: "signal", problem: "was killed by SIGKILL" });
  });

  it("before it has read its input has not failed", async () => {
    const stdin = "x".repeat(10_000_000);
    expect(await shell("exec <&-; echo done", { stdin })).toMatchObject({ kind: "printed" });
  });
});

describe("a program that cannot be started", () => {
  it("is a failure", async () => {
    expect(await shell("", { path: directory })).toMatchObject({ kind: "failed", cause: "not-started" });
    const tooLong = await shell("", { args: ["x".repeat(5_000_000)] });
    expect(tooLong).toMatchObject({ cause: "not-started", problem: expect.stringContaining("E2BIG") });
  });
});

describe("a conversation", () => {
  const talk = (script: string) => {
    const lines: string[] = [];
    const listeners = { onOutput: (line: string) => lines.push(line) };
    return { lines, ...talkToProgram({ path: "sh", args: ["-c", script] }, listeners, systemClock) };
  };

  it("goes on by lines until the program's input ends", async () => {
    const { lines, say, endInput, ended } = talk("echo ready >&2; cat; echo end");
    say("one\ntwo\n");
    await expect.poll(() => lines).toEqual(["one", "two"]);
    endInput();
    expect(await ended).toEqual({ end: { kind: "ended" }, stderr: "ready" });
    expect(lines).toEqual(["one", "two", "end"]);
  });

  it("cuts a line that never ends", async () => {
    const { lines, ended } = talk("head -c 1000000 /dev/zero | tr '\\0' x; echo; echo short");
    await ended;
    expect(lines.map(({ length }) => length)).toEqual([65_536, 5]);
  });

  it("ends when the program is killed, and at once for a program that is missing", async () => {
    const { kill, ended } = talk("sleep 100");
    kill();
    expect(await ended).toMatchObject({ end: { kind: "failed", cause: "signal" } });
    const missing = talkToProgram({ path: "no-such-program", args: [] }, { onOutput: () => undefined }, systemClock);
    missing.say("words");
    expect(await missing.ended).toEqual({ end: { kind: "missing" }, stderr: "" });
  });
});
