import { afterEach, beforeEach, expect, it } from "vitest";
import { type Log, silentLog } from "../../../base/log.ts";
import { createFakeClock, type FakeClock } from "../../../host/fake/fake-clock.ts";
import { createFakePrograms, type FakeEnd, type FakePrograms } from "../../../host/fake/fake-programs.ts";
import type { StreamedRun } from "../../../host/programs-port.ts";
import { keepNodeChains } from "./keep-node-chains.ts";

const MARTIANS =
  "-m comment --comment block incoming localnet connections -d 127.0.0.0/8 ! -s 127.0.0.0/8 -m conntrack ! --ctstate RELATED,ESTABLISHED,DNAT -j DROP";
const BUILT_IN = { "nat/POSTROUTING": [], "filter/INPUT": ["-j OTHERS"], "filter/OUTPUT": [] };
const WHOLE_IPV4 = {
  "nat/POSTROUTING": [],
  "filter/INPUT": ["-j KUBE-FIREWALL", "-j OTHERS"],
  "filter/OUTPUT": ["-j KUBE-FIREWALL"],
  "mangle/KUBE-IPTABLES-HINT": [],
  "filter/KUBE-FIREWALL": [MARTIANS],
};

let clock: FakeClock;
let programs: FakePrograms;
let said: Array<readonly [string, unknown]>;
let stop: () => Promise<void>;
let tables: { iptables: Record<string, string[]>; ip6tables: Record<string, string[]> };
let broken: FakeEnd | undefined;

beforeEach(() => {
  clock = createFakeClock();
  programs = createFakePrograms(clock);
  said = [];
  broken = undefined;
  tables = { iptables: structuredClone(BUILT_IN), ip6tables: { "nat/POSTROUTING": [] } };
  for (const program of ["iptables", "ip6tables"] as const) {
    programs.install(program, (run) => broken ?? runIptables(tables[program], run));
  }
});
afterEach(async () => await stop());

/** The few operations that are used; a chain or rule that is missing is exit code 1. */
function runIptables(chains: Record<string, string[]>, { args }: StreamedRun): FakeEnd {
  const [lock, , option, table, operation, name, ...words] = args;
  if (lock !== "-w" || option !== "-t") return { exitCode: 2 };
  const path = `${table}/${name}`;
  const rules = chains[path];
  const rule = words.join(" ");
  if (operation === "-N") chains[path] = [];
  else if (rules === undefined) return { exitCode: 1 };
  else if (operation === "-A") rules.push(rule);
  else if (operation === "-I") rules.unshift(rule);
  else if (operation === "-C" && !rules.includes(rule)) return { exitCode: 1 };
  return {};
}

async function begin(): Promise<void> {
  const log: Log = {
    ...silentLog,
    info: (message, fields) => said.push([message, fields]),
    warn: (message, fields) => said.push([message, fields]),
    error: (message, fields) => said.push([message, fields]),
  };
  const stopping = new AbortController();
  const run = keepNodeChains({ programs, clock, log }, stopping.signal).catch((error: unknown) => {
    if (!stopping.signal.aborted) throw error;
  });
  stop = async () => {
    stopping.abort();
    await run;
    expect(clock.pendingTimers).toBe(0);
  };
  await clock.settle();
}

it("makes the hint for both families, and for IPv4 the firewall before the rules of others", async () => {
  await begin();
  expect(tables.iptables).toEqual(WHOLE_IPV4);
  expect(tables.ip6tables).toEqual({ "nat/POSTROUTING": [], "mangle/KUBE-IPTABLES-HINT": [] });
  expect(said).toEqual([
    ["Initialized iptables rules.", { protocol: "IPv4" }],
    ["Initialized iptables rules.", { protocol: "IPv6" }],
  ]);
});

it("changes nothing where all is there", async () => {
  tables.iptables = structuredClone(WHOLE_IPV4);
  await begin();
  await clock.advance(600_000);
  expect(tables.iptables).toEqual(WHOLE_IPV4);
  expect(programs.runs.filter(({ args }) => ["-A", "-I", "-N"].includes(args[4] ?? ""))).toHaveLength(1);
});

it.each([
  ["everything", () => structuredClone(BUILT_IN), 5],
  ["one jump", () => ({ ...structuredClone(WHOLE_IPV4), "filter/INPUT": ["-j OTHERS"] }), 1],
  ["the rule of the chain", () => ({ ...structuredClone(WHOLE_IPV4), "filter/KUBE-FIREWALL": [] }), 1],
])("puts %s back within a minute when somebody removes it", async (_what, flush, count) => {
  await begin();
  said = [];
  tables.iptables = flush();
  await clock.advance(60_000);
  expect(tables.iptables).toEqual(WHOLE_IPV4);
  const [line, ...more] = said;
  expect(line?.[0]).toBe("Iptables rules were removed and are back");
  expect(line?.[1]).toMatchObject({ protocol: "IPv4", missing: { length: count } });
  expect(more).toEqual([]);
});

it("tells a failure once, and goes on when it is over", async () => {
  await begin();
  said = [];
  tables.iptables = structuredClone(BUILT_IN);
  broken = { exitCode: 4, stderr: "Another app is currently holding the xtables lock." };
  await clock.advance(300_000);
  expect(said.map(([message]) => message)).toEqual(
    ["IPv4", "IPv6"].map(() => "Failed to initialize iptables rules; some functionality may be missing."),
  );
  expect(said[0]?.[1]).toMatchObject({ error: expect.stringContaining("holding the xtables lock") });
  broken = undefined;
  await clock.advance(60_000);
  expect(tables.iptables).toEqual(WHOLE_IPV4);
});

it("leaves out a family that the machine does not have", async () => {
  tables.ip6tables = {};
  await begin();
  expect(tables.ip6tables).toEqual({});
  expect(tables.iptables).toEqual(WHOLE_IPV4);
});

it("does nothing on a machine without iptables", async () => {
  for (const program of ["iptables", "ip6tables"]) programs.install(program, undefined);
  await begin();
  expect(said.map(([message]) => message)).toEqual([
    "No iptables support on this system; not creating the KUBE-IPTABLES-HINT chain",
  ]);
});
