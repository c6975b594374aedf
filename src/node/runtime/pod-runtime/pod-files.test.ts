import { describe, expect, it } from "vitest";
import type { Pod, PodSpec } from "../../../api/gen/types.ts";
import { silentLog } from "../../../base/log.ts";
import { createFakeHost } from "../../../host/fake/create-fake-host.ts";
import { createSubPaths } from "../../storage/volumes/subpaths/sub-paths.ts";
import { createPodFiles } from "./pod-files.ts";

const POD_DIRECTORY = "/var/lib/kubelet/pods/uid-1";

interface MountOptions {
  podIps?: readonly string[];
  restartCount?: number;
}

function createRig(spec: Partial<PodSpec> = {}, { seLinuxEnabled = false } = {}) {
  const host = createFakeHost();
  const { files } = host;
  const rootDirectory = "/var/lib/kubelet";
  const subPaths = createSubPaths({ ...host, log: silentLog }, { rootDirectory });
  const podFiles = createPodFiles(
    { files, subPaths, userNamespaces: undefined },
    { rootDirectory, clusterDomain: "cluster.local", seLinuxEnabled },
  );
  const pod: Pod = { metadata: { uid: "uid-1", name: "web", namespace: "default" }, spec: { containers: [], ...spec } };
  const make = async (container: object, { podIps = ["10.0.0.7"], restartCount = 0 }: MountOptions = {}) =>
    await podFiles.makeMounts({
      pod,
      next: { container: { name: "main", ...container }, kind: "main", restartCount, previousEndedAt: undefined },
      podIps,
      volumes: new Map([["data", { kind: "files", hostPath: "/host/data", readOnly: false, relabel: true }]]),
      environment: [{ name: "DIR", value: "logs" }],
      images: new Map(),
      supportsRecursiveReadOnly: false,
    });
  const mount = async (container: object, options: MountOptions = {}) => {
    const made = await make(container, options);
    if (!made.ok) throw new Error(made.error);
    return made.mounts;
  };
  return { files, podFiles, pod, make, mount };
}

it("makes the pod's directories, and removes them with all that is in them", async () => {
  const { files, podFiles, pod, mount } = createRig();
  expect(await podFiles.listDirectories()).toEqual([]);
  await podFiles.makeDirectories(pod);
  await podFiles.makeDirectories(pod);
  await mount({ terminationMessagePath: "/dev/termination-log" });
  files.put("/var/lib/kubelet/pods/stray-file", "");
  expect(await podFiles.listDirectories()).toEqual(["uid-1"]);
  expect(await files.stat(POD_DIRECTORY)).toMatchObject({ mode: 0o750 });
  await podFiles.removeDirectories("uid-1");
  expect(await podFiles.listDirectories()).toEqual([]);
});

it("says that a pod's IDs are free only when its directory is gone", async () => {
  const host = createFakeHost();
  const { files } = host;
  files.put(`${POD_DIRECTORY}/userns`, "{}");
  const seen: unknown[] = [];
  const release = async (uid: string) => void seen.push(uid, await files.stat(POD_DIRECTORY));
  const options = { rootDirectory: "/var/lib/kubelet", clusterDomain: "", seLinuxEnabled: false };
  const subPaths = createSubPaths({ ...host, log: silentLog }, options);
  await createPodFiles({ files, subPaths, userNamespaces: { release } }, options).removeDirectories("uid-1");
  expect(seen).toEqual(["uid-1", undefined]);
});

it("mounts volumes, the hosts file and a termination log that everybody may write", async () => {
  const { files, podFiles, pod, mount } = createRig({ hostAliases: [{ ip: "192.0.2.9", hostnames: ["db"] }] });
  await podFiles.makeDirectories(pod);
  const volumeMounts = [{ name: "data", mountPath: "/data", readOnly: true }];
  const mounts = await mount({ volumeMounts, terminationMessagePath: "/dev/termination-log" });
  expect(mounts).toMatchObject([
    { containerPath: "/data", hostPath: "/host/data", readonly: true },
    { containerPath: "/etc/hosts", hostPath: `${POD_DIRECTORY}/etc-hosts` },
    { containerPath: "/dev/termination-log" },
  ]);
  const hosts = files.text(`${POD_DIRECTORY}/etc-hosts`);
  expect(hosts).toContain("10.0.0.7\tweb");
  expect(hosts).toContain("192.0.2.9\tdb");
  expect(await files.stat(mounts[2]?.hostPath ?? "")).toMatchObject({ mode: 0o666, sizeBytes: 0 });
});

