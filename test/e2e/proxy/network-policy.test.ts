import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { NetworkPolicy, NetworkPolicySpec, Pod } from "../../../src/api/gen/types.ts";
import { isAbort } from "../../../src/base/abort.ts";
import { silentLog } from "../../../src/base/log.ts";
import { createMetrics } from "../../../src/base/metrics.ts";
import { listenHttp } from "../../../src/host/linux/network/listen-http.ts";
import { systemClock } from "../../../src/host/linux/system/system-clock.ts";
import { createServiceProxy } from "../../../src/proxy/compose/service-proxy.ts";
import { ADDRESSES, createPacketNetwork, type PacketNetwork, POD_BRIDGE, POD_PORT } from "./packet-network.ts";
import { createServedObjects } from "./served-objects.ts";

const objects = createServedObjects();
const stop = new AbortController();
let network: PacketNetwork;
let running: Promise<void> = Promise.resolve();

const podOf = (name: string, ...ips: string[]): Pod => ({
  ...{ apiVersion: "v1", kind: "Pod", metadata: { name, namespace: "default", labels: { app: name } } },
  spec: { containers: [{ name: "main", ports: [{ name: "web", containerPort: POD_PORT }] }] },
  status: { phase: "Running", podIPs: ips.map((ip) => ({ ip })) },
});
const policyOf = (spec: NetworkPolicySpec): NetworkPolicy => ({
  ...{ apiVersion: "networking.k8s.io/v1", kind: "NetworkPolicy", metadata: { name: "one", namespace: "default" } },
  spec,
});

beforeAll(async () => {
  network = await createPacketNetwork(`nlq${process.pid % 1000}`);
  objects.put(
    { apiVersion: "v1", kind: "Namespace", metadata: { name: "default", labels: { team: "a" } } },
    podOf("pod1", ADDRESSES.pod1, ADDRESSES.pod1v6),
    podOf("pod2", ADDRESSES.pod2, ADDRESSES.pod2v6),
  );
  const proxy = createServiceProxy(
    {
      ...{ client: objects.client, clock: systemClock, random: { next: () => 0.5 }, log: silentLog },
      ...{ metrics: createMetrics(), programs: network.nodePrograms, listen: listenHttp },
    },
    {
      ...{ nodeName: "node1", clusterCidrs: ["10.77.0.0/16"], serviceCidrs: [], nodePortAddresses: [] },
      ...{ masqueradeAll: false, masqueradeBit: 14, networkPolicies: true, podBridge: POD_BRIDGE },
      ...{ table: "nodelet-proxy-test", families: ["ip", "ip6"] },
    },
  );
  running = proxy.run(stop.signal).catch((error: unknown) => {
    if (!isAbort(error)) throw error;
  });
});

afterAll(async () => {
  stop.abort();
  await running;
  await network.destroy();
});

const LIMIT = { timeout: 60_000 };
/** So long nothing is to come back. */
const SILENCE_MS = 1_000;
const pod1 = { protocol: "tcp", address: ADDRESSES.pod1, port: POD_PORT } as const;
/** Nobody listens there, which the node says at once to whoever gets through to it. */
const closedPort = { protocol: "tcp", address: "10.77.0.1", port: 9 } as const;
/** Who answered, or what was said instead. */
const nameIn = (answer: string) => answer.replace(/^(pod\d) .*$/, "$1");
const fromClient = async () => nameIn(await network.call("client", pod1, SILENCE_MS));
const fromNode = async () => nameIn(await network.call("node", pod1));
const toNode = async () => await network.call("pod2", closedPort, SILENCE_MS);
/** True where the kernel shows packets from pod to pod on one bridge to the rules. */
const seesBridged = async (program: "iptables" | "ip6tables") => {
  const text = await network.onNode("cat", `/proc/sys/net/bridge/bridge-nf-call-${program}`).catch(() => "0");
  return text.trim() === "1";
};
/** Takes the place of whatever policy there was, and waits until a call goes as it is to go. */
async function enforce(spec: NetworkPolicySpec, call: () => Promise<string | undefined>, expected: string) {
  objects.put(policyOf(spec));
  await expect.poll(call, LIMIT).toBe(expected);
}

it("a pod is no router to the others of its bridge, and the node may be (CVE-2020-10749)", async () => {
  await expect.poll(fromClient, LIMIT).toBe("pod1");
  await network.advertise("pod2", "2001:db8:bad::");
  await expect
    .poll(async () => {
      await network.advertise("node", "2001:db8:600d::");
      return await network.heardOf();
    }, LIMIT)
    .toContain("2001:db8:600d::");
  if (await seesBridged("ip6tables")) expect(await network.heardOf()).not.toContain("2001:db8:bad::");
});

