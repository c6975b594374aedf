import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { computeCniConfig } from "./cni-config.ts";
import { planResultRemoval, planRuleRemoval, readNetworkFacts, removeResults } from "./remove-network.ts";

const RULES = `-P POSTROUTING ACCEPT
-N CNI-DN-f12e414e3d74bf2c18fc6
-N CNI-f12e414e3d74bf2c18fc6500
-A POSTROUTING -m comment --comment "CNI portfwd requiring masquerade" -j CNI-HOSTPORT-MASQ
-A POSTROUTING -s 10.71.0.2/32 -m comment --comment "name: \\"nodelet-1\\" id: \\"e27d\\"" -j CNI-f12e414e3d74bf2c18fc6500
-A POSTROUTING -s 10.9.0.2/32 -m comment --comment "name: \\"other\\" id: \\"77\\"" -j CNI-aaaaaaaaaaaaaaaaaaaaaaaa
-A CNI-HOSTPORT-DNAT -p tcp -m comment --comment "dnat name: \\"nodelet-1\\" id: \\"e27d\\"" -m multiport --dports 8080 -j CNI-DN-f12e414e3d74bf2c18fc6
-A CNI-f12e414e3d74bf2c18fc6500 -d 10.71.0.0/16 -m comment --comment "name: \\"nodelet-1\\" id: \\"e27d\\"" -j ACCEPT
`;

it("removes the rules and chains of one network and leaves the rest", () => {
  expect(planRuleRemoval(RULES, "nodelet-1")).toEqual([
    [
      "-D",
      "POSTROUTING",
      "-s",
      "10.71.0.2/32",
      "-m",
      "comment",
      "--comment",
      'name: "nodelet-1" id: "e27d"',
      "-j",
      "CNI-f12e414e3d74bf2c18fc6500",
    ],
    [
      "-D",
      "CNI-HOSTPORT-DNAT",
      "-p",
      "tcp",
      "-m",
      "comment",
      "--comment",
      'dnat name: "nodelet-1" id: "e27d"',
      "-m",
      "multiport",
      "--dports",
      "8080",
      "-j",
      "CNI-DN-f12e414e3d74bf2c18fc6",
    ],
    ["-F", "CNI-f12e414e3d74bf2c18fc6500"],
    ["-F", "CNI-DN-f12e414e3d74bf2c18fc6"],
    ["-X", "CNI-f12e414e3d74bf2c18fc6500"],
    ["-X", "CNI-DN-f12e414e3d74bf2c18fc6"],
  ]);
});

it("plans nothing for a network that left nothing", () => {
  expect(planRuleRemoval(RULES, "nodelet-2")).toEqual([]);
});

it("takes a network's own results and the loopback of its sandboxes, listed or not, and nobody else's", () => {
  const names = [
    "nodelet-1-aa-eth0",
    "cni-loopback-aa-lo",
    "cni-loopback-bb-lo",
    "nodelet-2-cc-eth0",
    "cni-loopback-cc-lo",
  ];
  expect(planResultRemoval(names, "nodelet-1", ["bb"])).toEqual(names.slice(0, 3));
});

it("removes results that a cut of the power left empty, and those of nobody else", async () => {
  const directory = await mkdtemp(join(tmpdir(), "nodelet-results-"));
  try {
    const names = ["nodelet-1-aa-eth0", "cni-loopback-aa-lo", "cni-loopback-bb-lo", "nodelet-2-cc-eth0"];
    for (const name of names) await writeFile(join(directory, name), "");
    await removeResults("nodelet-1", ["bb"], directory);
    expect(await readdir(directory)).toEqual(["nodelet-2-cc-eth0"]);
    await removeResults("nodelet-1", [], join(directory, "missing"));
  } finally {
    await rm(directory, { recursive: true });
  }
});

const CONFIGURATION = computeCniConfig({
  networkName: "nodelet-1",
  bridge: "br-1",
  podCidr: "10.71.0.0/16",
  addressDirectory: "/addresses",
  mtu: undefined,
  isLoopbackGuarded: true,
});

it.each([
  ["as it is written", CONFIGURATION, false],
  ["written anew by somebody else", JSON.stringify(JSON.parse(CONFIGURATION)), false],
  ["with a range of IPv6", JSON.stringify(JSON.parse(CONFIGURATION.replace("10.71.0.0/16", "fd01::/64"))), true],
  ["torn", CONFIGURATION.slice(0, -40), false],
])("knows the bridge of a configuration %s", (_, configuration, hasIpv6) => {
  expect(readNetworkFacts(configuration)).toEqual({ bridges: ["br-1"], hasIpv6 });
});