describe("a termination log", () => {
  const LOG = { terminationMessagePath: "/dev/termination-log" };
  const DIRECTORY = `${POD_DIRECTORY}/containers/main`;

  it("is each start's own, and empty, also when a start is tried again", async () => {
    const { files, podFiles, pod, mount } = createRig();
    await podFiles.makeDirectories(pod);
    const paths = new Set<string>();
    for (const restartCount of [0, 1, 1, 2]) {
      const path = (await mount(LOG, { restartCount })).at(-1)?.hostPath ?? "";
      expect(files.text(path)).toBe("");
      files.put(path, `words of ${restartCount}`);
      paths.add(path);
    }
    expect(paths.size).toBe(3);
  });

  it("goes when its container is two behind, and nothing else does", async () => {
    const { files, mount } = createRig();
    files.put(`${DIRECTORY}/9a245528`, "of a Go kubelet");
    for (let restartCount = 0; restartCount < 300; restartCount++) await mount(LOG, { restartCount });
    expect((await files.list(DIRECTORY)).map(({ name }) => name)).toEqual(["0000012a", "0000012b", "9a245528"]);
    await mount(LOG, { restartCount: 0 });
    expect(await files.list(DIRECTORY)).toHaveLength(4);
    files.intercept(({ operation }) => {
      if (operation === "remove") throw new Error("read-only file system");
    });
    expect((await mount(LOG, { restartCount: 400 })).at(-1)?.hostPath).toBe(`${DIRECTORY}/00000190`);
  });
});

it("gives a pod on the host's network the node's /etc/hosts, also before the node knows its own address", async () => {
  const { files, podFiles, pod, mount } = createRig({ hostNetwork: true });
  await podFiles.makeDirectories(pod);
  files.put("/etc/hosts", "127.0.0.1 localhost of the node\n");
  expect(await mount({}, { podIps: [] })).toMatchObject([{ containerPath: "/etc/hosts" }]);
  expect(files.text(`${POD_DIRECTORY}/etc-hosts`)).toContain("of the node");
});

it.each([undefined, false, true])("has files labelled where SELinux is enabled (%s)", async (seLinuxEnabled) => {
  const { podFiles, pod, mount } = createRig({}, seLinuxEnabled === undefined ? {} : { seLinuxEnabled });
  await podFiles.makeDirectories(pod);
  const volumeMounts = [{ name: "data", mountPath: "/data" }];
  const mounts = await mount({ volumeMounts, terminationMessagePath: "/dev/termination-log" });
  expect(mounts.map(({ selinuxRelabel }) => selinuxRelabel)).toEqual(mounts.map(() => seLinuxEnabled === true));
});

it("makes no file for a container whose volumes cannot be mounted", async () => {
  const { files, podFiles, pod, make } = createRig();
  await podFiles.makeDirectories(pod);
  const container = { terminationMessagePath: "/dev/termination-log" };
  const fails = async (more: object) => await make({ ...container, ...more });
  const error = 'cannot find volume "gone" to mount into container "main"';
  expect(await fails({ volumeMounts: [{ name: "gone", mountPath: "/x" }] })).toEqual({ ok: false, error });
  expect(await fails({ volumeMounts: [{ name: "data", mountPath: "/x", subPathExpr: "$(NO)" }] })).toEqual({
    ok: false,
    error: "missing value for NO",
  });
  expect(await fails({ volumeDevices: [{ name: "data", devicePath: "/dev/x" }] })).toMatchObject({ ok: false });
  expect((await files.list(POD_DIRECTORY)).map(({ name }) => name)).toEqual(["plugins", "volumes"]);
});

it("leaves /etc/hosts to a volume that is mounted there, and to a pod that has no address", async () => {
  const { podFiles, pod, mount } = createRig();
  await podFiles.makeDirectories(pod);
  const own = await mount({ volumeMounts: [{ name: "data", mountPath: "/etc/hosts" }] });
  expect(own).toMatchObject([{ containerPath: "/etc/hosts", hostPath: "/host/data" }]);
  expect(await mount({}, { podIps: [] })).toEqual([]);
});
