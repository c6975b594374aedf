import { closeSync, openSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { runProcess } from "./run-process.ts";

const shell = async (script: string, options: Partial<Parameters<typeof runProcess>[2]> = {}) =>
  await runProcess("sh", ["-c", script], { timeoutMs: 10_000, ...options });

describe("processes", () => {
  it("gives what it said and how it ended", async () => {
    expect(await shell("echo out; echo err >&2; exit 3")).toEqual({ code: 3, stdout: "out", stderr: "err" });
    expect(await shell("kill -TERM $$")).toMatchObject({ code: undefined });
  });

  it("speaks the C locale and finds the administrator's programs", async () => {
    expect((await shell('echo "$LC_ALL $PATH"')).stdout).toMatch(/^C .*:\/usr\/sbin:\/sbin/);
  });

  it("keeps a part of endless words, and reads the rest nevertheless", async () => {
    const end = await shell("head -c 1000000 /dev/zero | tr '\\0' x");
    expect([end.code, end.stdout.length]).toEqual([0, 65_536]);
  });

  it("hands descriptors on, and no others", async () => {
    const fd = openSync("/etc/hostname", "r");
    try {
      const end = await shell("cat <&3; ls /proc/self/fd | wc -w", { descriptors: [fd] });
      expect(end.stdout.startsWith(readFileSync("/etc/hostname", "utf8").trim())).toBe(true);
    } finally {
      closeSync(fd);
    }
  });

  it("rejects for a program that is not there", async () => {
    await expect(runProcess("no-such-program", [], { timeoutMs: 1_000 })).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("waits for nothing after its time, whoever holds its output", async () => {
    const started = performance.now();
    const running = shell("setsid sleep 20 & sleep 20", { timeoutMs: 50 });
    await expect(running).rejects.toMatchObject({ code: "ETIMEDOUT", message: expect.stringContaining("50 ms") });
    expect(performance.now() - started).toBeLessThan(15_000);
  });

  it("ends with its signal, before and after the start", async () => {
    const controller = new AbortController();
    const running = shell("sleep 1000", { signal: controller.signal });
    controller.abort();
    await expect(running).rejects.toMatchObject({ name: "AbortError" });
    await expect(shell("true", { signal: controller.signal })).rejects.toMatchObject({ name: "AbortError" });
  });
});
