import { expect, it } from "vitest";
import { buildHostNetworkHostsFile, buildManagedHostsFile } from "./hosts-file.ts";

const HEAD = `# Kubernetes-managed hosts file.
127.0.0.1	localhost
::1	localhost ip6-localhost ip6-loopback
fe00::0	ip6-localnet
fe00::0	ip6-mcastprefix
fe00::1	ip6-allnodes
fe00::2	ip6-allrouters
`;
const ALIASES = `
# Entries added by HostAliases.
192.0.2.1	one.example	two.example
192.0.2.9	three.example
`;
const hostAliases = [
  { ip: "192.0.2.1", hostnames: ["one.example", "two.example"] },
  { ip: "192.0.2.9", hostnames: ["three.example"] },
];

it.each([
  { why: "one line an address", domain: "", aliases: [], tail: "10.0.0.4\tweb\nfd00::4\tweb\n" },
  {
    why: "full name first",
    domain: "sub.ns.svc.local",
    aliases: [],
    tail: "10.0.0.4\tweb.sub.ns.svc.local\tweb\nfd00::4\tweb.sub.ns.svc.local\tweb\n",
  },
  { why: "aliases at the end", domain: "", aliases: hostAliases, tail: `10.0.0.4\tweb\nfd00::4\tweb\n${ALIASES}` },
])("a pod's hosts file has $why", ({ domain, aliases, tail }) => {
  const text = buildManagedHostsFile({
    podIps: ["10.0.0.4", "fd00::4"],
    hostname: "web",
    domain,
    hostAliases: aliases,
  });
  expect(text).toBe(`${HEAD}${tail}`);
});

it("on the host network the node's file is kept as it is, with the aliases behind it", () => {
  const header = "# Kubernetes-managed hosts file (host network).\n";
  expect(buildHostNetworkHostsFile("127.0.0.1 localhost\n", [])).toBe(`${header}127.0.0.1 localhost\n`);
  expect(buildHostNetworkHostsFile("192.0.2.2 rig\n", hostAliases)).toBe(`${header}192.0.2.2 rig\n${ALIASES}`);
});
