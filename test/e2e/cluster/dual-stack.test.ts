import { readFile, writeFile } from "node:fs/promises";
import { isIPv4, isIPv6 } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isRunning, RUN_FOR_EVER, shellPod } from "../pods.ts";
import { type ClusterNode, createClusterNode } from "./cluster-node.ts";
import { settlesOn } from "./settles.ts";

const disabled = await readFile("/proc/sys/net/ipv6/conf/all/disable_ipv6", "utf8").catch(() => "1");
const hasIpv6 = disabled.trim() === "0";
if (!hasIpv6) console.warn("SKIPPED: pods of two address families; this machine has no IPv6");

describe.runIf(hasIpv6)("pods with addresses of both families", () => {
  let world: ClusterNode;
  beforeAll(async () => {
    world = await createClusterNode();
    // The runtime follows its directory of networks, where a network may be installed later.
    const path = join(world.node.directory, "runtime", "cni", "10-nodelet.conflist");
    const list = JSON.parse(await readFile(path, "utf8"));
    const subnet = `fd${(process.pid % 256).toString(16).padStart(2, "0")}:e2e::/64`;
    list.plugins[0].ipam.ranges.push([{ subnet }]);
    list.plugins[0].ipam.routes.push({ dst: "::/0" });
    await writeFile(path, JSON.stringify(list));
    await world.node.start(world.flags);
  });
  afterAll(async () => await world?.destroy());

  it("are told of both, primary first, in their status, environment and hosts file", async () => {
    const field = (name: string, fieldPath: string) => ({ name, valueFrom: { fieldRef: { fieldPath } } });
    const env = [field("POD_IP", "status.podIP"), field("POD_IPS", "status.podIPs")];
    await world.create(shellPod("both", RUN_FOR_EVER, {}, { env }));
    const { status } = await world.pod("both", isRunning);
    const addresses = (status?.podIPs ?? []).map(({ ip = "" }) => ip);
    expect(addresses.map((ip) => [isIPv4(ip), isIPv6(ip)])).toEqual([
      [true, false],
      [false, true],
    ]);
    expect(status?.podIP).toBe(addresses[0]);
    expect(await world.shell("both", 'echo "$POD_IP $POD_IPS"')).toBe(`${addresses[0]} ${addresses.join(",")}\n`);
    const hosts = await world.exec("both", ["cat", "/etc/hosts"]);
    expect(hosts).toContain(addresses.map((ip) => `${ip}\tboth\n`).join(""));
    expect(await world.exec("both", ["ip", "-6", "addr"])).toContain(addresses[1]);
  });

  it("serve on both", async () => {
    const serve = "mkdir /tmp/www; echo hello > /tmp/www/index.html; exec httpd -f -p 8080 -h /tmp/www";
    await world.create(shellPod("server", serve));
    const { status } = await world.pod("server", isRunning);
    for (const { ip = "" } of status?.podIPs ?? []) {
      const url = `http://${isIPv6(ip) ? `[${ip}]` : ip}:8080/`;
      const get = async () =>
        await fetch(url).then(
          async (answer) => await answer.text(),
          () => "",
        );
      await settlesOn("hello\n", get, 10_000);
    }
  });

  it("keep both over a restart of the node agent", async () => {
    const before = (await world.read("both"))?.status;
    await world.node.kill();
    await world.node.start(world.flags);
    await world.create(shellPod("after", RUN_FOR_EVER));
    expect((await world.pod("after", isRunning)).status?.podIPs).toHaveLength(2);
    expect((await world.read("both"))?.status).toEqual(before);
  });
});
