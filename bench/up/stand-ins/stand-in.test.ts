import { describe, expect, it } from "vitest";
import { findStandIns, nameMissing } from "./stand-in.ts";

const ALL = { KUBE_PROXY_BIN: "/proxy", COREDNS_BIN: "/dns", KUBE_CONTROLLER_MANAGER_BIN: "/controllers" };

describe("findStandIns", () => {
  it.each([
    ["up-endpoints", ["/proxy"]],
    ["up-dns", ["/dns"]],
    ["up-deployment", ["/controllers"]],
    ["up-idle", ["/proxy", "/dns", "/controllers"]],
  ] as const)("has the programs for what %s measures, and no other", (name, binaries) => {
    expect(findStandIns(name, ALL).map(({ binary }) => binary)).toEqual(binaries);
  });

  it("has those alone that the environment names", () => {
    expect(findStandIns("up-idle", { COREDNS_BIN: "/dns", KUBE_PROXY_BIN: "" })).toEqual([
      { part: "dns", name: "CoreDNS", binary: "/dns" },
    ]);
  });
});

describe("nameMissing", () => {
  it("says once of each program that the cases want and the environment does not name why it is not there", () => {
    expect(nameMissing(["up-idle", "up-dns"], { KUBE_PROXY_BIN: "/proxy" })).toEqual([
      "no CoreDNS beside it, for COREDNS_BIN is not set",
      "no Go kube-controller-manager beside it, for KUBE_CONTROLLER_MANAGER_BIN is not set",
    ]);
    expect(nameMissing(["up-endpoints"], ALL)).toEqual([]);
  });
});
