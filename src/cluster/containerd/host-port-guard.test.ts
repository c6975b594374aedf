import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Log, silentLog } from "../../base/log.ts";
import { createFakeClock } from "../../host/fake/fake-clock.ts";
import { createHostPortGuard, withoutRules } from "./host-port-guard.ts";
import { type HostPortSandbox, openHostPortSandboxes, readSandbox } from "./host-port-sandboxes.ts";

const NETWORK = "nodelet-1";
const WAYS_IN = ["PREROUTING", "OUTPUT"].map(
  (chain) => `-A ${chain} -m addrtype --dst-type LOCAL -j CNI-HOSTPORT-DNAT`,
);
const rulesOf = (id: string, network = NETWORK) => [
  `-A CNI-DN-${id} -p tcp -m tcp --dport 80 -j DNAT --to-destination 10.64.0.2:8080`,
  `-A CNI-HOSTPORT-DNAT -p tcp -m comment --comment "dnat name: \\"${network}\\" id: \\"${id}\\"" -m multiport --dports 80 -j CNI-DN-${id}`,
];
const sandbox = (id: string): HostPortSandbox => ({
  id,
  families: new Set(["IPv4"]),
  call: { netns: `/run/netns/${id}`, ifName: "eth0", configuration: "{}" },
});

it.each<[what: string, rules: string[], missing: string[]]>([
  ["all is there", [...WAYS_IN, ...rulesOf("a"), ...rulesOf("b")], []],
  ["nothing is there", [], ["a", "b"]],
  ["a rule is gone", [...WAYS_IN, ...rulesOf("a"), ...rulesOf("b").slice(0, 1)], ["b"]],
  ["a chain is empty", [...WAYS_IN, ...rulesOf("a"), ...rulesOf("b").slice(1)], ["b"]],
  ["a way in is gone", [...WAYS_IN.slice(0, 1), ...rulesOf("a"), ...rulesOf("b")], ["a", "b"]],
  ["only another network's are there", [...WAYS_IN, ...rulesOf("a", "x"), ...rulesOf("b", "x")], ["a", "b"]],
])("host ports are missed where %s", (_what, rules, missing) => {
  const all = [sandbox("a"), sandbox("b")];
  expect(withoutRules(rules.join("\n"), NETWORK, all).map(({ id }) => id)).toEqual(missing);
});

/** A machine with one sandbox, whose plugin makes rules as the test says. */
function startGuard(makes: (command: "ADD" | "DEL") => readonly string[], { isGone = false } = {}) {
  const clock = createFakeClock();
  const told: string[] = [];
  const calls: string[] = [];
  const machine: { rules: readonly string[] } = { rules: [] };
  const log: Log = { ...silentLog, warn: (words) => told.push(words), error: (words) => told.push(words) };
  const guard = createHostPortGuard(
    {
      sandboxes: {
        list: async () => [sandbox("a")],
        isThere: async () => !isGone,
        async call(command) {
          calls.push(command);
          machine.rules = makes(command);
        },
      },
      rules: new Map([["IPv4", { list: async () => machine.rules.join("\n") }]]),
      log,
    },
    NETWORK,
  );
  const stopping = new AbortController();
  const kept = guard.keep(clock, { periodMs: 1_000, signal: stopping.signal });
  const stop = async () => {
    stopping.abort();
    await kept;
  };
  return { clock, told, calls, machine, stop };
}

describe("the guard of host ports", () => {
  it("has the plugin make rules anew, and says so once", async () => {
    const { clock, told, calls, machine, stop } = startGuard(() => [...WAYS_IN, ...rulesOf("a")]);
    await clock.advance(5_000);
    expect(calls).toEqual(["ADD"]);
    machine.rules = [];
    await clock.advance(1_000);
    expect(calls).toEqual(["ADD", "ADD"]);
    expect(told).toEqual(["somebody removed the rules of host ports; they are back"]);
    await stop();
  });

  it("leaves no rule of a pod that ended meanwhile", async () => {
    const { clock, calls, stop } = startGuard(() => [], { isGone: true });
    await clock.advance(1_000);
    expect(calls).toEqual(["ADD", "DEL"]);
    await stop();
  });

  it("asks a plugin three times whose rules are elsewhere", async () => {
    const { clock, told, calls, stop } = startGuard(() => []);
    await clock.advance(9_000);
    expect([calls, told]).toEqual([["ADD", "ADD", "ADD"], []]);
    await stop();
  });

  it("goes on where somebody removes the rules again as soon as they are made", async () => {
    let removed = 0;
    const { clock, calls, machine, stop } = startGuard(() =>
      removed++ % 2 === 0 ? [] : [...WAYS_IN, ...rulesOf("a")],
    );
    for (let look = 1; look <= 8; look++) {
      await clock.advance(2_000);
      expect(machine.rules).not.toEqual([]);
      machine.rules = [];
    }
    expect(calls).toHaveLength(16);
    await stop();
  });

  it("says once that the plugin fails, and goes on", async () => {
    const { clock, told, calls, stop } = startGuard(() => {
      throw new Error("no such program");
    });
    await clock.advance(3_000);
    expect(calls).toHaveLength(3);
    expect(told).toEqual(["the rules of host ports cannot be put back"]);
    await stop();
  });
});

