import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { openSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { findCniBinDirectory, findProgram, readHasSysResource } from "../../src/cluster/containerd/machine-facts.ts";
import { unmountBeneath } from "../../src/cluster/containerd/mount-namespace.ts";
import { buildImages } from "../../src/cluster/images/build-images.ts";
import { PAUSE_IMAGE } from "../../src/cluster/images/image-references.ts";
import { runCommand } from "../../src/cluster/processes/run-command.ts";
import { claimNetwork } from "../machine/claims.ts";
import { connectRuntime, type RuntimeUnderTest, untilNetworkReady } from "./runtime-under-test.ts";

/** CRI-O's program, with `pinns` beside it. Debian has no package of it. */
const crio = process.env["NODELET_TEST_CRIO"] ?? "";
/** The program that makes its containers; Debian's crun is too old for it. */
const ociRuntime = process.env["NODELET_TEST_CRIO_RUNTIME"] ?? "runc";
/** The programs that CRI-O starts, and the one that puts images into its storage. */
const PROGRAMS = [ociRuntime, "conmon", "skopeo"];
const STOP_GRACE_MS = 10_000;
const KEEPS_STOPPING = "a stop goes on as long as it was asked for, though its caller has gone";
const NEEDS_SCORES = "its sandboxes take an OOM score of -998, which this machine does not allow";

/** Cases that do not hold of CRI-O 1.37, by their names, and what it does. The node agent relies on none of them. */
export const DIFFERENT_ON_CRIO: ReadonlyMap<string, string> = new Map([
  ["end when their signal fires, before and after they began", KEEPS_STOPPING],
  ["leaves it running when the caller gives up before the grace period is over", KEEPS_STOPPING],
  ["that run may be removed", "they have as long to end as the call has"],
  ["hold their metadata until they are removed, and another attempt is another sandbox", "the first one is returned"],
  ["hold their name and attempt until they are removed", "the first one is returned"],
  ["are not ready and have no address once stopped, and may be stopped twice", "the address is told until the removal"],
  ["whose command does not exist fail to start and are exited then", "they cannot be created"],
  ["need a sandbox and an image that exist", "the code is `unknown`"],
  ["are those of no container where there is none", "the code is `unknown`"],
  ["kills at once without a grace period", "the stop signal comes before"],
  ["does nothing to one that has exited or never started", "it has ended later than before"],
  ["fails with deadline-exceeded when the command takes too long", "its exit code is -1"],
  ["stay listed for a container that has exited, with its layer", "they are those of running containers"],
  ...((await readHasSysResource())
    ? []
    : ([
        ["have no address of their own on the host network", NEEDS_SCORES],
        ["ends one that shares a PID namespace and has no trap by the signal alone", NEEDS_SCORES],
      ] as const)),
]);

/** Why the cases cannot run on CRI-O here; undefined where they can. */
export async function readWhyNoCrio(): Promise<string | undefined> {
  if (crio === "") return "NODELET_TEST_CRIO does not name it";
  for (const program of [crio, ...PROGRAMS]) {
    if ((await findProgram(program)) === undefined) return `${program} is not installed`;
  }
  return (await findCniBinDirectory()) === undefined ? "the CNI plugins are not installed" : undefined;
}

/** A CRI-O with everything that it has in a directory of its own. */
export async function startCrio(): Promise<RuntimeUnderTest> {
  const directory = await mkdtemp(join(tmpdir(), "nodelet-crio-"));
  const { bridge, podCidr } = await claimNetwork();
  await writeConfiguration(directory, { bridge, podCidr });
  await importImages(directory);
  let program = startProgram(directory);
  const { close, ...connected } = connectRuntime(`unix://${directory}/crio.sock`);
  const { cri } = connected;
  await untilNetworkReady(cri);
  return {
    ...connected,
    logDirectory: join(directory, "pod-logs"),
    async restart() {
      await stopProgram(program);
      program = startProgram(directory);
      await untilNetworkReady(cri);
    },
    async dispose() {
      const { items } = await cri.runtime.listPodSandbox({ filter: undefined });
      for (const { id } of items) await cri.runtime.removePodSandbox({ podSandboxId: id });
      close();
      await stopProgram(program);
      await unmountBeneath(directory);
      await runCommand("ip", ["link", "delete", bridge]).catch(() => undefined);
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function writeConfiguration(directory: string, { bridge, podCidr }: { bridge: string; podCidr: string }) {
  const at = (name: string) => JSON.stringify(join(directory, name));
  const ipam = { type: "host-local", dataDir: join(directory, "ipam"), ranges: [[{ subnet: podCidr }]] };
  const plugins = [
    { type: "bridge", bridge, isGateway: true, ipam },
    { type: "portmap", capabilities: { portMappings: true } },
  ];
  const pinns = join(dirname(crio), "pinns");
  const configuration = `[crio]
root = ${at("root")}
runroot = ${at("run")}
storage_driver = "overlay"
log_dir = ${at("logs")}
version_file = ${at("version")}
version_file_persist = ${at("version-persist")}
clean_shutdown_file = ${at("clean")}
[crio.api]
listen = ${at("crio.sock")}
[crio.runtime]
default_runtime = "tested"
cgroup_manager = "cgroupfs"
container_exits_dir = ${at("exits")}
container_attach_socket_dir = ${at("attach")}
namespaces_dir = ${at("namespaces")}
hooks_dir = []
pinns_path = ${JSON.stringify(pinns)}
apparmor_profile = "unconfined"
enable_pod_events = true
[crio.runtime.runtimes.tested]
runtime_path = ${JSON.stringify(await findProgram(ociRuntime))}
runtime_root = ${at("oci")}
monitor_cgroup = "pod"
[crio.image]
pause_image = ${JSON.stringify(PAUSE_IMAGE)}
signature_policy = ${at("policy.json")}
[crio.network]
network_dir = ${at("cni")}
plugin_dirs = [${JSON.stringify(await findCniBinDirectory())}]
`;
  await mkdir(join(directory, "cni"));
  await writeFile(
    join(directory, "cni/10-test.conflist"),
    JSON.stringify({ cniVersion: "1.0.0", name: "test", plugins }),
  );
  await writeFile(join(directory, "crio.conf"), configuration);
  await writeFile(join(directory, "policy.json"), '{"default":[{"type":"insecureAcceptAnything"}]}');
  await writeFile(join(directory, "registries.conf"), "unqualified-search-registries = []\n");
}

async function importImages(directory: string): Promise<void> {
  for (const { ref, tar } of await buildImages(join(directory, "images"))) {
    const storage = `containers-storage:[overlay@${directory}/root+${directory}/run]${ref}`;
    await runCommand("skopeo", ["--policy", join(directory, "policy.json"), "copy", `oci-archive:${tar}`, storage]);
  }
}

function startProgram(directory: string): ChildProcess {
  const log = openSync(join(directory, "crio.log"), "a");
  return spawn(crio, ["--config", join(directory, "crio.conf"), "--config-dir", ""], {
    stdio: ["ignore", log, log],
    env: { ...process.env, CONTAINERS_REGISTRIES_CONF: join(directory, "registries.conf") },
  });
}

async function stopProgram(program: ChildProcess): Promise<void> {
  const ended = once(program, "exit");
  program.kill();
  const timer = setTimeout(() => program.kill("SIGKILL"), STOP_GRACE_MS);
  await ended;
  clearTimeout(timer);
}
