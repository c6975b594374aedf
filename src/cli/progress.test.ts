import { describe, expect, it } from "vitest";
import { createFakeClock } from "../host/fake/fake-clock.ts";
import { createProgress, joinWaits, type ProgressOutput } from "./progress.ts";

const CLEAR = "\r\u001b[K";

function createRig(output: Partial<ProgressOutput> = {}) {
  const clock = createFakeClock({ now: 1_000_000 });
  let text = "";
  const write = (more: string) => {
    text += more;
  };
  const progress = createProgress(clock, { write, columns: undefined, format: "text", ...output });
  const taken = () => {
    const all = text;
    text = "";
    return all;
  };
  return { clock, progress, taken };
}

describe("on a terminal", () => {
  it("one line shows what is waited for, and lines that stay come before it", async () => {
    const { clock, progress, taken } = createRig({ columns: 80 });
    progress.waiting("containerd");
    expect(taken()).toBe(`${CLEAR}… containerd`);
    await clock.advance(2_000);
    expect(taken()).toBe(`${CLEAR}… containerd (1 s)${CLEAR}… containerd (2 s)`);
    progress.line("containerd is ready");
    expect(taken()).toBe(`${CLEAR}containerd is ready\n${CLEAR}… containerd (2 s)`);
    progress.waiting("the API");
    expect(taken()).toBe(`${CLEAR}${CLEAR}… the API`);
    progress.waiting(undefined);
    expect(taken()).toBe(CLEAR);
    await clock.advance(60_000);
    expect(taken()).toBe("");
  });

  it("says how far it is whenever the line is drawn, and not more often", async () => {
    const { clock, progress, taken } = createRig({ columns: 80 });
    let done = 0;
    progress.waiting("containerd", () => `: ${++done} of 9`);
    await clock.advance(1_000);
    expect(taken()).toBe(`${CLEAR}… containerd: 1 of 9${CLEAR}… containerd: 2 of 9 (1 s)`);
    progress.waiting(undefined);
  });

  it("the line is no longer than the terminal is wide, and has no control characters of others", () => {
    const { progress, taken } = createRig({ columns: 30 });
    progress.waiting(`pod \u001b[31m${"x".repeat(100)}`);
    const line = taken().replace(CLEAR, "");
    expect(line).toHaveLength(29);
    expect(line).not.toContain("\u001b");
    progress.waiting(undefined);
  });
});

describe("in a pipe", () => {
  it("a wait is told each ten seconds, and not at all when it is short", async () => {
    const { clock, progress, taken } = createRig();
    progress.waiting("containerd");
    await clock.advance(9_000);
    expect(taken()).toBe("");
    await clock.advance(11_000);
    expect(taken()).toBe("  still waiting for containerd (10 s)\n  still waiting for containerd (20 s)\n");
    progress.line("containerd is ready");
    progress.waiting(undefined);
    await clock.advance(60_000);
    expect(taken()).toBe("containerd is ready\n");
  });

  it("the same wait goes on when it is named again", async () => {
    const { clock, progress, taken } = createRig();
    progress.waiting("a");
    await clock.advance(6_000);
    progress.waiting("a");
    await clock.advance(4_000);
    expect(taken()).toBe("  still waiting for a (10 s)\n");
    progress.waiting(undefined);
  });
});

it("as JSON each is a record, also on a terminal", async () => {
  const { clock, progress, taken } = createRig({ format: "json", columns: 80 });
  progress.waiting("containerd");
  await clock.advance(10_000);
  progress.line('it is "ready"');
  progress.waiting(undefined);
  const records = taken().trimEnd().split("\n");
  expect(records.map((record) => JSON.parse(record))).toEqual([
    { ts: 1_010_000, v: 0, seconds: 10, msg: "still waiting for containerd" },
    { ts: 1_010_000, v: 0, msg: 'it is "ready"' },
  ]);
});

it.each([
  [[], undefined],
  [["a"], "a"],
  [["a", "b", "c", "d", "e"], "a, b, c, d, e"],
  [["a", "b", "c", "d", "e", "f", "g"], "a, b, c, d, e and 2 more"],
])("the names %j are told as %j", (names, told) => {
  expect(joinWaits(names)).toBe(told);
});
