import { mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { installAsKubelet, type KubeletMachine, uninstallAsKubelet } from "./install-as-kubelet.ts";

const LOCAL = "/usr/local/bin/kubelet";
const PACKAGED = "/usr/bin/kubelet";
const UNIT = "/etc/systemd/system/kubelet.service";
const DROP_IN = `${UNIT}.d/90-nodelet.conf`;
const PROGRAM = { node: "/usr/bin/node", entry: "/opt/dist/nodelet.js" };
const GO = "\x7fELF of a Go kubelet";

let root = "";
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "as-kubelet-"));
});
afterEach(async () => rm(root, { recursive: true, force: true }));

/** A machine with the files, whose systemd knows a service kubelet where there is a unit. */
async function createMachine(files: Record<string, string>, isEnabled = true) {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
  const asked: string[] = [];
  const systemctl: KubeletMachine["systemctl"] = async (...args) => {
    if (args[0] === "is-enabled" && !isEnabled) throw new Error("disabled");
    if (args[0] !== "cat") {
      asked.push(args.join(" "));
      return "";
    }
    const texts = await Promise.all([UNIT, DROP_IN].map(async (path) => await read(path)));
    if (texts[0] === undefined) throw new Error("No files found for kubelet.service.");
    return [UNIT, DROP_IN].map((path, index) => `# ${path}\n${texts[index] ?? ""}\n`).join("\n");
  };
  return { root, systemctl, asked: () => asked.splice(0) };
}

const read = async (path: string) => await readFile(join(root, path), "utf8").catch(() => undefined);
const install = async (machine: KubeletMachine, isReplacing = false) =>
  await installAsKubelet(machine, { ...PROGRAM, isReplacing });

describe("a machine without a kubelet", () => {
  it("gets the program, and the service that kubeadm starts", async () => {
    const machine = await createMachine({});
    expect(await install(machine)).toEqual({ program: LOCAL, replaced: undefined, isEnabled: true });
    expect((await stat(join(root, LOCAL))).mode & 0o777).toBe(0o755);
    expect(await read(DROP_IN)).toContain(`ExecStart=${LOCAL} $KUBELET_KUBECONFIG_ARGS `);
    const orders = ["daemon-reload", "enable kubelet.service", "try-restart kubelet.service"];
    expect(machine.asked()).toEqual([...orders, "is-enabled kubelet.service"]);
  });

  it("gets the same again by a newer version, and nothing is left afterwards", async () => {
    const machine = await createMachine({});
    await install(machine);
    const before = await Promise.all([UNIT, DROP_IN].map(read));
    await installAsKubelet(machine, { ...PROGRAM, entry: "/opt/newer/nodelet.js", isReplacing: false });
    expect(await Promise.all([UNIT, DROP_IN].map(read))).toEqual(before);
    expect(await read(LOCAL)).toContain("/opt/newer/nodelet.js");
    machine.asked();
    expect(await uninstallAsKubelet(machine)).toBe(true);
    expect(await Promise.all([LOCAL, UNIT, DROP_IN].map(read))).toEqual([undefined, undefined, undefined]);
    expect(machine.asked()).toEqual(["disable --now kubelet.service", "daemon-reload"]);
    expect(await uninstallAsKubelet(machine)).toBe(false);
    expect(machine.asked()).toEqual([]);
  });
});

describe("a machine with another kubelet", () => {
  const SERVICE = "[Service]\nExecStart=/usr/bin/kubelet --config=/k.yaml\n";

  it.each([
    ["of a package", { [PACKAGED]: GO, [UNIT]: SERVICE }, PACKAGED],
    ["where nodelet's would be", { [LOCAL]: GO }, LOCAL],
    [
      "that only its service names",
      { "/opt/kubelet": GO, [UNIT]: SERVICE.replace("/usr/bin", "/opt") },
      "/opt/kubelet",
    ],
  ])("%s stays as it is without a word to replace it", async (_, files, path) => {
    const machine = await createMachine(files);
    const message = expect.stringMatching(new RegExp(`^${path} is a kubelet already: with --replace `));
    await expect(install(machine)).rejects.toMatchObject({ code: "kubelet-exists", message });
    expect(await read(path)).toBe(GO);
    expect(await read(DROP_IN)).toBeUndefined();
    expect(machine.asked()).toEqual([]);
  });

  it("runs nodelet with the same arguments, and its own again afterwards", async () => {
    const machine = await createMachine({ [PACKAGED]: GO, [UNIT]: SERVICE });
    expect(await install(machine, true)).toEqual({ program: LOCAL, replaced: PACKAGED, isEnabled: true });
    expect(await read(DROP_IN)).toContain(`ExecStart=${LOCAL} --config=/k.yaml\n`);
    expect(machine.asked()).toEqual(["daemon-reload", "try-restart kubelet.service", "is-enabled kubelet.service"]);
    await uninstallAsKubelet(machine);
    expect(await Promise.all([PACKAGED, UNIT, LOCAL, DROP_IN].map(read))).toEqual([GO, SERVICE, undefined, undefined]);
    expect(machine.asked()).toEqual(["daemon-reload", "try-restart kubelet.service"]);
  });

  it("whose service is not enabled stays so, and that is told", async () => {
    const machine = await createMachine({ [PACKAGED]: GO, [UNIT]: SERVICE }, false);
    expect((await install(machine, true)).isEnabled).toBe(false);
    expect(machine.asked()).not.toContain("enable kubelet.service");
  });

  it("where nodelet's would be gets its name back, whatever was installed twice meanwhile", async () => {
    const machine = await createMachine({ [LOCAL]: GO, [UNIT]: SERVICE });
    await install(machine, true);
    await install(machine);
    await uninstallAsKubelet(machine);
    expect(await read(LOCAL)).toBe(GO);
  });

  it("that is a link to nodelet is none", async () => {
    const machine = await createMachine({ "/opt/dist/nodelet.js": "#!/usr/bin/env node" });
    await mkdir(join(root, "/usr/bin"), { recursive: true });
    await symlink(join(root, "/opt/dist/nodelet.js"), join(root, PACKAGED));
    expect((await install(machine)).replaced).toBeUndefined();
  });
});

it("a file that cannot be written is told", async () => {
  const machine = await createMachine({ "/usr/local": "a file, and no directory" });
  await expect(install(machine)).rejects.toMatchObject({ code: "not-written" });
});