describe("a network policy", () => {
  it("lets everything through where there is none", async () => {
    expect(await fromClient()).toBe("pod1");
    expect(await toNode()).toBe("ECONNREFUSED");
  });

  it("that allows nothing closes its pods to all but the node, whose probes come through", async () => {
    await enforce({ podSelector: {} }, fromClient, "no answer");
    expect(await fromNode()).toBe("pod1");
    expect(await toNode()).toBe("ECONNREFUSED");
  });

  it("opens its pods to blocks of addresses, but for exceptions", async () => {
    const from = (cidr: string, except: string[] = []): NetworkPolicySpec => {
      return { podSelector: {}, ingress: [{ from: [{ ipBlock: { cidr, except } }] }] };
    };
    await enforce(from("192.168.0.0/16"), fromClient, "pod1");
    await enforce(from("192.168.0.0/16", ["192.168.77.0/24"]), fromClient, "no answer");
    await enforce(from("10.0.0.0/8"), fromClient, "no answer");
  });

  it("opens ports by number, range and name", async () => {
    const on = (port: number | string, endPort?: number): NetworkPolicySpec => {
      return { podSelector: {}, ingress: [{ ports: [{ port, ...(endPort !== undefined && { endPort }) }] }] };
    };
    await enforce(on(POD_PORT), fromClient, "pod1");
    await enforce(on(POD_PORT + 1), fromClient, "no answer");
    await enforce(on(POD_PORT - 80, POD_PORT), fromClient, "pod1");
    await enforce(on("other"), fromClient, "no answer");
    await enforce(on("web"), fromClient, "pod1");
  });

  it("closes other pods' way to its own, unless a selector has them", async () => {
    const fromPod = async () => nameIn(await network.call("pod2", pod1, SILENCE_MS));
    const of = (app: string): NetworkPolicySpec => {
      return {
        podSelector: { matchLabels: { app: "pod1" } },
        ingress: [{ from: [{ podSelector: { matchLabels: { app } } }] }],
      };
    };
    await enforce(of("pod2"), fromPod, "pod1");
    expect(await fromClient()).toBe("no answer");
    // A kernel that does not show bridged packets to the rules cannot keep pods of one bridge apart.
    await enforce(of("nobody"), fromPod, (await seesBridged("iptables")) ? "no answer" : "pod1");
    expect(await network.call("pod1", pod1)).toMatch(/^pod1/);
  });

  it("holds for IPv6 too", async () => {
    const six = { ...pod1, address: ADDRESSES.pod1v6 };
    const fromPod = async () => nameIn(await network.call("pod2", six, SILENCE_MS));
    await enforce({ podSelector: {} }, fromPod, (await seesBridged("ip6tables")) ? "no answer" : "pod1");
    await enforce({ podSelector: {}, ingress: [{ from: [{ podSelector: {} }] }] }, fromPod, "pod1");
    expect(nameIn(await network.call("node", six))).toBe("pod1");
  });

  it("for egress closes the way out, to the node as well, but not to the cluster's names", async () => {
    const way = { podSelector: { matchLabels: { app: "pod2" } }, policyTypes: ["Egress"] };
    await enforce(way, toNode, "no answer");
    expect(await fromClient()).toBe("pod1");
    expect(await network.call("pod2", { ...closedPort, port: 53 })).toBe("ECONNREFUSED");
    await enforce({ ...way, egress: [{ to: [{ ipBlock: { cidr: "10.77.0.1/32" } }] }] }, toNode, "ECONNREFUSED");
  });

  it("leaves no way by the addresses that pods give themselves on their link", async () => {
    const called = { ...pod1, address: await network.linkLocal("pod1") };
    const toPod = async () => nameIn(await network.call("pod2", called, SILENCE_MS));
    objects.remove(policyOf({}));
    await expect.poll(toPod, LIMIT).toBe("pod1");
    const way = { podSelector: { matchLabels: { app: "pod2" } }, policyTypes: ["Egress"] };
    await enforce(way, toNode, "no answer");
    expect(await network.call("pod2", { ...closedPort, address: await network.linkLocal("node") }, SILENCE_MS)).toBe(
      "no answer",
    );
    expect(await toPod()).toBe((await seesBridged("ip6tables")) ? "no answer" : "pod1");
    await enforce({ podSelector: { matchLabels: { app: "pod1" } } }, fromClient, "no answer");
    expect(await toPod()).toBe((await seesBridged("ip6tables")) ? "no answer" : "pod1");
  });

  it.each(["10.77.0.255", "255.255.255.255", "ff02::1%eth0"])(
    "closes its pods to what is sent to all on their link: %s",
    async (address) => {
      const many = { protocol: "many", address, port: POD_PORT } as const;
      const toMany = async () => nameIn(await network.call("pod2", many, SILENCE_MS));
      const program = address.includes(":") ? "ip6tables" : "iptables";
      objects.remove(policyOf({}));
      await expect.poll(toMany, LIMIT).toBe("pod1");
      await enforce({ podSelector: { matchLabels: { app: "pod1" } } }, fromClient, "no answer");
      expect(await toMany()).toBe((await seesBridged(program)) ? "no answer" : "pod1");
    },
  );

  it("holds for a pod that starts, before anybody has told its address", async () => {
    const told = podOf("pod1", ADDRESSES.pod1);
    objects.put({ ...told, spec: { containers: [], nodeName: "node1" }, status: { phase: "Pending" } });
    await enforce({ podSelector: { matchLabels: { app: "pod1" } } }, fromClient, "no answer");
    expect(nameIn(await network.call("client", { ...pod1, address: ADDRESSES.pod2 }))).toBe("pod2");
    objects.put(told);
    await enforce({ podSelector: {}, ingress: [{}] }, fromClient, "pod1");
  });

  it("is gone when it is deleted", async () => {
    await enforce({ podSelector: {}, policyTypes: ["Ingress", "Egress"] }, fromClient, "no answer");
    objects.remove(policyOf({}));
    await expect.poll(fromClient, LIMIT).toBe("pod1");
    expect(await network.onNode("nft", "list", "table", "ip", "nodelet-proxy-test")).not.toContain("policy-");
  });
});
