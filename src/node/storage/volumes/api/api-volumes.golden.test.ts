import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, type TestContext } from "vitest";
import type { PodSpec, Volume } from "../../../../api/gen/types.ts";
import { createFakeHost } from "../../../../host/fake/create-fake-host.ts";
import { createLinuxHost } from "../../../../host/linux/create-linux-host.ts";
import type { Host } from "../../../../host/port.ts";
import { createVolumeRig, podWith, setUpPaths } from "../__fixtures__/volume-rig.ts";
import type { PodVolumes } from "../pod-volumes.ts";
import { createFakeVolumeSources, encode, type FakeVolumeSources } from "./__fixtures__/fake-volume-sources.ts";
import { listTree } from "./__fixtures__/list-tree.ts";

/** What service account admission gives every pod. */
const KUBE_API_ACCESS: Volume = {
  name: "kube-api-access-x7k2p",
  projected: {
    defaultMode: 0o644,
    sources: [
      { serviceAccountToken: { path: "token", expirationSeconds: 3607 } },
      { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
      { downwardAPI: { items: [{ path: "namespace", fieldRef: { fieldPath: "metadata.namespace" } }] } },
    ],
  },
};
const VOLUMES: Volume[] = [
  KUBE_API_ACCESS,
  { name: "conf", configMap: { name: "conf", defaultMode: 0o644 } },
  { name: "login", secret: { secretName: "login", defaultMode: 0o400, items: [{ key: "user", path: "db/user" }] } },
  { name: "info", downwardAPI: { items: [{ path: "labels", fieldRef: { fieldPath: "metadata.labels" } }] } },
];

let rootDirectory: string;
let host: Host;
let volumes: PodVolumes;
let sources: FakeVolumeSources;

async function createReal() {
  const directory = await mkdtemp(join(tmpdir(), "nodelet-volumes-"));
  return {
    directory,
    made: createLinuxHost(),
    close: async () => await rm(directory, { recursive: true, force: true }),
  };
}
async function createFake() {
  const made = createFakeHost();
  await made.files.makeDirectory("/kubelet", 0o755);
  return { directory: "/kubelet", made, close: async () => undefined };
}

const setUp = async (spec: Partial<PodSpec> = {}, list = VOLUMES): Promise<ReadonlyMap<string, string>> => {
  const pod = podWith(list, spec);
  return await setUpPaths(volumes, { ...pod, metadata: { ...pod.metadata, labels: { app: "web" } } });
};
const podTree = async () => await listTree(host.files, `${rootDirectory}/pods/uid-1`);

const ACCESS = "volumes/kubernetes.io~projected/kube-api-access-x7k2p";
const NOTES = "plugins/kubernetes.io~empty-dir";

describe.each([
  ["in memory", createFake],
  ["on the machine", createReal],
])("volumes %s", (name, create) => {
  let close: () => Promise<void>;
  beforeEach(async (context: TestContext) => {
    // Mounts and owners are root's to give.
    if (name === "on the machine" && process.getuid?.() !== 0) context.skip("needs root");
    const { directory, made, ...rest } = await create();
    [rootDirectory, host, close] = [directory, made, rest.close];
    for (const part of ["", "/plugins", "/volumes"])
      await host.files.makeDirectory(`${directory}/pods/uid-1${part}`, 0o750);
    sources = createFakeVolumeSources();
    sources.configMaps.set("shop/kube-root-ca.crt", { data: { "ca.crt": "PEM\n", other: "not asked for" } });
    sources.configMaps.set("shop/conf", { data: { "app.conf": "a=1\n" }, binaryData: encode({ logo: "PNG" }) });
    sources.secrets.set("shop/login", { data: encode({ user: "admin", password: "p" }) });
    volumes = createVolumeRig({ host, api: sources }, rootDirectory);
  });
  afterEach(async () => {
    await volumes.tearDown("uid-1");
    await close();
  });

  it("are laid out as kubelet does", async () => {
    const paths = await setUp();
    expect(paths.get("kube-api-access-x7k2p")).toBe(`${rootDirectory}/pods/uid-1/${ACCESS}`);
    expect((await podTree()).filter((line) => !line.includes(NOTES))).toEqual([
      "0750 0:0 plugins/",
      "0750 0:0 volumes/",
      "0755 0:0 volumes/kubernetes.io~configmap/",
      "0777 0:0 volumes/kubernetes.io~configmap/conf/",
      "0755 0:0 volumes/kubernetes.io~configmap/conf/..VERSION/",
      '0644 0:0 volumes/kubernetes.io~configmap/conf/..VERSION/app.conf = "a=1\\n"',
      '0644 0:0 volumes/kubernetes.io~configmap/conf/..VERSION/logo = "PNG"',
      "link volumes/kubernetes.io~configmap/conf/..data -> ..VERSION",
      "link volumes/kubernetes.io~configmap/conf/app.conf -> ..data/app.conf",
      "link volumes/kubernetes.io~configmap/conf/logo -> ..data/logo",
      "0755 0:0 volumes/kubernetes.io~downward-api/",
      "1777 0:0 volumes/kubernetes.io~downward-api/info/",
      "0755 0:0 volumes/kubernetes.io~downward-api/info/..VERSION/",
      '0644 0:0 volumes/kubernetes.io~downward-api/info/..VERSION/labels = "app=\\"web\\""',
      "link volumes/kubernetes.io~downward-api/info/..data -> ..VERSION",
      "link volumes/kubernetes.io~downward-api/info/labels -> ..data/labels",
      "0755 0:0 volumes/kubernetes.io~projected/",
      `1777 0:0 ${ACCESS}/`,
      `0755 0:0 ${ACCESS}/..VERSION/`,
      `0644 0:0 ${ACCESS}/..VERSION/ca.crt = "PEM\\n"`,
      `0644 0:0 ${ACCESS}/..VERSION/namespace = "shop"`,
      `0644 0:0 ${ACCESS}/..VERSION/token = "token-1"`,
      `link ${ACCESS}/..data -> ..VERSION`,
      `link ${ACCESS}/ca.crt -> ..data/ca.crt`,
      `link ${ACCESS}/namespace -> ..data/namespace`,
      `link ${ACCESS}/token -> ..data/token`,
      "0755 0:0 volumes/kubernetes.io~secret/",
      "1777 0:0 volumes/kubernetes.io~secret/login/",
      "0755 0:0 volumes/kubernetes.io~secret/login/..VERSION/",
      "0755 0:0 volumes/kubernetes.io~secret/login/..VERSION/db/",
      '0400 0:0 volumes/kubernetes.io~secret/login/..VERSION/db/user = "admin"',
      "link volumes/kubernetes.io~secret/login/..data -> ..VERSION",
      "link volumes/kubernetes.io~secret/login/db -> ..data/db",
    ]);
  });

  it("are noted as ready as upstream's wrapped emptyDirs are", async () => {
    await setUp();
    const notes = (await podTree()).filter((line) => line.includes(NOTES));
    expect(notes[0]).toBe(`0750 0:0 ${NOTES}/`);
    const wrapped = ["conf", "info", "kube-api-access-x7k2p", "login"].map((volume) => `${NOTES}/wrapped_${volume}`);
    expect(notes.slice(1)).toEqual(wrapped.flatMap((note) => [`0750 0:0 ${note}/`, `0644 0:0 ${note}/ready = ""`]));
  });

  it("belong to the pod's group, and a token to the user that all containers run as", async () => {
    await setUp({ securityContext: { fsGroup: 2000, runAsUser: 1000 } });
    expect((await podTree()).filter((line) => !line.startsWith("link") && !line.includes(NOTES)).slice(2)).toEqual([
      "0755 0:0 volumes/kubernetes.io~configmap/",
      "2777 0:2000 volumes/kubernetes.io~configmap/conf/",
      "2755 0:2000 volumes/kubernetes.io~configmap/conf/..VERSION/",
      '0644 0:2000 volumes/kubernetes.io~configmap/conf/..VERSION/app.conf = "a=1\\n"',
      '0644 0:2000 volumes/kubernetes.io~configmap/conf/..VERSION/logo = "PNG"',
      "0755 0:0 volumes/kubernetes.io~downward-api/",
      "3777 0:2000 volumes/kubernetes.io~downward-api/info/",
      "2755 0:2000 volumes/kubernetes.io~downward-api/info/..VERSION/",
      '0644 0:2000 volumes/kubernetes.io~downward-api/info/..VERSION/labels = "app=\\"web\\""',
      "0755 0:0 volumes/kubernetes.io~projected/",
      `3777 0:2000 ${ACCESS}/`,
      `2755 0:2000 ${ACCESS}/..VERSION/`,
      `0644 0:2000 ${ACCESS}/..VERSION/ca.crt = "PEM\\n"`,
      `0644 0:2000 ${ACCESS}/..VERSION/namespace = "shop"`,
      `0640 1000:2000 ${ACCESS}/..VERSION/token = "token-1"`,
      "0755 0:0 volumes/kubernetes.io~secret/",
      "3777 0:2000 volumes/kubernetes.io~secret/login/",
      "2755 0:2000 volumes/kubernetes.io~secret/login/..VERSION/",
      "2755 0:2000 volumes/kubernetes.io~secret/login/..VERSION/db/",
      '0440 0:2000 volumes/kubernetes.io~secret/login/..VERSION/db/user = "admin"',
    ]);
  });

  it("of a pod without a group keep the token to its one user", async () => {
    await setUp({ containers: [{ name: "main", securityContext: { runAsUser: 1000 } }] }, [KUBE_API_ACCESS]);
    const files = (await podTree()).filter((line) => line.includes("..VERSION/") && line.includes(" = "));
    expect(files.map((line) => line.split(" = ")[0])).toEqual([
      `0644 0:0 ${ACCESS}/..VERSION/ca.crt`,
      `0644 0:0 ${ACCESS}/..VERSION/namespace`,
      `0600 1000:0 ${ACCESS}/..VERSION/token`,
    ]);
  });

  it("are updated in place, and an agent that starts anew finds them as they are", async () => {
    await setUp();
    sources.secrets.set("shop/login", { data: encode({ user: "root", password: "p" }) });
    sources.configMaps.set("shop/conf", { data: { "new.conf": "b=2\n" } });
    sources.currentToken = "token-2";
    await setUp();
    const updated = await podTree();
    expect(updated).toContain(`0644 0:0 ${ACCESS}/..VERSION/token = "token-2"`);
    expect(updated).toContain('0400 0:0 volumes/kubernetes.io~secret/login/..VERSION/db/user = "root"');
    expect(updated.filter((line) => line.includes("configmap/conf/"))).toEqual([
      "0777 0:0 volumes/kubernetes.io~configmap/conf/",
      "0755 0:0 volumes/kubernetes.io~configmap/conf/..VERSION/",
      '0644 0:0 volumes/kubernetes.io~configmap/conf/..VERSION/new.conf = "b=2\\n"',
      "link volumes/kubernetes.io~configmap/conf/..data -> ..VERSION",
      "link volumes/kubernetes.io~configmap/conf/new.conf -> ..data/new.conf",
    ]);
    const data = `${rootDirectory}/pods/uid-1/${ACCESS}/..data`;
    const version = await host.files.readLink(data);
    volumes = createVolumeRig({ host, api: sources }, rootDirectory);
    await setUp();
    expect(await host.files.readLink(data)).toBe(version);
    expect(await podTree()).toEqual(updated);
  });

  it("leave nothing behind", async () => {
    await setUp();
    await volumes.tearDown("uid-1");
    expect(await podTree()).toEqual(["0750 0:0 plugins/"]);
  });
});
