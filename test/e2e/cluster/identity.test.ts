import { readFile } from "node:fs/promises";
import { hostname } from "node:os";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { clusterServersUnderTest } from "../../clusters/cluster-servers.ts";
import { claimPort } from "../../machine/claims.ts";
import { isRunning, RUN_FOR_EVER, shellPod } from "../pods.ts";
import { type ClusterNode, createClusterNode } from "./cluster-node.ts";
import { settlesOn } from "./settles.ts";

const SERVERS = await clusterServersUnderTest();

const SEARCH = "default.svc.cluster.local svc.cluster.local cluster.local";

describe.each(SERVERS)("what pods are called and whom they can reach, on $name", (server) => {
  let world: ClusterNode;
  let hostDns: string;
  beforeAll(async () => {
    world = await createClusterNode({ server });
    hostDns = await readFile("/etc/resolv.conf", "utf8");
    await world.node.start(world.flags);
  });
  afterAll(async () => await world?.destroy());

  const run = async (name: string, spec: object, container: object = {}) => {
    await world.create(shellPod(name, RUN_FOR_EVER, spec, container));
    return await world.pod(name, isRunning);
  };

  it.concurrent.each([
    ["plain", {}, "plain", "plain"],
    ["named", { hostname: "first" }, "first", "first"],
    ["sub", { hostname: "first", subdomain: "web" }, "first", "first.web.default.svc.cluster.local\tfirst"],
    [
      "fqdn",
      { hostname: "first", subdomain: "web", setHostnameAsFQDN: true },
      "first.web.default.svc.cluster.local",
      "first.web.default.svc.cluster.local\tfirst",
    ],
    [`long-${"x".repeat(57)}.yz`, {}, `long-${"x".repeat(57)}`, `long-${"x".repeat(57)}`],
  ])("pod %s with %j is called %s", async (name, spec, expected, names) => {
    const { status } = await run(name, spec);
    expect(await world.exec(name, ["hostname"])).toBe(`${expected}\n`);
    expect(await world.exec(name, ["cat", "/etc/hostname"])).toBe(`${expected}\n`);
    expect(await world.exec(name, ["cat", "/etc/hosts"])).toBe(
      [
        "# Kubernetes-managed hosts file.",
        "127.0.0.1\tlocalhost",
        "::1\tlocalhost ip6-localhost ip6-loopback",
        "fe00::0\tip6-localnet",
        "fe00::0\tip6-mcastprefix",
        "fe00::1\tip6-allnodes",
        "fe00::2\tip6-allrouters",
        `${status?.podIP}\t${names}`,
        "",
      ].join("\n"),
    );
  });

  it.concurrent("a name that is too long to be a host's is an error that says so, and not cut", async () => {
    const spec = { hostname: "h".repeat(40), subdomain: "s".repeat(40), setHostnameAsFQDN: true };
    await world.create(shellPod("too-long", RUN_FOR_EVER, spec));
    const fqdn = `${"h".repeat(40)}.${"s".repeat(40)}.default.svc.cluster.local`;
    const why = `failed to construct FQDN from pod hostname and cluster domain, FQDN ${fqdn} is too long (64 characters is the max, ${fqdn.length} characters requested)`;
    const message = `Failed to create pod sandbox: ${why}`;
    await world.event("too-long", { type: "Warning", reason: "FailedCreatePodSandBox", message });
  });

  it.concurrent("the hosts file has the pod's aliases", async () => {
    const hostAliases = [
      { ip: "192.0.2.1", hostnames: ["a.example", "b.example"] },
      { ip: "192.0.2.2", hostnames: ["c.example"] },
    ];
    await run("aliases", { hostAliases });
    const hosts = await world.exec("aliases", ["cat", "/etc/hosts"]);
    expect(hosts).toMatch(
      /\n\n# Entries added by HostAliases\.\n192\.0\.2\.1\ta\.example\tb\.example\n192\.0\.2\.2\tc\.example\n$/,
    );
  });

  it.concurrent.each([
    ["cluster-first", {}, [`search ${SEARCH}`, "nameserver 10.96.0.10", "options ndots:5"]],
    [
      "none",
      {
        dnsPolicy: "None",
        dnsConfig: { nameservers: ["192.0.2.53"], searches: ["a.example"], options: [{ name: "edns0" }] },
      },
      ["search a.example", "nameserver 192.0.2.53", "options edns0"],
    ],
    [
      "config",
      {
        dnsConfig: {
          nameservers: ["192.0.2.53"],
          searches: ["a.example", "cluster.local"],
          options: [{ name: "ndots", value: "2" }, { name: "edns0" }],
        },
      },
      [`search ${SEARCH} a.example`, "nameserver 10.96.0.10", "nameserver 192.0.2.53", "options ndots:2 edns0"],
    ],
  ])("DNS of pod %s", async (name, spec, lines) => {
    await run(`dns-${name}`, spec);
    const found = (await world.exec(`dns-${name}`, ["cat", "/etc/resolv.conf"])).trim().split("\n");
    // Cluster policies go on with what the host searches; what it is, is the machine's affair.
    const hostSearches = hostDns.match(/^search\s+(.*)$/m)?.[1]?.trim();
    const expected = lines.map((line) =>
      line.startsWith(`search ${SEARCH}`) && hostSearches ? line.replace(SEARCH, `${SEARCH} ${hostSearches}`) : line,
    );
    expect(found.toSorted()).toEqual(expected.toSorted());
  });

  it.concurrent("policy Default is the host's own DNS", async () => {
    await run("dns-default", { dnsPolicy: "Default" });
    const servers = (text: string) =>
      text
        .split("\n")
        .filter((line) => line.startsWith("nameserver"))
        .slice(0, 3);
    expect(servers(await world.exec("dns-default", ["cat", "/etc/resolv.conf"]))).toEqual(servers(hostDns));
  });

  it.concurrent("a pod on the host's network has the host's name, addresses and hosts file", async () => {
    const { status } = await run("host-network", { hostNetwork: true });
    expect(status?.podIP).toBe(status?.hostIP);
    // A status has them since 1.28.
    if (server.minor >= 28) expect(status?.podIPs).toEqual(status?.hostIPs);
    expect(await world.exec("host-network", ["hostname"])).toBe(`${hostname()}\n`);
    const hosts = await world.exec("host-network", ["cat", "/etc/hosts"]);
    expect(hosts).toBe(`# Kubernetes-managed hosts file (host network).\n${await readFile("/etc/hosts", "utf8")}`);
  });

  it.concurrent("a host port leads to the container", async () => {
    const hostPort = await claimPort();
    const serve = "mkdir /tmp/www; echo hello > /tmp/www/index.html; exec httpd -f -p 8080 -h /tmp/www";
    const { status } = await run(
      "host-port",
      {},
      { command: ["sh", "-c", serve], ports: [{ containerPort: 8080, hostPort }] },
    );
    const read = async (address: string) =>
      await fetch(`http://${address}/`).then(
        async (answer) => await answer.text(),
        () => "",
      );
    await settlesOn("hello\n", () => read(`${status?.podIP}:8080`), 20_000);
    await settlesOn("hello\n", () => read(`${status?.hostIP}:${hostPort}`), 20_000);
    expect(status?.hostIP).toBe(
      (await world.nodeObject()).status?.addresses?.find(({ type }) => type === "InternalIP")?.address,
    );
  });

  it.concurrent("process, IPC and host namespaces are shared as asked", async () => {
    await run("shared-pids", { shareProcessNamespace: true });
    expect(await world.exec("shared-pids", ["cat", "/proc/1/comm"])).toBe("pause\n");
    await run("own-pids", {});
    expect(await world.exec("own-pids", ["cat", "/proc/1/comm"])).toBe("sh\n");
    await run("host-pids", { hostPID: true, hostIPC: true });
    const own = await readFile("/proc/sys/kernel/random/boot_id", "utf8");
    expect(own).toBe(await world.exec("host-pids", ["cat", "/proc/sys/kernel/random/boot_id"]));
    expect((await world.shell("host-pids", "ls -d /proc/[0-9]* | wc -l")).trim()).not.toMatch(/^[0-9]$/);
  });
});
