import { describe, expect, it } from "vitest";
import type { Log } from "../../base/log.ts";
import { type CreateLogOptions, createLog } from "./create-log.ts";

const AT = new Date(2025, 10, 21, 15, 4, 5, 123).getTime();

function record(write: (log: Log) => void, options: Partial<CreateLogOptions> = {}): string[] {
  const lines: string[] = [];
  write(createLog({ format: "text", verbosity: 0, now: () => AT, write: (line) => lines.push(line), ...options }));
  return lines;
}

const pid = String(process.pid).padStart(7);

describe("the journal of systemd", () => {
  it.each(["text", "json"] as const)("is told the priority of each line of %s, and nobody else", (format) => {
    const write = (log: Log) => {
      log.error("a");
      log.warn("b");
      log.with({ pod: "c" }).info("c");
      log.debug("d", {}, 0);
    };
    const told = record(write, { format, isJournal: true });
    expect(told.map((line) => line.slice(0, 3))).toEqual(["<3>", "<4>", "<6>", "<6>"]);
    expect(told.map((line) => line.slice(3))).toEqual(record(write, { format }));
  });
});

describe("text", () => {
  it.each<[string, (log: Log) => void, string]>([
    [
      "info",
      (log) => log.info("Pod started", { pod: "default/x", attempt: 2 }),
      `I1121 15:04:05.123000 ${pid} nodelet] "Pod started" pod="default/x" attempt=2`,
    ],
    ["warn", (log) => log.warn("Slow"), `W1121 15:04:05.123000 ${pid} nodelet] "Slow"`],
    [
      "error with its causes",
      (log) => log.error("Failed", { error: new Error("a", { cause: new Error("b") }) }),
      `E1121 15:04:05.123000 ${pid} nodelet] "Failed" err="a: b"`,
    ],
    [
      "bound fields, and the module's name",
      (log) => log.with({ logger: "pleg", pod: "a/b" }).info("x", { n: 1n }),
      `I1121 15:04:05.123000 ${pid} pleg] "x" pod="a/b" n="1"`,
    ],
    [
      "structures as JSON",
      (log) => log.info("x", { ips: ["1.1.1.1"], ready: true, gone: undefined, map: new Map([["a", 1]]) }),
      `I1121 15:04:05.123000 ${pid} nodelet] "x" ips=["1.1.1.1"] ready=true map={"a":1}`,
    ],
    [
      "control characters escaped",
      (log) => log.info("a\nb\u001b[31m", { "k ey": "\r\u2028\u009b\u202e" }),
      `I1121 15:04:05.123000 ${pid} nodelet] "a\\nb\\u001b[31m" k_ey="\\r\\u2028\\u009b\\u202e"`,
    ],
  ])("%s", (_name, write, line) => expect(record(write)).toEqual([line]));

  it("cuts what is too long, too many or too deep", () => {
    const cyclic: Record<string, unknown> = {};
    cyclic["self"] = cyclic;
    const fields = { text: "x".repeat(10_000), list: Array.from({ length: 1_000 }, () => 1), cyclic };
    const [line = ""] = record((log) => log.info("y".repeat(10_000), fields));
    expect(line.length).toBeLessThan(10_000);
    expect(line).toContain("… 5904 more");
    expect(line).toContain("… 936 more");
    expect(line).toContain('cyclic={"self":{"self":{"self":{"self":"…"}}}}');
  });
});

describe("json", () => {
  const json = (write: (log: Log) => void) =>
    record(write, { format: "json", verbosity: 4 }).map((line) => JSON.parse(line));

  it("has kubelet's keys", () => {
    const lines = json((log) => {
      log.with({ pod: "a/b" }).info("one\ntwo", { bytes: new Uint8Array(3), size: 2n ** 70n, nan: Number.NaN });
      log.debug("three", {}, 4);
      log.warn("four");
      log.error("five", { error: new Error("boom") });
    });
    expect(lines).toEqual([
      { ts: AT, v: 0, pod: "a/b", bytes: "3 bytes", size: "1180591620717411303424", nan: "NaN", msg: "one\ntwo" },
      { ts: AT, v: 4, msg: "three" },
      { ts: AT, v: 0, severity: "warning", msg: "four" },
      { ts: AT, err: "boom", msg: "five" },
    ]);
  });

  it("is one line, and lets no field take the place of its own keys", () => {
    const lines = record((log) => log.info("real", { msg: "x\ny", ts: 1, v: 9 }), { format: "json" });
    expect(lines).toEqual([`{"ts":${AT},"v":0,"msg":"real"}`]);
  });
});

describe("verbosity", () => {
  const write = (log: Log) => {
    log.debug("two", {}, 2);
    log.debug("four");
    log.with({ logger: "pod-workers" }).debug("module", {}, 6);
  };

  it.each([
    [0, []],
    [2, ["two"]],
    [4, ["two", "four"]],
    [6, ["two", "four", "module"]],
  ])("%d lets through %j", (verbosity, expected) => {
    expect(record(write, { verbosity }).map((line) => /"(\w+)"/.exec(line)?.[1])).toEqual(expected);
  });

  it.each([
    ["pod-*", 6, ["module"]],
    ["pod?workers", 6, ["module"]],
    ["pod", 6, []],
    ["p.*", 6, []],
  ])("of module pattern %s", (filePattern, verbosity, expected) => {
    const lines = record(write, { vmodule: [{ filePattern, verbosity }] });
    expect(lines.map((line) => /"(\w+)"/.exec(line)?.[1])).toEqual(expected);
  });
});
