import { describe, expect, test } from "vitest";
import { computeDeclaredFeatures, computeRequiredFeatures, EXTENDS_WEB_SOCKETS } from "./declared-features.ts";
import type { ContainerRestartRule, PodSpec } from "./gen/types.ts";

const RESTARTS_ALL = "RestartAllContainersOnContainerExits";
const RESIZES = ["InPlacePodLevelResourcesVerticalScaling", "InPlacePodVerticalScalingInitContainers"];
const NO_GATES = {
  ExtendWebSocketsToKubelet: false,
  RestartAllContainersOnContainerExits: false,
  UserNamespacesHostNetworkSupport: false,
};
const USERS_ON_HOST = "UserNamespacesHostNetworkSupport";

describe("what a node declares", () => {
  test.each([
    [true, true, [USERS_ON_HOST]],
    [true, false, []],
    [true, undefined, []],
    [false, true, []],
  ])("gate %s, runtime %s", (gate, userNamespacesHostNetwork, expected) => {
    const runtime = userNamespacesHostNetwork === undefined ? undefined : { userNamespacesHostNetwork };
    const gates = { ...NO_GATES, UserNamespacesHostNetworkSupport: gate };
    expect(computeDeclaredFeatures({ gates, runtime })).toEqual([...RESIZES, ...expected]);
  });
});

test("a node declares that it restarts all containers where the gate says so", () => {
  const gates = { ...NO_GATES, RestartAllContainersOnContainerExits: true };
  expect(computeDeclaredFeatures({ gates, runtime: undefined })).toEqual([...RESIZES, RESTARTS_ALL]);
});

test("a node declares that it speaks WebSockets where the gate says so", () => {
  const gates = { ...NO_GATES, ExtendWebSocketsToKubelet: true };
  expect(computeDeclaredFeatures({ gates, runtime: undefined })).toEqual([EXTENDS_WEB_SOCKETS, ...RESIZES]);
});

describe("what a pod requires", () => {
  const main = { name: "main", image: "i" };
  const withRule = (action: string) => {
    const rule: ContainerRestartRule = { action, exitCodes: { operator: "In", values: [42] } };
    return { ...main, restartPolicy: "Never", restartPolicyRules: [rule] };
  };
  test.each<[string, Partial<PodSpec>, string[]]>([
    ["nothing", {}, []],
    ["rules of a container alone", { containers: [withRule("Restart")] }, []],
    ["a rule for all", { containers: [main, withRule("RestartAllContainers")] }, [RESTARTS_ALL]],
    ["an init container's rule for all", { initContainers: [withRule("RestartAllContainers")] }, [RESTARTS_ALL]],
    ["users of its own", { hostUsers: false }, []],
    ["the host's network", { hostNetwork: true }, []],
    ["the host's network and users", { hostNetwork: true, hostUsers: true }, []],
    ["users of its own on the host's network", { hostNetwork: true, hostUsers: false }, [USERS_ON_HOST]],
    [
      "both, sorted",
      { hostNetwork: true, hostUsers: false, containers: [withRule("RestartAllContainers")] },
      [RESTARTS_ALL, USERS_ON_HOST],
    ],
  ])("%s", (_what, spec, expected) => {
    expect(computeRequiredFeatures({ containers: [main], ...spec })).toEqual(expected);
  });
});
