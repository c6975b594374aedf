import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isAbort } from "../../../src/base/abort.ts";
import { silentLog } from "../../../src/base/log.ts";
import { createMetrics } from "../../../src/base/metrics.ts";
import { listenHttp } from "../../../src/host/linux/network/listen-http.ts";
import { systemClock } from "../../../src/host/linux/system/system-clock.ts";
import { createServiceProxy, removeServiceRules } from "../../../src/proxy/compose/service-proxy.ts";
import { ADDRESSES, createPacketNetwork, type PacketNetwork, POD_PORT } from "./packet-network.ts";
import { createServedObjects, serviceOf, sliceOf } from "./served-objects.ts";

const TABLE = "nodelet-proxy-test";
const OUTSIDE = "203.0.113.7";
const objects = createServedObjects();
const stop = new AbortController();
let network: PacketNetwork;
let running: Promise<void> = Promise.resolve();

beforeAll(async () => {
  network = await createPacketNetwork(`nlp${process.pid % 1000}`);
  const proxy = createServiceProxy(
    {
      client: objects.client,
      clock: systemClock,
      random: { next: () => 0.5 },
      log: silentLog,
      metrics: createMetrics(),
      programs: network.nodePrograms,
      listen: listenHttp,
    },
    {
      nodeName: "node1",
      clusterCidrs: ["10.77.0.0/24", "fd77::/64"],
      serviceCidrs: ["10.97.0.0/16"],
      nodePortAddresses: [],
      // Packets from pod to pod on one bridge come back by the node only where the kernel passes bridged packets to it.
      masqueradeAll: true,
      masqueradeBit: 14,
      networkPolicies: false,
      table: TABLE,
      families: ["ip", "ip6"],
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

const tcp = (address: string, port = 80) => ({ protocol: "tcp", address, port }) as const;
const udp = (address: string, port = 80) => ({ protocol: "udp", address, port }) as const;
/** So long nothing is to come back. */
const SILENCE_MS = 1_000;
const LIMIT = { timeout: 60_000 };
const podOf = (answer: string) => answer.split(" ")[0];

describe("a service", () => {
  it("answers from pods, from the node and from outside, over TCP and UDP", async () => {
    objects.put(
      serviceOf("web", "10.97.0.10", {
        type: "NodePort",
        externalIPs: [OUTSIDE],
        ports: [
          { name: "tcp", port: 80, protocol: "TCP", nodePort: 30_080 },
          { name: "udp", port: 80, protocol: "UDP", nodePort: 30_080 },
        ],
      }),
      sliceOf("web", POD_PORT, [ADDRESSES.pod1]),
    );
    await expect.poll(async () => podOf(await network.call("node", tcp("10.97.0.10"))), LIMIT).toBe("pod1");
    expect(podOf(await network.call("pod2", tcp("10.97.0.10")))).toBe("pod1");
    expect(podOf(await network.call("pod2", udp("10.97.0.10")))).toBe("pod1");
    expect(podOf(await network.call("client", tcp(ADDRESSES.node, 30_080)))).toBe("pod1");
    expect(podOf(await network.call("client", udp(ADDRESSES.node, 30_080)))).toBe("pod1");
    expect(podOf(await network.call("client", tcp(OUTSIDE)))).toBe("pod1");
  });

  it("answers the pod behind it, as somebody else", async () => {
    expect(await network.call("pod1", tcp("10.97.0.10"))).toBe("pod1 10.77.0.1");
  });

  it("goes to other endpoints as soon as they are known", async () => {
    objects.put(sliceOf("web", POD_PORT, [ADDRESSES.pod2]));
    await expect.poll(async () => podOf(await network.call("pod1", tcp("10.97.0.10"))), LIMIT).toBe("pod2");
  });

  it("uses all of its endpoints", async () => {
    objects.put(sliceOf("web", POD_PORT, [ADDRESSES.pod1], [ADDRESSES.pod2]));
    const seen = new Set<string | undefined>();
    await expect
      .poll(async () => [...seen.add(podOf(await network.call("node", tcp("10.97.0.10"))))].sort(), LIMIT)
      .toEqual(["pod1", "pod2"]);
  });

  it("refuses at once without endpoints, and at a port that it does not have", async () => {
    objects.put(sliceOf("web", POD_PORT));
    await expect.poll(async () => await network.call("pod1", tcp("10.97.0.10")), LIMIT).toBe("ECONNREFUSED");
    expect(await network.call("node", tcp("10.97.0.10"))).toBe("ECONNREFUSED");
    expect(await network.call("pod1", tcp("10.97.0.10", 81))).toBe("ECONNREFUSED");
  });

  it("keeps a client with its endpoint where that is asked for", async () => {
    objects.put(
      serviceOf("sticky", "10.97.0.11", { sessionAffinity: "ClientIP" }),
      sliceOf("sticky", POD_PORT, [ADDRESSES.pod1], [ADDRESSES.pod2]),
    );
    await expect.poll(async () => podOf(await network.call("node", tcp("10.97.0.11"))), LIMIT).toMatch(/^pod/);
    const first = podOf(await network.call("node", tcp("10.97.0.11")));
    for (let again = 0; again < 6; again++) {
      expect(podOf(await network.call("node", tcp("10.97.0.11")))).toBe(first);
    }
  });

  it("leaves a client with the endpoint that it went to while its first one was away", async () => {
    const call = async () => podOf(await network.call("node", tcp("10.97.0.11")));
    const first = await call();
    const [stays, other] = first === "pod1" ? [ADDRESSES.pod2, "pod2"] : [ADDRESSES.pod1, "pod1"];
    objects.put(sliceOf("sticky", POD_PORT, [stays]));
    await expect.poll(call, LIMIT).toBe(other);
    objects.put(sliceOf("sticky", POD_PORT, [ADDRESSES.pod1], [ADDRESSES.pod2]));
    const chains = async () => await network.onNode("nft", "list", "chains", "ip");
    await expect.poll(async () => (await chains()).match(/chain endpoint-/g)?.length, LIMIT).toBe(2);
    for (let again = 0; again < 6; again++) expect(await call()).toBe(other);
  });

  it("of the policy Local shows the client's own address, and drops where no endpoint is here", async () => {
    const ports = [{ name: "tcp", port: 80, protocol: "TCP", nodePort: 30_081 }];
    objects.put(
      serviceOf("near", "10.97.0.12", { type: "NodePort", externalTrafficPolicy: "Local", ports }),
      sliceOf("near", POD_PORT, [ADDRESSES.pod1]),
    );
    await expect
      .poll(async () => await network.call("client", tcp(ADDRESSES.node, 30_081)), LIMIT)
      .toBe(`pod1 ${ADDRESSES.client}`);
    objects.put(sliceOf("near", POD_PORT, [ADDRESSES.pod1, { nodeName: "node2" }]));
    const silence = async () => await network.call("client", tcp(ADDRESSES.node, 30_081), SILENCE_MS);
    await expect.poll(silence, LIMIT).toBe("no answer");
    expect(podOf(await network.call("pod2", tcp("10.97.0.12")))).toBe("pod1");
  });

  it("answers over IPv6", async () => {
    objects.put(serviceOf("six", "fd97::10"), sliceOf("six", POD_PORT, [ADDRESSES.pod1v6]));
    await expect.poll(async () => podOf(await network.call("pod2", tcp("fd97::10"))), LIMIT).toBe("pod1");
  });

  it("leaves nothing behind when it is deleted", async () => {
    for (const name of ["web", "sticky", "near", "six"]) {
      objects.remove(serviceOf(name, ""));
      objects.remove(sliceOf(name, POD_PORT));
    }
    const rules = async () => await network.onNode("nft", "list", "table", "ip", TABLE);
    await expect.poll(async () => /10\.97\.0\.1|10\.77\.0\.1/.test(await rules()), LIMIT).toBe(false);
  });
});

describe("the table", () => {
  it("is removed as a whole, and what others made stays", async () => {
    await network.onNode("nft", "add", "table", "ip", "others");
    stop.abort();
    await running;
    await removeServiceRules(network.nodePrograms, TABLE);
    await removeServiceRules(network.nodePrograms, TABLE);
    expect((await network.onNode("nft", "list", "tables")).trim()).toBe("table ip others");
  });
});
