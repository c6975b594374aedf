import { describe, expect, it } from "vitest";
import type { PodSpec } from "../../../api/gen/types.ts";
import { computePodHostname } from "./hostname.ts";

const hostnameOf = (name: string, spec: Partial<PodSpec> = {}) =>
  computePodHostname({ metadata: { name, namespace: "ns" }, spec: { containers: [], ...spec } }, "cluster.local");

describe("computePodHostname", () => {
  it.each<{ why: string; name?: string; spec?: Partial<PodSpec>; expected: [string, string, string] }>([
    { why: "the pod's name by default", expected: ["web", "", "web"] },
    { why: "spec.hostname wins", spec: { hostname: "custom" }, expected: ["custom", "", "custom"] },
    {
      why: "a subdomain gives a domain, the kernel still knows the short name",
      spec: { hostname: "h", subdomain: "sub" },
      expected: ["h", "sub.ns.svc.cluster.local", "h"],
    },
    {
      why: "setHostnameAsFQDN tells the kernel the full name",
      spec: { hostname: "h", subdomain: "sub", setHostnameAsFQDN: true },
      expected: ["h", "sub.ns.svc.cluster.local", "h.sub.ns.svc.cluster.local"],
    },
    {
      why: "which without a subdomain is the short one",
      spec: { setHostnameAsFQDN: true },
      expected: ["web", "", "web"],
    },
    { why: "63 characters fit", name: "x".repeat(63), expected: ["x".repeat(63), "", "x".repeat(63)] },
    {
      why: "a longer name is cut, and loses the separators it would end with",
      name: `${"x".repeat(60)}-.-yy`,
      expected: ["x".repeat(60), "", "x".repeat(60)],
    },
    {
      why: "an override replaces everything",
      spec: { hostname: "h", subdomain: "sub", hostnameOverride: "a.example.org" },
      expected: ["a.example.org", "", "a.example.org"],
    },
  ])("$why", ({ name = "web", spec, expected: [hostname, domain, kernelHostname] }) => {
    expect(hostnameOf(name, spec)).toEqual({ ok: true, hostname, domain, kernelHostname });
  });

  it.each<{ why: string; name?: string; spec?: Partial<PodSpec>; error: RegExp }>([
    {
      why: "a hostname that is no label",
      spec: { hostname: "a.b" },
      error: /^pod Hostname "a.b" is not a valid DNS label: must not contain dots/,
    },
    {
      why: "a subdomain that is no label",
      spec: { subdomain: "A" },
      error: /^pod Subdomain "A" is not a valid DNS label: a lowercase RFC 1123 label must/,
    },
    {
      why: "an override that is no DNS name",
      spec: { hostnameOverride: "a_b" },
      error: /^pod HostnameOverride "a_b" is not/,
    },
    {
      why: "an override that the kernel cannot hold",
      spec: { hostnameOverride: "x".repeat(65) },
      error: /not a valid DNS subdomain: must be no more than 64 bytes/,
    },
    { why: "nothing left after the cut", name: "-".repeat(70), error: /was invalid/ },
    {
      why: "a full name that the kernel cannot hold",
      name: "x".repeat(50),
      spec: { subdomain: "sub", setHostnameAsFQDN: true },
      error: /is too long \(64 characters is the max, 75 characters requested\)/,
    },
  ])("refuses $why", ({ name = "web", spec, error }) => {
    expect(hostnameOf(name, spec)).toEqual({ ok: false, error: expect.stringMatching(error) });
  });
});
