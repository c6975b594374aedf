import { describe, expect, it } from "vitest";
import { type ControlPlaneArguments, computeControlPlaneArguments } from "./control-plane-arguments.ts";
import { computeStateLayout } from "./state-layout.ts";

const compute = (changes: Partial<ControlPlaneArguments>) =>
  computeControlPlaneArguments(computeStateLayout("/state"), {
    apiAddress: "127.0.0.1",
    apiPort: 6443,
    serviceCidr: "10.96.0.0/16",
    podCidr: "10.64.0.0/16",
    podAddress: undefined,
    proxy: true,
    scheduler: true,
    controllers: true,
    manifests: "/manifests",
    kubeletArguments: [],
    auditArguments: [],
    nodeName: "one",
    ...changes,
  });

describe("computeControlPlaneArguments", () => {
  it("begins with the command, and leaves nothing to others", () => {
    const words = compute({});
    expect(words[0]).toBe("control-plane");
    expect(words.filter((word) => word.startsWith("--no-"))).toEqual([]);
    expect(words).toContain("--network-policies");
  });

  it.each([
    ["a scheduler of the user's", { scheduler: false }, ["--no-scheduler"]],
    ["controllers of the user's", { controllers: false }, ["--no-controllers"]],
    ["both", { scheduler: false, controllers: false }, ["--no-scheduler", "--no-controllers"]],
  ])("leaves the work to %s", (_, changes, flags) => {
    expect(compute(changes).filter((word) => word.startsWith("--no-"))).toEqual(flags);
  });

  it("tells of network policies only where our proxy keeps to them", () => {
    expect(compute({ proxy: false })).not.toContain("--network-policies");
  });

  it("gives the single node the whole of each range", () => {
    const words = compute({ podCidr: "10.64.0.0/20,fd00::/100" });
    expect(words).toContain("--node-cidr-mask-size=20");
    expect(words).toContain("--node-cidr-mask-size-ipv6=100");
  });

  it("hands the node agent's word about manifests and history on", () => {
    const kubeletArguments = ["--nodelet-refuse-foreign-manifests", "--nodelet-history-size=5", "--v=2"];
    const words = compute({ kubeletArguments });
    expect(words).toContain("--refuse-foreign-manifests");
    expect(words).toContain("--history-size=5");
  });
});
