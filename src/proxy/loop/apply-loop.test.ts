import { beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { isAbort, sleep, untilAborted } from "../../base/abort.ts";
import { CodedError } from "../../base/errors.ts";
import { type Log, silentLog } from "../../base/log.ts";
import { createFakeClock, type FakeClock } from "../../host/fake/fake-clock.ts";
import type { RuleCompiler, RuleInput, StaleFlow } from "../rules/rule-compiler.ts";
import { createApplyLoop } from "./apply-loop.ts";

const TABLE = "t";
let clock: FakeClock;
let applied: string[][];
let warnings: string[];
/** What the kernel has, in nft's words; undefined for no table. */
let described: { chain: string; rules: string[] } | undefined;
let failure: Error | undefined;
/** nft never ends by itself. */
let hangs: boolean;
/** How long nft takes to describe the table. */
let describeMs: number;
/** When nft was asked to describe the table, in seconds. */
let checks: number[];
/** The calls for stale flows; none of them ends by itself. */
let forgotten: number[];
beforeEach(() => {
  clock = createFakeClock();
  applied = [];
  warnings = [];
  described = { chain: "c", rules: ["accept"] };
  failure = undefined;
  hangs = false;
  describeMs = 0;
  checks = [];
  forgotten = [];
});

/** One chain, with as many rules as there were changes. */
function countingCompiler(): RuleCompiler {
  let seen = 1;
  return {
    kinds: ["Service"],
    compile(changes) {
      seen += changes.length;
      const chains = [{ name: "c", rules: Array.from({ length: seen }, () => "accept") }];
      const flow: StaleFlow = { family: "ip", protocol: "udp", destination: "x", port: seen, endpoint: undefined };
      const staleFlows = changes.length === 0 ? [] : [flow, flow];
      return { fragments: { ip: new Map([["one", { chains }]]), ip6: new Map() }, staleFlows };
    },
  };
}

function start() {
  const log: Log = { ...silentLog, warn: (message) => warnings.push(message) };
  const nftables = {
    async apply(statements: readonly string[], signal?: AbortSignal) {
      if (hangs) await untilAborted(new Promise(() => undefined), signal ?? new AbortController().signal);
      if (failure !== undefined) throw failure;
      if (statements.length > 0) applied.push([...statements]);
    },
    async describe(_family: string, _table: string, signal: AbortSignal) {
      checks.push(clock.monotonic() / 1_000);
      if (describeMs > 0) await sleep(clock, describeMs, signal);
      if (described === undefined) return undefined;
      const rules = described.rules.map((expr) => ({ rule: { chain: "c", expr } }));
      return JSON.stringify({ nftables: [{ chain: { name: described.chain } }, ...rules] });
    },
  };
  const loop = createApplyLoop(
    {
      nftables,
      clock,
      log,
      compilers: [countingCompiler()],
      async forgetFlows(flows, signal) {
        forgotten.push(flows.length);
        await untilAborted(new Promise(() => undefined), signal);
      },
      onTurn: async () => undefined,
    },
    { families: ["ip"], table: TABLE, checkPeriodMs: 30_000 },
  );
  const stop = new AbortController();
  const ended = loop.run(stop.signal).catch((error: unknown) => {
    if (!isAbort(error)) throw error;
  });
  onTestFinished(async () => {
    stop.abort();
    await ended;
  });
  return loop;
}

const CHANGE: RuleInput = { kind: "Service", change: { type: "ADDED", object: {}, previous: undefined } };
const WHOLE = ["add table ip t", "delete table ip t", "add table ip t"];
const untilApplied = async (count: number) => {
  await vi.waitFor(() => expect(applied).toHaveLength(count), { interval: 1, timeout: 60_000 });
};

it("makes the table anew at first, and applies differences afterwards", async () => {
  const loop = start();
  await untilApplied(1);
  expect(applied[0]?.slice(0, 3)).toEqual(WHOLE);
  loop.offer([CHANGE]);
  await untilApplied(2);
  expect(applied[1]).toEqual(["flush chain ip t c", "add rule ip t c accept", "add rule ip t c accept"]);
});

it("makes the table anew after a transaction that failed", async () => {
  const loop = start();
  await untilApplied(1);
  failure = new CodedError("nft-failed", "refused");
  loop.offer([CHANGE]);
  await vi.waitFor(() => expect(clock.pendingTimers).toBe(1), { interval: 1, timeout: 60_000 });
  failure = undefined;
  await clock.advance(1_000);
  await untilApplied(2);
  expect(applied[1]?.slice(0, 3)).toEqual(WHOLE);
});

it.each<[string, typeof described]>([
  ["a table that is gone", undefined],
  ["a chain that is gone", { chain: "other", rules: [] }],
  ["a rule that was added", { chain: "c", rules: ["accept", "drop"] }],
  ["a rule that was replaced", { chain: "c", rules: ["drop"] }],
])("puts back %s, and tells of it", async (_name, found) => {
  start();
  await untilApplied(1);
  await clock.advance(30_000);
  expect(warnings).toEqual([]);
  described = found;
  await clock.advance(30_000);
  await untilApplied(2);
  expect(applied[1]?.slice(0, 3)).toEqual(WHOLE);
  expect(warnings).toEqual(["somebody changed the rules of services; they are put back"]);
});

it.each<[seconds: number, times: number[]]>([
  [0, [30, 60, 90]],
  [1, [30, 60, 90]],
  // A check of four seconds is followed by 116 seconds without one, and one of a minute by ten minutes.
  [4, [30, 150, 270]],
  [60, [30, 690, 1_350]],
])("looks at rules whose check takes %d seconds in a thirtieth of the time", async (seconds, times) => {
  start();
  await untilApplied(1);
  const begun = clock.monotonic() / 1_000;
  describeMs = seconds * 1_000;
  while (checks.length < times.length) await clock.advance(1_000);
  expect(checks.map((at) => at - begun)).toEqual(times);
});

it("tells of an nft that does not answer, and ends it with itself", async () => {
  const loop = start();
  await untilApplied(1);
  hangs = true;
  loop.offer([CHANGE]);
  await vi.waitFor(() => expect(clock.pendingTimers).toBe(1), { interval: 1, timeout: 60_000 });
  await clock.advance(10_000);
  expect(warnings).toEqual(["nft has not answered yet, the rules of services wait for it"]);
});

it("holds up no rules while it forgets connections, and forgets each once", async () => {
  const loop = start();
  loop.offer([CHANGE]);
  await untilApplied(1);
  await vi.waitFor(() => expect(forgotten).toEqual([1]), { interval: 1, timeout: 60_000 });
  for (let turn = 2; turn <= 4; turn++) {
    loop.offer([CHANGE]);
    await untilApplied(turn);
  }
  expect(forgotten).toEqual([1]);
});

it("applies a million statements in one transaction", async () => {
  const loop = start();
  await untilApplied(1);
  loop.offer(Array.from({ length: 1_000_000 }, () => CHANGE));
  await untilApplied(2);
  expect(applied[1]).toHaveLength(1_000_002);
});
