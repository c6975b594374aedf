import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { runCommand } from "../../src/cluster/processes/run-command.ts";
import { PROGRAM } from "./node-under-test.ts";

/** The rule as iptables prints it. */
const MARTIANS =
  '-A KUBE-FIREWALL ! -s 127.0.0.0/8 -d 127.0.0.0/8 -m comment --comment "block incoming localnet connections" -m conntrack ! --ctstate RELATED,ESTABLISHED,DNAT -j DROP';

/** The namespace goes with the process: nothing of it stays on the machine. */
describe("a node agent in a network namespace of its own", () => {
  let directory: string;
  let agent: ChildProcess;
  let output = "";

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "nodelet-chains-"));
    const flags = [
      `--root-dir=${directory}`,
      `--cert-dir=${directory}/pki`,
      `--container-runtime-endpoint=unix://${directory}/none.sock`,
      ...["--healthz-port=0", "--fail-swap-on=false", "--cgroups-per-qos=false", "--enforce-node-allocatable="],
      "--nodelet-keep-kernel-tunables",
    ];
    agent = spawn("unshare", ["--net", process.execPath, PROGRAM, "kubelet", ...flags], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    agent.stderr?.on("data", (chunk: Buffer) => {
      output += chunk.toString("utf8");
    });
    await vi.waitFor(() => expect(output).toMatch(/Initialized iptables rules.*IPv6/s), { timeout: 60_000 });
  });
  afterAll(async () => {
    const end = once(agent, "exit");
    agent.kill("SIGTERM");
    expect(await end).toEqual([0, null]);
    await rm(directory, { recursive: true, force: true });
  });

  const inNamespace = async (program: "iptables" | "ip6tables", ...args: string[]) =>
    await runCommand("nsenter", ["--target", String(agent.pid), "--net", program, "--wait", ...args]);

  it("has the chains of both families, and drops martian packets of IPv4", async () => {
    for (const program of ["iptables", "ip6tables"] as const) {
      expect(await inNamespace(program, "-t", "mangle", "-S")).toContain("-N KUBE-IPTABLES-HINT\n");
    }
    const rules = (await inNamespace("iptables", "-S")).split("\n");
    expect(rules).toEqual(
      expect.arrayContaining(["-A INPUT -j KUBE-FIREWALL", "-A OUTPUT -j KUBE-FIREWALL", MARTIANS]),
    );
    expect(await inNamespace("ip6tables", "-S")).not.toContain("KUBE");
  });

  it("puts them back when somebody removes them", async () => {
    await inNamespace("iptables", "-F", "INPUT");
    await inNamespace("iptables", "-F", "KUBE-FIREWALL");
    await inNamespace("ip6tables", "-t", "mangle", "-X", "KUBE-IPTABLES-HINT");
    await expect.poll(async () => await inNamespace("iptables", "-S"), { timeout: 90_000 }).toContain(MARTIANS);
    await expect
      .poll(async () => await inNamespace("ip6tables", "-t", "mangle", "-S"), { timeout: 90_000 })
      .toContain("KUBE-IPTABLES-HINT");
    expect((await inNamespace("iptables", "-S")).match(/-j KUBE-FIREWALL/g)).toHaveLength(2);
    expect(output).toContain("Iptables rules were removed and are back");
  });
});
