import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createSeededRandom } from "../../../base/random.ts";
import type { CertificateFacts } from "../../../pki/read-certificate.ts";
import { computeRotationTime, computeServingSubject, findMissing, isSameSubject } from "./rotation-plan.ts";

const FACTS: CertificateFacts = {
  commonName: "system:node:node-1",
  organizations: ["system:nodes"],
  dnsNames: ["node-1", "node-1.example"],
  ipAddresses: ["10.0.0.1", "2001:db8::1"],
  emailAddresses: [],
  isAuthority: false,
  notBefore: 0,
  notAfter: 1,
};
const SUBJECT = { commonName: "system:node:node-1", organizations: ["system:nodes"] };

it("rotation is at 70 to 90 % of the certificate's life", () => {
  const times = fc.record({
    notBefore: fc.nat(2 ** 40),
    life: fc.integer({ min: 1_000, max: 2 ** 40 }),
    seed: fc.nat(),
  });
  fc.assert(
    fc.property(times, ({ notBefore, life, seed }) => {
      const at = computeRotationTime({ notBefore, notAfter: notBefore + life }, createSeededRandom(seed));
      expect((at - notBefore) / life).toBeGreaterThanOrEqual(0.7 - 1e-6);
      expect((at - notBefore) / life).toBeLessThanOrEqual(0.9 + 1e-6);
    }),
  );
});

describe("what a certificate lacks", () => {
  it.each([
    ["nothing", {}, []],
    ["nothing when it has more than was asked for", { dnsNames: ["node-1"] }, []],
    ["nothing when an address is written another way", { ipAddresses: ["2001:DB8:0::1"] }, []],
    ["a DNS name", { dnsNames: ["node-1", "node-2"] }, ["DNS name node-2"]],
    ["an address", { ipAddresses: ["10.0.0.2"] }, ["IP address 10.0.0.2"]],
    ["an organization", { organizations: ["system:masters"] }, ["organization system:masters"]],
    ["the common name", { commonName: "system:node:node-2" }, ["common name system:node:node-2"]],
  ])("is %s", (_what, change, missing) => {
    expect(findMissing(FACTS, { ...SUBJECT, ...change })).toEqual(missing);
  });
});

describe("two subjects", () => {
  it.each([
    ["in another order are the same", { dnsNames: ["a", "b"] }, { dnsNames: ["b", "a"] }, true],
    ["with addresses in another form are the same", { ipAddresses: ["::1"] }, { ipAddresses: ["0::1"] }, true],
    ["with other names are not", { dnsNames: ["a"] }, { dnsNames: ["b"] }, false],
    ["of a name and of none are not", { dnsNames: ["a"] }, {}, false],
  ])("%s", (_what, a, b, isSame) => {
    expect(isSameSubject({ ...SUBJECT, ...a }, { ...SUBJECT, ...b })).toBe(isSame);
  });

  it("of which one is not known are not the same", () => {
    expect([isSameSubject(undefined, SUBJECT), isSameSubject(undefined, undefined)]).toEqual([false, true]);
  });
});

describe("the subject of a serving certificate", () => {
  it("names the node's addresses, each once and in a stable order", () => {
    const subject = computeServingSubject("node-1", [
      { type: "InternalIP", address: "10.0.0.2" },
      { type: "ExternalIP", address: "10.0.0.1" },
      { type: "Hostname", address: "node-1" },
      { type: "InternalDNS", address: "node-1" },
      { type: "ExternalDNS", address: "a.example" },
      { type: "InternalIP", address: "fe80::1%eth0" },
      { type: "InternalIP", address: "no address" },
      { type: "ExternalDNS", address: "" },
    ]);
    expect(subject).toEqual({ ...SUBJECT, dnsNames: ["a.example", "node-1"], ipAddresses: ["10.0.0.1", "10.0.0.2"] });
  });

  it("may have a host name that is an address", () => {
    expect(computeServingSubject("node-1", [{ type: "Hostname", address: "::1" }])).toMatchObject({
      dnsNames: [],
      ipAddresses: ["::1"],
    });
  });

  it("is not known without an address", () => {
    expect(computeServingSubject("node-1", [{ type: "Hostname", address: "node-1" }])).toBeUndefined();
  });
});
