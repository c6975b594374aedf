import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { splitRule } from "../../src/cluster/containerd/iptables-rules.ts";
import { computeRuntimeLayout } from "../../src/cluster/containerd/runtime-layout.ts";
import { runCommand } from "../../src/cluster/processes/run-command.ts";
import { claimPort } from "../machine/claims.ts";
import { createNodeUnderTest, type NodeUnderTest } from "./node-under-test.ts";
import { isRunning, RUN_FOR_EVER, shellPod } from "./pods.ts";
import { readRunningContainers } from "./runtime-state.ts";

const GUARD_PERIOD_MS = 250;
const SERVE = "mkdir /tmp/www; echo hello > /tmp/www/index.html; exec httpd -f -p 8080 -h /tmp/www";
const PROBE = `fetch(process.argv[1], { signal: AbortSignal.timeout(2000) }).then(
  async (answer) => process.stdout.write(await answer.text(), () => process.exit()),
  () => process.exit(),
)`;

describe("CVE-2020-8558: a pod that sends packets to 127.0.0.1 over its bridge", () => {
  let node: NodeUnderTest;
  let loopback: Server;
  let attacker: number;
  let bridge: string;
  let gateway: string;
  const ports = { everywhere: 0, loopback: 0 };

  const raw = async (...args: string[]) => await runCommand("iptables", ["--wait", "--table", "raw", ...args]);
  const rulesOfBridge = async () => (await raw("-S")).split("\n").filter((rule) => rule.includes(`-i ${bridge} `));
  const inPod = async (...command: string[]) =>
    await runCommand("nsenter", ["--target", String(attacker), "--net", ...command]);
  const askFromPod = async (port: number, address = "127.0.0.1") =>
    await inPod(process.execPath, "-e", PROBE, `http://${address}:${port}/`);
  const askFromNode = async (port: number) =>
    await fetch(`http://127.0.0.1:${port}/`, { signal: AbortSignal.timeout(3_000) }).then(
      async (answer) => await answer.text(),
      () => "",
    );
  const loopbackPort = () => {
    const address = loopback.address();
    return typeof address === "object" && address !== null ? (address satisfies AddressInfo).port : 0;
  };

  beforeAll(async () => {
    loopback = createServer((_, answer) => void answer.end("private to the node"));
    await new Promise<void>((resolve) => loopback.listen(0, "127.0.0.1", resolve));
    node = await createNodeUnderTest({ guardPeriodMs: GUARD_PERIOD_MS });
    await node.start();
    ports.everywhere = await claimPort();
    ports.loopback = await claimPort();
    const hostPorts = [
      { containerPort: 8080, hostPort: ports.everywhere },
      { containerPort: 8080, hostPort: ports.loopback, hostIP: "127.0.0.1" },
    ];
    await node.write("server.json", shellPod("server", SERVE, {}, { ports: hostPorts }));
    await node.write("attacker.json", shellPod("attacker", RUN_FOR_EVER));
    await node.pod("server", isRunning);
    await node.pod("attacker", isRunning);
    attacker = (await readRunningContainers(node)).find(({ pod }) => pod === "attacker-e2e")?.pid ?? 0;
    gateway = /default via (\S+)/.exec(await inPod("ip", "-4", "route"))?.[1] ?? "";
    bridge = /^\d+: (\S+) /m.exec(await runCommand("ip", ["-4", "-o", "address", "show", "to", gateway]))?.[1] ?? "";
    await inPod("sh", "-c", "echo 1 > /proc/sys/net/ipv4/conf/eth0/route_localnet");
    await inPod("ip", "address", "delete", "127.0.0.1/8", "dev", "lo");
    await inPod("ip", "route", "add", "127.0.0.0/8", "via", gateway, "dev", "eth0");
  });
  afterAll(async () => {
    loopback.close();
    await node?.destroy();
    expect(await rulesOfBridge()).toEqual([]);
    expect(await runCommand("iptables", ["--wait", "-S"])).not.toContain(bridge);
  });

  it("reaches no server there, nor a host port of 127.0.0.1", async () => {
    expect(await askFromPod(loopbackPort())).toBe("");
    expect(await askFromPod(ports.loopback)).toBe("");
  });

  it("leaves host ports on the node's own 127.0.0.1 as they are", async () => {
    for (const port of [ports.everywhere, ports.loopback]) {
      await expect.poll(async () => await askFromNode(port)).toBe("hello\n");
    }
  });

  it("would reach both if the guard were not there", async () => {
    const bypass = ["-i", bridge, "-m", "comment", "--comment", "nodelet test", "-j", "ACCEPT"];
    const filter = async (...args: string[]) => await runCommand("iptables", ["--wait", ...args]);
    await raw("-I", "PREROUTING", ...bypass);
    // A kubelet that ran on this machine has left its own chain, which drops some of the same packets later.
    await filter("-I", "INPUT", ...bypass);
    try {
      await expect.poll(async () => await askFromPod(loopbackPort())).toBe("private to the node");
      await expect.poll(async () => await askFromPod(ports.loopback)).toBe("hello\n");
      expect(await rulesOfBridge()).toHaveLength(3);
    } finally {
      await filter("-D", "INPUT", ...bypass);
      await raw("-D", "PREROUTING", ...bypass);
    }
  });

  it("sends no larger packets than the machine", async () => {
    const mtuOf = (link: string) => /mtu (\d+)/.exec(link)?.[1];
    const way = / dev (\S+)/.exec(await runCommand("ip", ["route", "show", "default"]))?.[1];
    const expected = way === undefined ? "1500" : mtuOf(await runCommand("ip", ["-o", "link", "show", way]));
    expect(mtuOf(await inPod("ip", "-o", "link", "show", "eth0"))).toBe(expected);
  });

  it("goes to other pods past a firewall that drops what is forwarded", async () => {
    const cut = ["FORWARD", "-o", bridge, "-m", "comment", "--comment", "nodelet test", "-j", "DROP"];
    const filter = async (...args: string[]) => await runCommand("iptables", ["--wait", ...args]);
    await filter("-I", ...cut);
    try {
      expect(await askFromPod(ports.everywhere, gateway)).toBe("");
      // As a policy does, this rule now judges what no other has judged.
      await filter("-A", ...cut);
      await filter("-D", ...cut);
      expect(await askFromPod(ports.everywhere, gateway)).toBe("hello\n");
    } finally {
      await filter("-D", ...cut);
    }
  });

  it("reaches nothing again soon after somebody removed the rules", async () => {
    const before = await rulesOfBridge();
    expect(before).toHaveLength(2);
    // A flush of the table would take the rules of other nodes, which run beside this test.
    for (const rule of before) await raw("-D", ...splitRule(rule).slice(1));
    await expect.poll(async () => (await rulesOfBridge()).toSorted()).toEqual(before.toSorted());
    expect(await askFromPod(loopbackPort())).toBe("");
  });

  it("leaves host ports to whoever removes their rules for a moment only", async () => {
    const nat = async (...args: string[]) => await runCommand("iptables", ["--wait", "--table", "nat", ...args]);
    const { networkName } = computeRuntimeLayout(join(node.directory, "runtime"));
    const rulesOf = async (chain: string) =>
      (await nat("-S", chain)).split("\n").filter((line) => line.startsWith("-A "));
    const own = async () => (await rulesOf("CNI-HOSTPORT-DNAT")).filter((line) => line.includes(networkName));
    const before = await own();
    const chain = /-j (CNI-DN-\w+)/.exec(before[0] ?? "")?.[1] ?? "";
    const behind = await rulesOf(chain);
    // A flush of the table would take the rules of other nodes, which run beside this test.
    for (const rule of before) await nat("-D", ...splitRule(rule).slice(1));
    await expect.poll(own).toEqual(before);
    await nat("-F", chain);
    await expect.poll(async () => await rulesOf(chain)).toEqual(behind);
    for (const port of [ports.everywhere, ports.loopback]) expect(await askFromNode(port)).toBe("hello\n");
    await node.remove("server.json");
    await node.gone("server");
    await expect.poll(own).toEqual([]);
    await expect(rulesOf(chain)).rejects.toThrow();
  });
});
