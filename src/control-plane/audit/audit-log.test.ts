import { describe, expect, it } from "vitest";
import type { Log } from "../../base/log.ts";
import { silentLog } from "../../base/log.ts";
import { createMetrics } from "../../base/metrics.ts";
import { createFakeClock } from "../../host/fake/fake-clock.ts";
import { createFakeFiles } from "../../host/fake/fake-files.ts";
import { createMemoryTree } from "../../host/fake/memory-tree.ts";
import { type AuditOutput, createAuditLog, openAuditFile } from "./audit-log.ts";

const settle = async () => {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
};

function bench(output: AuditOutput) {
  const clock = createFakeClock();
  const told: string[] = [];
  const tell = (message: string, fields: object = {}) => void told.push(`${message} ${JSON.stringify(fields)}`);
  const log: Log = { ...silentLog, error: tell, info: tell };
  const metrics = createMetrics();
  return { clock, told, metrics, sink: createAuditLog({ output, clock, log, metrics }) };
}

describe("createAuditLog", () => {
  it("writes lines in order, those of a turn together", async () => {
    const writes: string[] = [];
    const { sink } = bench({ append: async (lines) => void writes.push(lines) });
    sink.write("a");
    sink.write("b");
    await settle();
    sink.write("c");
    await sink.close();
    expect(writes).toEqual(["a\nb\n", "c\n"]);
  });

  it("loses what a full disk does not take, says so once a minute, and goes on", async () => {
    let isFull = true;
    const writes: string[] = [];
    const { sink, told, clock, metrics } = bench({
      async append(lines) {
        if (isFull) throw Object.assign(new Error("write"), { code: "ENOSPC" });
        writes.push(lines);
      },
    });
    for (const line of ["a", "b", "c"]) {
      sink.write(line);
      await settle();
    }
    expect(told).toEqual([expect.stringMatching(/Audit events are lost.*"lost":1.*the disk is full/)]);
    await clock.advance(60_000);
    sink.write("d");
    await settle();
    expect(told.at(-1)).toMatch(/"lost":3/);
    isFull = false;
    sink.write("e");
    await settle();
    expect(writes).toEqual(["e\n"]);
    expect(told.at(-1)).toContain("written again");
    expect(await metrics.render()).toContain('apiserver_audit_error_total{plugin="log"} 4');
  });

  it("keeps nobody waiting for a disk that never answers, and no more than 16 MiB", async () => {
    const { sink, told, metrics, clock } = bench({ append: () => new Promise(() => undefined) });
    const line = "x".repeat(1024 * 1024);
    for (let count = 0; count < 20; count++) {
      sink.write(line);
      await settle();
    }
    expect(told).toEqual([expect.stringContaining("the disk is too slow")]);
    expect(await metrics.render()).toMatch(/apiserver_audit_error_total\{plugin="log"\} 3/);
    const closed = sink.close();
    await clock.advance(5_000);
    await closed;
  });
});

describe("openAuditFile", () => {
  const START = Date.UTC(2026, 0, 31, 10, 20, 30, 400);
  const open = async (options: object = {}) => {
    const clock = createFakeClock({ now: START });
    const files = createFakeFiles(createMemoryTree(() => 0));
    const limits = { path: "/var/log/k8s/audit.log", maxAgeDays: 0, maxBackups: 0, maxBytes: 10, ...options };
    const output = await openAuditFile({ files, clock, log: silentLog }, limits);
    const names = async () => (await files.list("/var/log/k8s")).map(({ name }) => name);
    return { clock, files, output, names };
  };

  it("makes the file at once, for its owner alone", async () => {
    const { files } = await open();
    expect(await files.stat("/var/log/k8s/audit.log")).toMatchObject({ sizeBytes: 0, mode: 0o600 });
  });

  it("leaves the mode of a directory that is there", async () => {
    const files = createFakeFiles(createMemoryTree(() => 0));
    await files.makeDirectory("/var/log", 0o755);
    const options = { path: "/var/log/audit.log", maxAgeDays: 0, maxBackups: 0, maxBytes: 10 };
    await openAuditFile({ files, clock: createFakeClock(), log: silentLog }, options);
    expect(await files.stat("/var/log")).toMatchObject({ mode: 0o755 });
  });

  it("begins another file when one is full, and names the full one by the time", async () => {
    const { output, files, names } = await open();
    await output.append("12345678\n");
    await output.append("abc\n");
    expect(await names()).toEqual(["audit-2026-01-31T10-20-30.400.log", "audit.log"]);
    expect(files.text("/var/log/k8s/audit.log")).toBe("abc\n");
  });

  it("keeps the newest files, and none that is too old", async () => {
    const { output, names, clock, files } = await open({ maxBackups: 2, maxAgeDays: 1 });
    files.put("/var/log/k8s/audit-notes.log", "somebody else's");
    for (let count = 0; count < 5; count++) {
      await output.append("12345678\n");
      await clock.advance(1_000);
    }
    const notes = "audit-notes.log";
    expect(await names()).toEqual([
      "audit-2026-01-31T10-20-33.400.log",
      "audit-2026-01-31T10-20-34.400.log",
      notes,
      "audit.log",
    ]);
    await clock.advance(2 * 86_400_000);
    await output.append("12345678\n");
    expect(await names()).toEqual(["audit-2026-02-02T10-20-35.400.log", notes, "audit.log"]);
  });

  it("ends a line that a failure or an earlier process left torn", async () => {
    const { output, files } = await open({ maxBytes: 0 });
    const stop = files.intercept(({ operation }) => {
      if (operation === "append") throw Object.assign(new Error("no space"), { code: "ENOSPC" });
    });
    await expect(output.append("lost\n")).rejects.toThrow();
    stop();
    files.put("/var/log/k8s/audit.log", "lo");
    await output.append("next\n");
    expect(files.text("/var/log/k8s/audit.log")).toContain("\nnext\n");
  });
});
