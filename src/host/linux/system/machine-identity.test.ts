import { expect, it } from "vitest";
import { createFakeHost } from "../../fake/create-fake-host.ts";
import { readMachineIdentity } from "./machine-identity.ts";

const OWN = process.arch === "x64" ? "amd64" : expect.any(String);

async function identityOf(contents: Readonly<Record<string, string>>) {
  const { files } = createFakeHost();
  for (const [path, content] of Object.entries(contents)) {
    await files.makeDirectory(path.slice(0, path.lastIndexOf("/")), 0o755);
    await files.writeAtomically(path, content, 0o644);
  }
  return readMachineIdentity(files, "6.1.0");
}

it("reads what the machine calls itself", async () => {
  expect(
    await identityOf({
      "/etc/machine-id": "aaa\n",
      "/var/lib/dbus/machine-id": "bbb\n",
      "/sys/class/dmi/id/product_uuid": "EC2A-1\n",
      "/proc/sys/kernel/random/boot_id": "ccc\n",
      "/etc/os-release": 'NAME="Debian"\nPRETTY_NAME="Debian GNU/Linux 12"\n',
    }),
  ).toEqual({
    machineId: "aaa",
    systemUuid: "EC2A-1",
    bootId: "ccc",
    kernelRelease: "6.1.0",
    osImage: "Debian GNU/Linux 12",
    architecture: OWN,
  });
});

it.each<[string, Record<string, string>, object]>([
  ["D-Bus's machine id where systemd left none", { "/var/lib/dbus/machine-id": "bbb" }, { machineId: "bbb" }],
  ["an empty file as none", { "/etc/machine-id": "\n", "/var/lib/dbus/machine-id": "b" }, { machineId: "b" }],
  ["the machine id for a UUID without firmware", { "/etc/machine-id": "aaa" }, { systemUuid: "aaa" }],
  [
    "a device tree's, which ends with a NUL",
    { "/proc/device-tree/system-id": "IBM,1\0", "/etc/machine-id": "a" },
    { systemUuid: "IBM,1" },
  ],
  ["nothing on a bare machine", {}, { machineId: "", systemUuid: "", bootId: "", osImage: "Unknown" }],
  ["Linux for a distribution without a name", { "/etc/os-release": "ID=x" }, { osImage: "Linux" }],
  ["a name without quotes", { "/usr/lib/os-release": "PRETTY_NAME=Alpine" }, { osImage: "Alpine" }],
  ["a name in single quotes", { "/etc/os-release": "PRETTY_NAME='A\\b'" }, { osImage: "A\\b" }],
  ["a name with escapes", { "/etc/os-release": 'PRETTY_NAME="The \\"x\\" \\$1"' }, { osImage: 'The "x" $1' }],
])("takes %s", async (_what, contents, expected) => {
  expect(await identityOf(contents)).toMatchObject(expected);
});
