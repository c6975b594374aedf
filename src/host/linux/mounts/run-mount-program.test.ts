import { closeSync, openSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { linuxPrograms } from "../system/linux-programs.ts";
import { createMountPrograms } from "./run-mount-program.ts";

const run = createMountPrograms(linuxPrograms);
const shell = async (script: string, options: Partial<Parameters<typeof run>[2]> = {}) =>
  await run("sh", ["-c", script], { timeoutMs: 10_000, ...options });

describe("programs for mounts", () => {
  it("give what they said and how they ended", async () => {
    expect(await shell("echo out; echo err >&2; exit 3")).toEqual({ code: 3, stdout: "out", stderr: "err" });
    expect(await shell("kill -TERM $$")).toMatchObject({ code: undefined });
  });

  it("speak the C locale, find the administrator's programs, and see no other variable", async () => {
    const { stdout } = await shell("env");
    expect(stdout).toMatch(/^PATH=.*\/usr\/sbin:/m);
    expect(stdout).toMatch(/^LC_ALL=C$/m);
    expect(stdout).not.toMatch(/^(HOME|USER|NODE_ENV)=/m);
  });

  it("keep a part of endless words, and the rest is read nevertheless", async () => {
    const end = await shell("head -c 1000000 /dev/zero | tr '\\0' x");
    expect([end.code, end.stdout.length]).toEqual([0, 65_536]);
  });

  it("inherit descriptors", async () => {
    const fd = openSync("/etc/hostname", "r");
    try {
      const end = await shell("cat <&3", { descriptors: [fd] });
      expect(end.stdout).toBe(readFileSync("/etc/hostname", "utf8").trim());
    } finally {
      closeSync(fd);
    }
  });

  it("reject when they are not installed, late or aborted", async () => {
    await expect(run("no-such-program", [], { timeoutMs: 1_000 })).rejects.toMatchObject({ code: "ENOENT" });
    const late = shell("sleep 20", { timeoutMs: 50 });
    await expect(late).rejects.toMatchObject({ code: "ETIMEDOUT", message: expect.stringContaining("50 ms") });
    const aborted = shell("true", { signal: AbortSignal.abort() });
    await expect(aborted).rejects.toMatchObject({ name: "AbortError" });
  });
});
