import { spawn } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { silentLog } from "../../base/log.ts";
import { startDaemon } from "./daemon.ts";
import { ensureFile } from "./ensure-file.ts";
import { formatProcessIdentity, readLiveProcess, readProcessIdentity, terminateProcess } from "./process-identity.ts";
import { claimProcessLock, readLockHolder } from "./process-lock.ts";
import { runCommand } from "./run-command.ts";

let directory = "";
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "nodelet-processes-"));
});
afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

async function identityOfSelf() {
  const identity = await readProcessIdentity(process.pid);
  if (identity === undefined) throw new Error("this process lives");
  return identity;
}

function daemonOptions(script: string) {
  const common = { environment: process.env, log: silentLog, gracePeriodMs: 5_000 };
  return {
    ...common,
    command: "/bin/sh",
    args: ["-c", script],
    logFile: join(directory, "log"),
    pidFile: join(directory, "pid"),
  };
}

describe("a process lock", () => {
  it("is held by one and free again after its release", async () => {
    const path = join(directory, "lock");
    const lock = await claimProcessLock(path);
    expect(lock.state).toBe("held");
    expect(await readLockHolder(path)).toBe(process.pid);
    expect(await claimProcessLock(path)).toEqual({ state: "taken", pid: process.pid });
    if (lock.state === "held") await lock.release();
    expect(await readLockHolder(path)).toBeUndefined();
    expect(await readdir(directory)).toEqual([]);
  });

  it.each([
    ["of a process that started at another time", async () => ({ ...(await identityOfSelf()), startTime: 1 })],
    ["of another boot", async () => ({ ...(await identityOfSelf()), bootId: "another" })],
  ])("%s is taken over", async (_, holder) => {
    const path = join(directory, "lock");
    await writeFile(path, formatProcessIdentity(await holder()));
    expect((await claimProcessLock(path)).state).toBe("held");
  });

  it("is held by the first process, too, which nodelet is in a container of its own", async () => {
    const path = join(directory, "lock");
    const first = await readProcessIdentity(1);
    await writeFile(path, first === undefined ? "" : formatProcessIdentity(first));
    expect(await claimProcessLock(path)).toEqual({ state: "taken", pid: 1 });
  });

  it("with nonsense in it is taken over", async () => {
    const path = join(directory, "lock");
    await writeFile(path, "-1 x\0");
    expect((await claimProcessLock(path)).state).toBe("held");
  });
});

describe("a daemon", () => {
  it("writes to its log, is found by its PID file and ends when it is stopped", async () => {
    const options = daemonOptions("echo hello; exec sleep 100");
    const daemon = await startDaemon(options);
    expect((await readLiveProcess(options.pidFile))?.pid).toBe(daemon.pid);
    await expect.poll(async () => await readFile(options.logFile, "utf8")).toBe("hello\n");
    await daemon.stop();
    expect(await daemon.exited).toEqual({ code: null, signal: "SIGTERM" });
    expect(await readLiveProcess(options.pidFile)).toBeUndefined();
  });

  it("replaces the one that was left running", async () => {
    const first = await startDaemon(daemonOptions("exec sleep 100"));
    const second = await startDaemon(daemonOptions("exec sleep 100"));
    expect(await first.exited).toEqual({ code: null, signal: "SIGTERM" });
    await second.stop();
  });

  it("that ends by itself says how, and stopping it is fine", async () => {
    const daemon = await startDaemon(daemonOptions("exit 3"));
    expect(await daemon.exited).toEqual({ code: 3, signal: null });
    await daemon.stop();
  });

  it("tells its own lines, and none of those before it", async () => {
    const log = join(directory, "log");
    await (await startDaemon(daemonOptions("echo first"))).exited;
    const second = await startDaemon(daemonOptions("echo second"));
    await second.exited;
    expect(await readFile(log, "utf8")).toBe("first\nsecond\n");
    expect(await second.readOwnLog()).toBe("second");
    await writeFile(log, "3");
    expect(await second.readOwnLog()).toBe("3");
  });

  it("that cannot be started rejects", async () => {
    await expect(startDaemon({ ...daemonOptions(""), command: join(directory, "none") })).rejects.toThrow("ENOENT");
  });
});

describe("a daemon that nobody could find again", () => {
  it("is ended", async () => {
    const started = join(directory, "started");
    const options = daemonOptions(`echo $$ > ${started}; exec sleep 100`);
    await mkdir(join(directory, "pid"));
    await expect(startDaemon({ ...options, pidFile: join(directory, "pid", "x", "pid") })).rejects.toThrow("ENOENT");
    const pid = Number(await readFile(started, "utf8").catch(() => "0"));
    expect(pid === 0 ? undefined : await readProcessIdentity(pid)).toBeUndefined();
  });
});

describe("ensureFile", () => {
  const path = () => join(directory, "file");

  it("leaves a file alone that says the same, and replaces one that does not", async () => {
    await ensureFile(path(), "a");
    const { ino, mode } = await stat(path());
    expect(mode & 0o777).toBe(0o600);
    await ensureFile(path(), "a");
    expect((await stat(path())).ino).toBe(ino);
    await ensureFile(path(), "b");
    expect(await readFile(path(), "utf8")).toBe("b");
    expect(await readdir(directory)).toEqual(["file"]);
  });

  it("leaves the file as it was when it cannot be written", async () => {
    await mkdir(path());
    await expect(ensureFile(path(), "a")).rejects.toThrow("EISDIR");
    expect(await readdir(directory)).toEqual(["file"]);
  });
});

describe("terminateProcess", () => {
  it("kills what ignores SIGTERM once its grace period is over", async () => {
    const child = spawn("/bin/sh", ["-c", "trap '' TERM; echo ready; while :; do sleep 1; done"], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    await new Promise((resolve) => child.stdout.once("data", resolve));
    const identity = await readProcessIdentity(child.pid ?? 0);
    const exited = new Promise((resolve) => child.once("exit", (_, signal) => resolve(signal)));
    expect(identity && (await terminateProcess(identity, 50))).toBe(true);
    expect(await exited).toBe("SIGKILL");
  });

  it("leaves a stranger alone that has the same PID by now", async () => {
    const identity = await identityOfSelf();
    expect(await terminateProcess({ ...identity, startTime: identity.startTime - 1 }, 0)).toBe(true);
  });
});

describe("runCommand", () => {
  it("returns the standard output", async () => {
    expect(await runCommand("echo", ["a b", "$HOME"])).toBe("a b $HOME\n");
  });

  it.each([
    ["failed", "sh", ["-c", "echo why >&2; exit 1"], /why$/],
    ["not-found", "no-such-program", [], /not installed/],
    ["timed-out", "sleep", ["10"], /longer than 50 ms/],
  ])("rejects with %s and the reason", async (code, program, args, message) => {
    // The others end by themselves, which takes its time on a busy machine.
    const timeoutMs = code === "timed-out" ? 50 : 60_000;
    await expect(runCommand(program, args, { timeoutMs })).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message),
    });
  });
});
