import { describe, expect, it } from "vitest";
import type { PodSpec } from "../../../api/gen/types.ts";
import { computePodDns, type NodeDns } from "./dns.ts";

const NODE: NodeDns = {
  clusterDns: ["10.96.0.10"],
  clusterDomain: "cluster.local",
  hostResolvConf: { nameservers: ["192.0.2.53"], searches: ["host.example"], options: ["rotate"] },
  hostIps: ["192.0.2.2", "2001:db8::2"],
};
const HOST = NODE.hostResolvConf;
const CLUSTER = {
  nameservers: ["10.96.0.10"],
  searches: ["ns.svc.cluster.local", "svc.cluster.local", "cluster.local", "host.example"],
  options: ["ndots:5"],
};

const dnsOf = (spec: Partial<PodSpec>, node: Partial<NodeDns> = {}) =>
  computePodDns(
    { metadata: { name: "p", namespace: "ns", uid: "u" }, spec: { containers: [], ...spec } },
    { ...NODE, ...node },
  );

describe("dnsPolicy", () => {
  it.each<{ why: string; spec: Partial<PodSpec>; node?: Partial<NodeDns>; expected: unknown }>([
    { why: "ClusterFirst", spec: { dnsPolicy: "ClusterFirst" }, expected: CLUSTER },
    {
      why: "ClusterFirst on the host network is Default",
      spec: { dnsPolicy: "ClusterFirst", hostNetwork: true },
      expected: HOST,
    },
    {
      why: "ClusterFirstWithHostNet",
      spec: { dnsPolicy: "ClusterFirstWithHostNet", hostNetwork: true },
      expected: CLUSTER,
    },
    { why: "Default", spec: { dnsPolicy: "Default" }, expected: HOST },
    { why: "None", spec: { dnsPolicy: "None" }, expected: { nameservers: [], searches: [], options: [] } },
    {
      why: "ClusterFirst without a cluster domain searches as the host does",
      spec: { dnsPolicy: "ClusterFirst" },
      node: { clusterDomain: "" },
      expected: { ...CLUSTER, searches: ["host.example"] },
    },
    {
      why: "Default on a node that uses no resolv.conf asks the node itself",
      spec: { dnsPolicy: "Default" },
      node: { hostResolvConf: undefined },
      expected: { nameservers: ["127.0.0.1", "::1"], searches: ["."], options: [] },
    },
    {
      why: "also when the node has no address",
      spec: { dnsPolicy: "Default" },
      node: { hostResolvConf: undefined, hostIps: [] },
      expected: { nameservers: ["127.0.0.1"], searches: ["."], options: [] },
    },
  ])("$why", ({ spec, node, expected }) => {
    expect(dnsOf(spec, node)).toEqual({ dns: expected, warnings: [] });
  });

  it("falls back to Default with a warning when there is no cluster DNS", () => {
    const { dns, warnings } = dnsOf({ dnsPolicy: "ClusterFirst" }, { clusterDns: [] });
    expect(dns).toEqual(HOST);
    expect(warnings).toEqual([
      {
        reason: "MissingClusterDNS",
        message: expect.stringMatching(/^pod: "p_ns\(u\)"\. .*Falling back to "Default"/),
      },
    ]);
  });
});

describe("dnsConfig", () => {
  it("adds to the policy's settings, without repeating, its options winning", () => {
    const dnsConfig = {
      nameservers: ["192.0.2.60", "10.96.0.10"],
      searches: ["a.example", "cluster.local"],
      options: [{ name: "ndots", value: "2" }, { name: "edns0" }],
    };
    expect(dnsOf({ dnsPolicy: "ClusterFirst", dnsConfig }).dns).toEqual({
      nameservers: ["10.96.0.10", "192.0.2.60"],
      searches: [...CLUSTER.searches, "a.example"],
      options: ["ndots:2", "edns0"],
    });
  });

  it.each<{ why: string; searches: string[]; kept: number }>([
    { why: "32 searches", searches: Array.from({ length: 40 }, (_, index) => `s${index}`), kept: 32 },
    { why: "253 characters each", searches: ["a.example", "x".repeat(254)], kept: 1 },
    {
      why: "2048 characters in all",
      searches: Array.from({ length: 12 }, (_, index) => `${"y".repeat(200)}${index}`),
      kept: 10,
    },
  ])("is cut to $why, with a warning", ({ searches, kept }) => {
    const { dns, warnings } = dnsOf({ dnsPolicy: "None", dnsConfig: { searches } });
    expect(dns.searches).toEqual(searches.slice(0, kept));
    expect(warnings).toEqual([{ reason: "DNSConfigForming", message: expect.stringContaining("Search Line limits") }]);
  });

  it("is cut to three nameservers, with a warning", () => {
    const nameservers = ["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4"];
    const { dns, warnings } = dnsOf({ dnsPolicy: "None", dnsConfig: { nameservers } });
    expect(dns.nameservers).toEqual(nameservers.slice(0, 3));
    expect(warnings).toEqual([
      {
        reason: "DNSConfigForming",
        message: expect.stringMatching(/nameserver line is: 192.0.2.1 192.0.2.2 192.0.2.3$/),
      },
    ]);
  });
});
