import { expect, it } from "vitest";
import type { Pod } from "../../api/gen/types.ts";
import { createFakeHost } from "../../host/fake/create-fake-host.ts";
import { createPodFiles } from "./pod-files.ts";

const POD_DIRECTORY = "/var/lib/kubelet/pods/uid-1";

function createRig(spec: Partial<NonNullable<Pod["spec"]>> = {}) {
  const { files, random } = createFakeHost();
  const podFiles = createPodFiles(
    { files, random },
    { rootDirectory: "/var/lib/kubelet", clusterDomain: "cluster.local" },
  );
  const pod: Pod = { metadata: { uid: "uid-1", name: "web", namespace: "default" }, spec: { containers: [], ...spec } };
  const mount = async (container: object, podIps: readonly string[] = ["10.0.0.7"]) =>
    await podFiles.makeMounts({
      pod,
      next: { container: { name: "main", ...container }, kind: "main", restartCount: 0, previousEndedAt: undefined },
      podIps,
      volumes: new Map([["data", "/host/data"]]),
    });
  return { files, podFiles, pod, mount };
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
  const { files, random } = createFakeHost();
  files.put(`${POD_DIRECTORY}/userns`, "{}");
  const seen: unknown[] = [];
  const release = async (uid: string) => void seen.push(uid, await files.stat(POD_DIRECTORY));
  const options = { rootDirectory: "/var/lib/kubelet", clusterDomain: "" };
  await createPodFiles({ files, random, userNamespaces: { release } }, options).removeDirectories("uid-1");
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

it("gives each start a termination log of its own", async () => {
  const { podFiles, pod, mount } = createRig();
  await podFiles.makeDirectories(pod);
  const paths = new Set<string>();
  for (let start = 0; start < 5; start++) {
    const mounts = await mount({ terminationMessagePath: "/dev/termination-log" });
    paths.add(mounts.find(({ containerPath }) => containerPath === "/dev/termination-log")?.hostPath ?? "");
  }
  expect(paths.size).toBe(5);
});

it("leaves /etc/hosts to a volume that is mounted there, and to a pod that has no address", async () => {
  const { podFiles, pod, mount } = createRig();
  await podFiles.makeDirectories(pod);
  const own = await mount({ volumeMounts: [{ name: "data", mountPath: "/etc/hosts" }] });
  expect(own).toMatchObject([{ containerPath: "/etc/hosts", hostPath: "/host/data" }]);
  expect(await mount({}, [])).toEqual([]);
});
