import { copyFile, mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runTool } from "../../scripts/packages/run-tool.ts";
import { buildBaseTree, copyTree } from "../vm/disk/build-disk.ts";
import { requireTools } from "../vm/disk/tools.ts";
import type { Machine } from "../vm/machines/machine.ts";
import { startNamespaces } from "../vm/machines/namespaces.ts";
import { createPod, untilNodeReady, untilReady } from "../vm/scenarios/pods.ts";
import { type Stage, until } from "../vm/scenarios/scenario.ts";
import { OUTPUT } from "./build-packages.ts";

const CACHE = process.env["NODELET_VM_CACHE"] ?? "/var/tmp/nodelet-vm";
/** What another suite may have put into the kept tree, and the Node.js of Debian, which nothing here is to use. */
const NOT_OURS = [
  "usr/local/bin/nodelet",
  "usr/local/bin/kubectl-nodelet",
  "usr/local/lib/node_modules",
  "usr/bin/node",
];
const DEB = "/var/tmp/nodelet.deb";
/** This tree leaves manuals out, but for those that are asked for. */
const INSTALL = `dpkg --path-include='/usr/share/man/*' --install ${DEB}`;
const SHIMS =
  "grep -lszF /var/lib/nodelet/containerd/ $(grep -lszF containerd-shim- /proc/[0-9]*/cmdline) /dev/null | wc -l";

let deb: string;
beforeAll(async () => {
  const name = (await readdir(OUTPUT)).find((file) => file.endsWith(".deb")) ?? "";
  deb = join(OUTPUT, name);
});

it("has nothing that lintian finds", () => {
  const found = runTool("lintian", ["--allow-root", "--fail-on=none", "--suppress-tags=unused-override", deb]);
  expect(found).toBe("");
});

describe("on a Debian that systemd runs", () => {
  let directory: string;
  let machine: Machine;
  let at: Stage;
  beforeAll(async () => {
    await requireTools(["mmdebstrap", "chroot", "unshare", "nsenter"]);
    await mkdir(CACHE, { recursive: true });
    directory = await mkdtemp(join(CACHE, "deb-"));
    const base = await buildBaseTree(CACHE, "trixie");
    const tree = await copyTree(base, directory);
    for (const path of NOT_OURS) await rm(join(tree, path), { recursive: true, force: true });
    await copyFile(deb, join(tree, DEB));
    machine = await startNamespaces({ tree, directory, makeTree: async (place) => await copyTree(base, place) });
    at = { machine, note: () => undefined };
  });
  afterAll(async () => {
    await machine.remove();
    await rm(directory, { recursive: true, force: true });
  });

  it("is installed, starts its service, and runs what lies in /etc/nodelet/manifests", async () => {
    const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "early" }, spec: podSpec() };
    await machine.read(
      `mkdir -p /etc/nodelet/manifests; echo '${JSON.stringify(pod)}' > /etc/nodelet/manifests/early.json`,
    );
    await machine.read(INSTALL);
    expect(await machine.read("systemctl is-active nodelet; systemctl is-enabled nodelet")).toBe("active\nenabled");
    await untilNodeReady(at);
    await createPod(at, "late");
    await untilReady(at, "late");
    await until(at, "nodelet status", (output) => /early\S* .*Running/.test(output));
    expect(
      await machine.read("kubectl-nodelet version; readlink /proc/$(systemctl show -P MainPID nodelet)/exe"),
    ).toMatch(/^nodelet \S+ \(Node\.js 24.*\)\n\/usr\/lib\/nodelet\/node$/);
  });

  it("brings its manual and what shells complete", async () => {
    const complete = "source /usr/share/bash-completion/completions/nodelet; complete -p nodelet";
    expect(await machine.read(complete)).toBe("complete -F _nodelet nodelet");
    expect(await machine.read("zcat /usr/share/man/man1/nodelet.1.gz | head -1")).toMatch(/^\.TH NODELET 1/i);
    expect(await machine.read("head -1 /usr/share/zsh/vendor-completions/_nodelet")).toMatch(/^#compdef nodelet/);
    expect(await machine.read("cat /usr/share/fish/vendor_completions.d/nodelet.fish")).toContain(
      "complete -c nodelet",
    );
  });

  it("takes options from /etc/default/nodelet, and keeps them and the pods when it is installed again", async () => {
    const shims = await machine.read(SHIMS);
    await machine.read("sed -i 's/^NODELET_ARGS=.*/NODELET_ARGS=\"--kubelet-arg=--v=3\"/' /etc/default/nodelet");
    const pid = await machine.read("systemctl show -P MainPID nodelet");
    await machine.read(INSTALL);
    expect(await machine.read("systemctl show -P MainPID nodelet")).not.toBe(pid);
    await until(at, "tr '\\0' ' ' < /proc/$(systemctl show -P MainPID nodelet)/cmdline", (output) =>
      output.includes("--kubelet-arg=--v=3"),
    );
    await untilNodeReady(at);
    expect(await machine.read(SHIMS)).toBe(shims);
    expect((await untilReady(at, "late")).status?.containerStatuses?.[0]?.restartCount).toBe(0);
  });

  it("stops when it is removed, and says that its pods run on", async () => {
    expect(await machine.read("dpkg --remove nodelet")).toContain("its pods run on");
    expect((await machine.run("systemctl is-active nodelet")).output).toBe("inactive\n");
    expect(Number(await machine.read(SHIMS))).toBeGreaterThan(0);
    expect((await machine.run("ls /usr/bin/nodelet /usr/lib/nodelet")).code).not.toBe(0);
  });

  it("keeps its state in a purge while pods run from it, and says so", async () => {
    expect(await machine.read("dpkg --purge nodelet")).toContain("/var/lib/nodelet is kept, because pods run from it");
    expect(await machine.read("ls -d /var/lib/nodelet/containerd")).toBe("/var/lib/nodelet/containerd");
  });

  it("leaves nothing but what users wrote when it is purged without pods", async () => {
    await machine.read(INSTALL);
    await untilNodeReady(at);
    await machine.read("mkdir -p /var/lib/nodelet/volumes/claim; echo data > /var/lib/nodelet/volumes/claim/file");
    await machine.read("systemctl stop nodelet; nodelet down --pods");
    expect(await machine.read("dpkg --purge nodelet")).toContain("the volumes of claims are kept");
    expect(await machine.read("ls /var/lib/nodelet; cat /var/lib/nodelet/volumes/claim/file")).toBe("volumes\ndata");
    expect(await machine.read("ls /etc/nodelet/manifests")).toBe("early.json");
    expect((await machine.run("ls -d /etc/default/nodelet /var/cache/nodelet /usr/lib/nodelet")).output).not.toMatch(
      /^\//m,
    );
    expect(await machine.read("systemctl list-units --type=service,scope 'nodelet*' --no-legend | wc -l")).toBe("0");
  });
});

function podSpec(): object {
  return {
    containers: [{ name: "main", image: "localhost/nodelet/demo:1", command: ["sleep", "100000"] }],
    terminationGracePeriodSeconds: 1,
  };
}
