import { expect, it } from "vitest";
import { startGoldenAgent, WEB } from "../__fixtures__/golden-agent.ts";

/**
 * Which accesses of files a pod of one container with one volume in memory costs, in their order. Each waits for a thread,
 * most of them for several system calls. Who adds one changes this file, and says why it is needed.
 */
const START = [
  "exchange /var/lib/kubelet/allocated_pods_state",
  // Whether an earlier sync has made them.
  "stat pods/UID/volumes",
  "makeDirectory pods/UID",
  "makeDirectory pods/UID/plugins",
  "makeDirectory pods/UID/volumes",
  "stat pods/UID/volumes/kubernetes.io~downward-api/info",
  "makeDirectory pods/UID/volumes/kubernetes.io~downward-api/info",
  "makeDirectory pods/UID/plugins/kubernetes.io~empty-dir",
  "makeDirectoryBeneath /var/log/pods/default_web-golden_UID",
  "makeDirectory pods/UID/plugins/kubernetes.io~empty-dir/wrapped_info",
  "touch pods/UID/plugins/kubernetes.io~empty-dir/wrapped_info/ready",
  // One call, whatever is in the volume. The fake tells of every name.
  "createTree pods/UID/volumes/kubernetes.io~downward-api/info/..VERSION",
  "createTree pods/UID/volumes/kubernetes.io~downward-api/info/..VERSION/name",
  "createTree pods/UID/volumes/kubernetes.io~downward-api/info/..data",
  "createTree pods/UID/volumes/kubernetes.io~downward-api/info/name",
  "exchange /var/lib/kubelet/actuated_pods_state",
  // The restart count of a container that a former runtime knew.
  "list /var/log/pods/default_web-golden_UID/main",
  "makeDirectoryBeneath /var/log/pods/default_web-golden_UID/main",
  "replace pods/UID/etc-hosts",
  "makeDirectory pods/UID/containers",
  "makeDirectory pods/UID/containers/main",
  "replace pods/UID/containers/main/00000000",
  "link /var/log/containers/web-golden_default_main-ID.log",
];
const END = [
  // Whether the container wrote a message.
  "stat pods/UID/containers/main/00000000",
  "stat pods/UID/volume-subpaths",
  "remove /var/log/containers/web-golden_default_main-ID.log",
  "readLink pods/UID/volume-subpaths",
  "remove /var/log/pods/default_web-golden_UID",
  "list pods/UID/volumeDevices",
  "list pods/UID/volumes",
  "list pods/UID/volumes/kubernetes.io~downward-api",
  "remove pods/UID/volumes/kubernetes.io~downward-api/info",
  "remove pods/UID/plugins/kubernetes.io~empty-dir",
  "remove pods/UID/volumes/kubernetes.io~downward-api",
  "remove pods/UID/volumes",
  "remove pods/UID",
];
/** What a node agent looks at that finds the pod running, and changes nothing. */
const TAKE_UP = [
  "stat pods/UID/volumes",
  "stat pods/UID/volumes/kubernetes.io~downward-api/info",
  "stat pods/UID/plugins/kubernetes.io~empty-dir/wrapped_info/ready",
  // Whether the volume shows what it should.
  "list pods/UID/volumes/kubernetes.io~downward-api/info",
  "readLink pods/UID/volumes/kubernetes.io~downward-api/info/..data",
  "list pods/UID/volumes/kubernetes.io~downward-api/info/..VERSION",
  "read pods/UID/volumes/kubernetes.io~downward-api/info/..VERSION/name",
  "readLink pods/UID/volumes/kubernetes.io~downward-api/info/name",
];

it("makes exactly these accesses for the start and the end of a pod", async () => {
  const agent = await startGoldenAgent();
  const accesses: string[] = [];
  // The first container of a node makes it.
  await agent.host.files.makeDirectory("/var/log/containers", 0o755);
  agent.host.files.intercept(({ operation, path, phase }) => {
    if (phase === "before" && isOfPods(path)) accesses.push(`${operation} ${named(path)}`);
  });
  await agent.startPod(POD);
  expect(accesses.splice(0)).toEqual(START);
  await agent.endPod();
  expect(accesses.splice(0)).toEqual(END);
  await agent.stop();
});

it("makes exactly these accesses when it is started again, for each pod that runs", async () => {
  const first = await startGoldenAgent();
  const accesses: string[] = [];
  await first.startPod(POD);
  await first.stop();
  first.host.files.intercept(({ operation, path, phase }) => {
    if (phase === "before" && isOfPods(path) && path.includes("/pods/")) accesses.push(`${operation} ${named(path)}`);
  });
  const second = await first.startAnother();
  expect(accesses.splice(0)).toEqual(TAKE_UP);
  await second.endPod();
  await second.stop();
});

const POD = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "web", labels: { app: "web" } },
  spec: {
    containers: [{ ...WEB, volumeMounts: [{ name: "info", mountPath: "/info" }] }],
    volumes: [{ name: "info", downwardAPI: { items: [{ path: "name", fieldRef: { fieldPath: "metadata.name" } }] } }],
  },
};

function isOfPods(path: string): boolean {
  // The runtime writes the log.
  if (path.endsWith("/0.log")) return false;
  return /^\/var\/(lib\/kubelet\/(pods|allocated_pods_state|actuated_pods_state)|log\/)/.test(path);
}

/** The path without what differs from run to run. */
function named(path: string): string {
  return path
    .replace("/var/lib/kubelet/pods/", "pods/")
    .replace(/-[0-9a-f]{64}/, "-ID")
    .replace(/[0-9a-f]{32}/g, "UID")
    .replace(/\.\.\d{4}[_\d.]+/, "..VERSION");
}
