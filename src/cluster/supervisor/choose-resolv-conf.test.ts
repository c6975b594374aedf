import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { chooseResolvConf } from "./choose-resolv-conf.ts";

let directory = "";
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "nodelet-resolv-"));
});
afterEach(async () => await rm(directory, { recursive: true, force: true }));

async function choose(texts: { etc?: string; systemd?: string }, ownServer: string | undefined) {
  for (const [name, text] of Object.entries(texts)) await writeFile(join(directory, name), text);
  const file = await chooseResolvConf({
    ...{ file: join(directory, "own"), ownServer },
    candidates: [join(directory, "etc"), join(directory, "systemd")],
  });
  return file.slice(directory.length + 1);
}

const STUB = "# by systemd-resolved\nnameserver 127.0.0.53\noptions edns0 trust-ad\n";
const UPLINK = "nameserver 192.0.2.1\nsearch example.org\n";

it.each([
  ["the machine's, where it names servers that pods reach", { etc: UPLINK, systemd: UPLINK }, "etc"],
  ["the machine's, where one of its servers is on loopback", { etc: STUB + UPLINK, systemd: UPLINK }, "etc"],
  ["that of systemd-resolved, where the machine's names its stub", { etc: STUB, systemd: UPLINK }, "systemd"],
  ["one with our DNS server, where all are on loopback", { etc: STUB }, "own"],
  ["one with our DNS server, where systemd-resolved knows none yet", { etc: STUB, systemd: "# none\n" }, "own"],
  ["one with our DNS server, where a server is on the loopback of IPv6", { etc: "nameserver ::1\n" }, "own"],
  ["the machine's, where it names none", { etc: "search example.org\n", systemd: UPLINK }, "etc"],
  ["the machine's, where there is none", {}, "etc"],
])("pods inherit %s", async (_what, texts, expected) => {
  expect(await choose(texts, "10.64.0.1")).toBe(expected);
});

it("the file names our DNS server, and without one pods inherit what there is", async () => {
  await choose({ etc: STUB }, "10.64.0.1");
  expect(await readFile(join(directory, "own"), "utf8")).toBe("nameserver 10.64.0.1\n");
  expect(await choose({ etc: STUB }, undefined)).toBe("etc");
});