const CONFIGURATION = { name: NETWORK, plugins: [{ type: "bridge" }, { type: "portmap", snat: true }] };
const cached = (more: object = {}) => ({
  kind: "cniCacheV1",
  containerId: "a",
  config: Buffer.from(JSON.stringify(CONFIGURATION)).toString("base64"),
  ifName: "eth0",
  capabilityArgs: { portMappings: [{ HostPort: 80, ContainerPort: 8080, Protocol: "tcp", HostIP: "" }] },
  result: {
    cniVersion: "0.4.0",
    interfaces: [{ name: "nodelet0" }, { name: "eth0", sandbox: "/run/netns/a" }],
    ips: [{ address: "10.64.0.2/16" }, { address: "fd00:64::2/112" }],
  },
  ...more,
});

it("a sandbox is told to the plugin as it was connected", () => {
  const read = readSandbox(JSON.stringify(cached()), NETWORK);
  expect(read).toMatchObject({ id: "a", call: { netns: "/run/netns/a", ifName: "eth0" } });
  expect([...(read?.families ?? [])]).toEqual(["IPv4", "IPv6"]);
  expect(JSON.parse(read?.call.configuration ?? "")).toEqual({
    type: "portmap",
    snat: true,
    name: NETWORK,
    cniVersion: "0.4.0",
    runtimeConfig: { portMappings: cached().capabilityArgs.portMappings },
    prevResult: cached().result,
  });
});

it.each([
  ["that is torn", JSON.stringify(cached()).slice(0, 99)],
  ["that is empty", ""],
  ["of a pod without ports", JSON.stringify(cached({ capabilityArgs: {} }))],
  ["without a host port", JSON.stringify(cached({ capabilityArgs: { portMappings: [{ hostPort: 0 }, null] } }))],
  ["of a network without the plugin", JSON.stringify(cached({ config: "e30=" }))],
  ["without a result", JSON.stringify(cached({ result: null }))],
  ["without a network namespace", JSON.stringify(cached({ ifName: "lo" }))],
])("a result %s is none of a sandbox with host ports", (_what, text) => {
  expect(readSandbox(text, NETWORK)).toBeUndefined();
});

it("a result that was torn at one look is read at the next", async () => {
  const directory = await mkdtemp(join(tmpdir(), "nodelet-results-"));
  try {
    const sandboxes = openHostPortSandboxes(NETWORK, directory);
    const file = join(directory, `${NETWORK}-a-eth0`);
    await writeFile(file, JSON.stringify(cached()).slice(0, 99));
    expect(await sandboxes.list()).toEqual([]);
    await writeFile(file, JSON.stringify(cached()));
    expect((await sandboxes.list()).map(({ id }) => id)).toEqual(["a"]);
  } finally {
    await rm(directory, { recursive: true });
  }
});

it("a host port at an address of one family has rules of that family only", () => {
  const portMappings = [{ hostPort: 80, hostIP: "127.0.0.1" }];
  const read = readSandbox(JSON.stringify(cached({ capabilityArgs: { portMappings } })), NETWORK);
  expect([...(read?.families ?? [])]).toEqual(["IPv4"]);
});

it("sandboxes of the network are found among all, and are gone with their results", async () => {
  const directory = await mkdtemp(join(tmpdir(), "nodelet-results-"));
  try {
    const sandboxes = openHostPortSandboxes(NETWORK, directory);
    expect(await sandboxes.list()).toEqual([]);
    await writeFile(join(directory, `${NETWORK}-a-eth0`), JSON.stringify(cached()));
    await writeFile(join(directory, "other-b-eth0"), JSON.stringify(cached({ containerId: "b" })));
    const found = await sandboxes.list();
    expect(found.map(({ id }) => id)).toEqual(["a"]);
    expect(await Promise.all(found.map(sandboxes.isThere))).toEqual([true]);
    await rm(join(directory, `${NETWORK}-a-eth0`));
    expect([await sandboxes.list(), await Promise.all(found.map(sandboxes.isThere))]).toEqual([[], [false]]);
  } finally {
    await rm(directory, { recursive: true });
  }
  expect(await openHostPortSandboxes(NETWORK, directory).list()).toEqual([]);
});
