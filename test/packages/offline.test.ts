import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runTool } from "../../scripts/packages/run-tool.ts";
import { requireTools } from "../vm/disk/tools.ts";
import type { Machine } from "../vm/machines/machine.ts";
import { startNamespaces } from "../vm/machines/namespaces.ts";
import { until } from "../vm/scenarios/scenario.ts";
import { OFFLINE_RELEASE, OUTPUT } from "./build-packages.ts";

const CACHE = process.env["NODELET_VM_CACHE"] ?? "/var/tmp/nodelet-vm";
const MIRROR = "http://deb.debian.org/debian";
/** The bundle, on the machine. */
const BUNDLE = "/var/tmp/a bundle";
const INSTALL = `'${BUNDLE}/install'`;

describe("the offline bundle, on a Debian that has systemd and no network", () => {
  let directory: string;
  let machine: Machine;
  beforeAll(async () => {
    await requireTools(["mmdebstrap", "chroot", "unshare", "nsenter"]);
    await mkdir(CACHE, { recursive: true });
    directory = await mkdtemp(join(CACHE, "offline-"));
    const tree = join(directory, "tree");
    runTool("mmdebstrap", [
      "--quiet",
      "--variant=minbase",
      "--include=systemd,systemd-sysv",
      OFFLINE_RELEASE,
      tree,
      MIRROR,
    ]);
    await writeFile(join(tree, "etc/hostname"), "machine\n");
    await writeFile(join(tree, "etc/hosts"), "127.0.0.1 localhost machine\n");
    const bundle = (await readdir(OUTPUT)).find((name) => /^nodelet-offline-.*\.tar$/.test(name)) ?? "";
    await mkdir(join(tree, BUNDLE));
    runTool("tar", [
      "--extract",
      `--file=${join(OUTPUT, bundle)}`,
      "--strip-components=1",
      `--directory=${join(tree, BUNDLE)}`,
    ]);
    machine = await startNamespaces({ tree, directory, makeTree: async () => tree });
  });
  afterAll(async () => {
    await machine.remove();
    await rm(directory, { recursive: true, force: true });
  });

  it("refuses a machine of another release", async () => {
    const other = `sed 's/^VERSION_CODENAME=.*/VERSION_CODENAME=sid/' /usr/lib/os-release > /tmp/other; mount --bind /tmp/other /usr/lib/os-release`;
    const { code, output } = await machine.run(`${other}; ${INSTALL}; code=$?; umount /usr/lib/os-release; exit $code`);
    expect({ code, output }).toEqual({ code: 1, output: expect.stringContaining(`for Debian's ${OFFLINE_RELEASE}`) });
  });

  it("installs nodelet with all that it needs, whose pods then run", async () => {
    expect((await machine.run("type containerd runc iptables nft conntrack busybox")).code).not.toBe(0);
    const pod = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "early" },
      spec: { containers: [{ name: "main", image: "localhost/nodelet/demo:1", command: ["sleep", "100000"] }] },
    };
    const before = await machine.read("find /var/lib/apt/lists /etc/apt | sort");
    await machine.read(
      `mkdir -p /etc/nodelet/manifests; echo '${JSON.stringify(pod)}' > /etc/nodelet/manifests/early.json`,
    );
    await machine.read(INSTALL);
    expect(await machine.read("find /var/lib/apt/lists /etc/apt | sort; ls -d /tmp/tmp.* 2> /dev/null || true")).toBe(
      before,
    );
    expect(await machine.read("systemctl is-active nodelet")).toBe("active");
    await until({ machine, note: () => undefined }, "nodelet status", (output) => /early\S* .*Running/.test(output));
    expect((await machine.run("nodelet doctor")).code).toBe(0);
  });

  it("does nothing to a machine that has it", async () => {
    const pid = await machine.read("systemctl show -P MainPID nodelet");
    await machine.read(INSTALL);
    expect(await machine.read("systemctl show -P MainPID nodelet")).toBe(pid);
  });
});
