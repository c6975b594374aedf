import { describe, expect, it } from "vitest";
import { type Log, silentLog } from "../../base/log.ts";
import { createFakeClock } from "../../host/fake/fake-clock.ts";
import { createLoopbackGuard, planLoopbackGuard } from "./loopback-guard.ts";

const NETWORK = { networkName: "nodelet-1", bridge: "br-1" };
const COMMENT = '-m comment --comment "name: \\"nodelet-1\\" the loopback belongs to the node"';
const OWN = [
  `-A PREROUTING -d 127.0.0.0/8 -i br-1 ${COMMENT} -j DROP`,
  `-A PREROUTING -s 127.0.0.0/8 -i br-1 ${COMMENT} -j DROP`,
];
const OTHERS = [
  "-P PREROUTING ACCEPT",
  '-A PREROUTING -d 127.0.0.0/8 -i br-2 -m comment --comment "name: \\"nodelet-2\\" the loopback belongs to the node" -j DROP',
  "-A PREROUTING -i eth0 -j CT --notrack",
];

/** A table that prints its rules as iptables does. It cannot be used while `isBroken`. */
function createTable(rules: readonly string[]) {
  const table = { rules: [...rules], isBroken: false };
  const change = (words: readonly string[]) => {
    const [operation, ...rule] = words;
    const line = `-A ${rule.map((word) => (word.includes(" ") ? `"${word.replaceAll('"', '\\"')}"` : word)).join(" ")}`;
    if (operation === "-I") table.rules.splice(1, 0, line);
    else table.rules = table.rules.filter((other) => other !== line);
  };
  const access = {
    list: async () => {
      if (table.isBroken) throw new Error("iptables is not installed");
      return await Promise.resolve(table.rules.join("\n"));
    },
    change: async (words: readonly string[]) => await Promise.resolve(change(words)),
  };
  return { table, access };
}

function guard(rules: readonly string[]) {
  const { table, access } = createTable(rules);
  const said: string[] = [];
  const log: Log = { ...silentLog, warn: (word) => said.push(word), error: (word) => said.push(word) };
  return { table, said, guard: createLoopbackGuard({ rules: access, log }, NETWORK) };
}

describe("CVE-2020-8558: the rules that keep pods from the node's loopback", () => {
  it.each([
    ["are both made where there are none", OTHERS, { missing: 2, stale: [] }],
    ["stay as they are, in any order of their words", [...OTHERS, ...OWN], { missing: 0, stale: [] }],
    ["are completed where one is gone", [...OTHERS, ...OWN.slice(1)], { missing: 1, stale: [] }],
    [
      "stay on a bridge that the network had before, because its pods are there",
      OWN.map((rule) => rule.replace("br-1", "br-0")),
      { missing: 2, stale: [] },
    ],
    [
      "are made anew where somebody made them accept",
      [OWN.join().replace(/,.*/, "").replace("DROP", "ACCEPT"), ...OWN.slice(1)],
      { missing: 1, stale: ["br-1"] },
    ],
  ])("%s", (_how, rules, { missing, stale }) => {
    const plan = planLoopbackGuard(rules.join("\n"), NETWORK);
    expect(plan.missing).toHaveLength(missing);
    expect(plan.stale.map((words) => words[words.indexOf("-i") + 1])).toEqual(stale);
  });

  it("are put in place before rules of others, which stay", async () => {
    const { table, guard: made } = guard(OTHERS);
    expect(await made.ensure()).toBe(true);
    expect(table.rules.slice(1, 3).map((rule) => rule.split(" ").toSorted())).toEqual(
      OWN.toReversed().map((rule) => rule.split(" ").toSorted()),
    );
    expect(table.rules.toSpliced(1, 2)).toEqual(OTHERS);
    expect(await made.ensure()).toBe(true);
    expect(table.rules).toHaveLength(5);
  });

  it("come back when somebody removes them, which is told once", async () => {
    const { table, said, guard: made } = guard(OTHERS);
    await made.ensure();
    const clock = createFakeClock();
    const stopping = new AbortController();
    const kept = made.keep(clock, { periodMs: 30_000, signal: stopping.signal });
    for (let time = 0; time < 3; time++) {
      table.rules = [...OTHERS];
      await clock.advance(30_000);
      expect(table.rules).toHaveLength(5);
    }
    expect(said).toEqual(["somebody removed the rules that keep pods from the node's loopback; they are back"]);
    stopping.abort();
    await kept;
    expect(clock.pendingTimers).toBe(0);
  });

  it("are tried again while they cannot be made, which is told once", async () => {
    const { table, said, guard: made } = guard(OTHERS);
    table.isBroken = true;
    expect(await made.ensure()).toBe(false);
    const clock = createFakeClock();
    const stopping = new AbortController();
    const kept = made.keep(clock, { periodMs: 30_000, signal: stopping.signal });
    await clock.advance(60_000);
    expect(said).toEqual(["pods cannot be kept from the node's loopback"]);
    table.isBroken = false;
    await clock.advance(30_000);
    expect(table.rules).toHaveLength(5);
    stopping.abort();
    await kept;
  });
});
