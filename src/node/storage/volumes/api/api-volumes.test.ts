import { beforeEach, describe, expect, it } from "vitest";
import type { PodSpec, Volume } from "../../../../api/gen/types.ts";
import { createFakeHost, type FakeHost } from "../../../../host/fake/create-fake-host.ts";
import { createVolumeRig, podWith, setUpPaths } from "../__fixtures__/volume-rig.ts";
import type { PodVolumes } from "../pod-volumes.ts";
import { createFakeVolumeSources, encode, type FakeVolumeSources } from "./__fixtures__/fake-volume-sources.ts";

const POD = "/kubelet/pods/uid-1";
const TOKEN: Volume = {
  name: "token",
  projected: { sources: [{ serviceAccountToken: { path: "token", audience: "vault", expirationSeconds: 600 } }] },
};
const SECRET: Volume = { name: "login", secret: { secretName: "login" } };
const CONFIG: Volume = { name: "conf", configMap: { name: "conf" } };
const WRITES = new Set([
  "createTree",
  "link",
  "remove",
  "makeDirectory",
  "setGroup",
  "touch",
  "mountMemory",
  "replace",
]);

let host: FakeHost;
let sources: FakeVolumeSources;
let volumes: PodVolumes;
let outdated: string[];
let writes: string[];
let accesses: number;

beforeEach(() => {
  host = createFakeHost();
  sources = createFakeVolumeSources();
  sources.secrets.set("shop/login", { data: encode({ user: "admin" }) });
  sources.configMaps.set("shop/conf", { data: { "app.conf": "a=1" } });
  [outdated, writes, accesses] = [[], [], 0];
  host.files.intercept(({ operation, path, phase }) => {
    if (phase !== "before") return;
    accesses++;
    if (WRITES.has(operation)) writes.push(`${operation} ${path}`);
  });
  volumes = start();
});

/** An agent that starts knows nothing of what an earlier one did. */
function start(): PodVolumes {
  const onOutdated = (message: string) => void outdated.push(message);
  return createVolumeRig({ host, api: sources, onOutdated }, "/kubelet");
}

async function setUp(list: Volume[], { signal, ...spec }: Partial<PodSpec> & { signal?: AbortSignal } = {}) {
  return await setUpPaths(volumes, podWith(list, spec), signal);
}

const read = (path: string) => host.files.text(`${POD}/volumes/kubernetes.io~${path}`);

/** Mounts wait from now on. */
function holdMounts(): { goOn(): void } {
  let goOn = () => {};
  const passed = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  host.mounts.intercept(async ({ operation, phase }) => {
    if (operation === "mountMemory" && phase === "before") await passed;
  });
  return { goOn: () => goOn() };
}

it("is set up as far as the pod's sandbox needs it when its content is known", async () => {
  const mount = holdMounts();
  const { volumes: ready, finished } = await volumes.setUp(podWith([SECRET]));
  const hostPath = `${POD}/volumes/kubernetes.io~secret/login`;
  expect([...ready]).toEqual([["login", { kind: "files", hostPath, readOnly: true, relabel: true }]]);
  expect(writes.filter((write) => write.startsWith("createTree"))).toEqual([]);
  mount.goOn();
  await finished;
  expect(read("secret/login/user")).toBe("admin");
});

describe("what cannot be had", () => {
  it.each<[string, Volume, string]>([
    ["a secret", { name: "x", secret: { secretName: "y" } }, 'secret "y" not found'],
    ["a config map", { name: "x", configMap: { name: "y" } }, 'configmap "y" not found'],
    [
      "a secret's key",
      { name: "x", secret: { secretName: "login", items: [{ key: "k", path: "p" }] } },
      "references non-existent secret key: k",
    ],
    [
      "a config map's key",
      { name: "x", configMap: { name: "conf", items: [{ key: "k", path: "p" }] } },
      "configmap references non-existent config key: k",
    ],
    [
      "sources of a projection",
      { name: "x", projected: { sources: [{ secret: { name: "y" } }, { configMap: { name: "z" } }] } },
      '[secret "y" not found, configmap "z" not found]',
    ],
    [
      "a path outside of the volume",
      { name: "x", secret: { secretName: "login", items: [{ key: "user", path: "../../etc/x" }] } },
      "invalid path: must not contain '..': ../../etc/x",
    ],
    [
      "a trust bundle",
      { name: "x", projected: { sources: [{ clusterTrustBundle: { name: "y", path: "ca" } }] } },
      'while getting ClusterTrustBundle: clustertrustbundle.certificates.k8s.io "y" not found',
    ],
    [
      "a signer's trust bundles",
      { name: "x", projected: { sources: [{ clusterTrustBundle: { signerName: "example.com/s", path: "ca" } }] } },
      "combination of signerName and labelSelector matched zero ClusterTrustBundles",
    ],
    [
      "a pod certificate",
      { name: "x", projected: { sources: [{ podCertificate: { keyType: "ED25519", signerName: "example.com/s" } }] } },
      "credential bundle is not issued yet",
    ],
  ])("%s is named with the volume", async (_what, volume, message) => {
    await expect(setUp([volume, SECRET])).rejects.toMatchObject({
      message: `MountVolume.SetUp failed for volume "x" : ${message}`,
    });
    expect(read("secret/login/user")).toBe("admin");
  });

  it("is none where a source is empty, which is what a server makes of one that it does not know", async () => {
    await setUp([{ name: "x", projected: { sources: [{}] } }, SECRET]);
    expect(read("secret/login/user")).toBe("admin");
  });

  it("is said when nothing is under way any more", async () => {
    const mount = holdMounts();
    let failure: unknown;
    const failed = setUp([SECRET, { name: "x", secret: { secretName: "y" } }]).catch((error: unknown) => {
      failure = error;
    });
    await host.clock.settle();
    expect(failure).toBeUndefined();
    mount.goOn();
    await failed;
    expect(failure).toMatchObject({ message: expect.stringContaining('secret "y" not found') });
  });

  it("but is optional gives an empty volume, which fills when the object comes", async () => {
    const optional: Volume[] = [
      { name: "s", secret: { secretName: "later", optional: true } },
      { name: "c", configMap: { name: "later", optional: true, items: [{ key: "k", path: "p" }] } },
    ];
    await setUp(optional);
    expect(await host.files.list(`${POD}/volumes/kubernetes.io~secret/s/..data`)).toEqual([]);
    sources.secrets.set("shop/later", { data: encode({ a: "1" }) });
    sources.configMaps.set("shop/later", { data: { k: "2" } });
    await setUp(optional);
    expect([read("secret/s/a"), read("configmap/c/p")]).toEqual(["1", "2"]);
    sources.secrets.delete("shop/later");
    await setUp(optional);
    expect(read("secret/s/a")).toBeUndefined();
    expect(outdated).toEqual([]);
  });

  it("for another reason than that it is absent fails an optional volume too", async () => {
    sources.outage = new Error("the server does not answer");
    const volume = { name: "s", secret: { secretName: "login", optional: true } };
    await expect(setUp([volume])).rejects.toThrow('volume "s" : the server does not answer');
  });

  it("without an API server is refused where only one has it, with the reason", async () => {
    volumes = createVolumeRig({ host }, "/kubelet");
    await expect(setUp([TOKEN])).rejects.toThrow("service account tokens need an API server, and there is none here");
    await expect(setUp([SECRET])).rejects.toThrow('volume "login" : there is none beside the pod');
  });

  it("without an API server is no lack for what the pod itself tells", async () => {
    volumes = createVolumeRig({ host }, "/kubelet");
    const items = [{ path: "name", fieldRef: { fieldPath: "metadata.name" } }];
    await setUp([
      { name: "info", downwardAPI: { items } },
      { name: "all", projected: { sources: [{ downwardAPI: { items } }] } },
    ]);
    expect([read("downward-api/info/name"), read("projected/all/name")]).toEqual(["web", "web"]);
  });
});

describe("a certificate", () => {
  const CERTIFIED: Volume = {
    name: "tls",
    projected: {
      sources: [
        { configMap: { name: "conf" } },
        { podCertificate: { keyType: "ED25519", signerName: "example.com/s", credentialBundlePath: "bundle.pem" } },
      ],
    },
  };
  const issued = (keyPem: string) => ({ kind: "issued", keyPem, chainPem: "CHAIN\n" }) as const;
  const place = "uid-1/tls/1";

  it("is there with the other sources of its volume, and replaced by the next", async () => {
    sources.certificates.set(place, issued("KEY 1\n"));
    await setUp([CERTIFIED]);
    expect([read("projected/tls/bundle.pem"), read("projected/tls/app.conf")]).toEqual(["KEY 1\nCHAIN\n", "a=1"]);
    sources.certificates.set(place, issued("KEY 2\n"));
    await setUp([CERTIFIED]);
    expect(read("projected/tls/bundle.pem")).toBe("KEY 2\nCHAIN\n");
  });

  it("that may still come is waited for without an event", async () => {
    sources.certificates.set(place, { kind: "waiting", message: "not yet", isUsual: true });
    const message = 'MountVolume.SetUp failed for volume "tls" : not yet';
    await expect(setUp([CERTIFIED])).rejects.toMatchObject({ message, complaints: [] });
    sources.certificates.set(place, { kind: "waiting", message: "not yet", isUsual: false });
    await expect(setUp([CERTIFIED])).rejects.toMatchObject({ complaints: [{ reason: "FailedMount", message }] });
  });

  it("that is refused later leaves the last one there, with an event", async () => {
    sources.certificates.set(place, issued("KEY 1\n"));
    await setUp([CERTIFIED]);
    sources.certificates.set(place, { kind: "refused", message: "never" });
    await setUp([CERTIFIED]);
    expect(read("projected/tls/bundle.pem")).toBe("KEY 1\nCHAIN\n");
    expect(outdated).toEqual([expect.stringContaining("never")]);
  });

  it("needs an API server", async () => {
    volumes = createVolumeRig({ host }, "/kubelet");
    const only = { name: "tls", projected: { sources: [CERTIFIED.projected?.sources?.[1] ?? {}] } };
    await expect(setUp([only])).rejects.toThrow("pod certificates need an API server");
  });
});

describe("a token", () => {
  it("is asked for with the pod that it is bound to", async () => {
    await setUp([TOKEN], { serviceAccountName: "robot" });
    const plain: Volume = { name: "plain", projected: { sources: [{ serviceAccountToken: { path: "t" } }] } };
    await setUp([plain], { serviceAccountName: "robot" });
    const pod = { name: "web", uid: "uid-1" };
    expect(sources.tokenRequests).toMatchObject([
      { namespace: "shop", serviceAccount: "robot", audiences: ["vault"], expirationSeconds: 600, pod },
      { namespace: "shop", serviceAccount: "robot", audiences: [], expirationSeconds: 3600, pod },
    ]);
  });

  it("that the pod is shown already is there to be taken up by the next agent", async () => {
    await setUp([TOKEN]);
    volumes = start();
    await setUp([TOKEN]);
    expect(await Promise.all(sources.tokenRequests.map(async ({ shown }) => await shown?.()))).toEqual([
      "token-1",
      "token-1",
    ]);
    await volumes.tearDown("uid-1");
    expect(await sources.tokenRequests[0]?.shown?.()).toBeUndefined();
  });

  it("leaves the volume as it is where it is still the same after a restart", async () => {
    await setUp([TOKEN]);
    const link = `${POD}/volumes/kubernetes.io~projected/token/..data`;
    const version = await host.files.readLink(link);
    volumes = start();
    await setUp([TOKEN]);
    expect(await host.files.readLink(link)).toBe(version);
  });
});

describe("trust anchors", () => {
  const bundle = (content: string) =>
    `-----BEGIN CERTIFICATE-----\n${Buffer.from(content).toString("base64")}\n-----END CERTIFICATE-----\n`;
  const anchors = (fields: object): Volume => ({
    name: "ca",
    projected: { sources: [{ clusterTrustBundle: { path: "ca.pem", ...fields } }] },
  });

  it("of one bundle, or of all of a signer, are one file", async () => {
    sources.trustBundles.set("one", { signerName: "example.com/s", trustBundle: bundle("b") + bundle("a") });
    sources.trustBundles.set("two", { signerName: "example.com/s", trustBundle: bundle("a") + bundle("c") });
    await setUp([anchors({ name: "one" })]);
    expect(read("projected/ca/ca.pem")).toBe(bundle("a") + bundle("b"));
    await setUp([anchors({ signerName: "example.com/s" })]);
    expect(read("projected/ca/ca.pem")).toBe(bundle("a") + bundle("b") + bundle("c"));
  });

  it.each([{ name: "none" }, { signerName: "example.com/none" }])(
    "that are optional may be none: %j",
    async (fields) => {
      await setUp([anchors({ ...fields, optional: true })]);
      expect(read("projected/ca/ca.pem")).toBe("");
    },
  );

  it("follow a change of their bundle", async () => {
    sources.trustBundles.set("one", { signerName: "", trustBundle: bundle("a") });
    await setUp([anchors({ name: "one" })]);
    sources.trustBundles.set("one", { signerName: "", trustBundle: bundle("b") });
    await setUp([anchors({ name: "one" })]);
    expect(read("projected/ca/ca.pem")).toBe(bundle("b"));
  });

  it("are refused where the API has no such kind", async () => {
    const { clusterTrustBundles: _none, ...api } = sources;
    volumes = createVolumeRig({ host, api }, "/kubelet");
    await expect(setUp([anchors({ name: "one" })])).rejects.toThrow(
      "ClusterTrustBundle projection is not supported in static kubelet mode",
    );
  });
});

describe("a set-up that is repeated", () => {
  it("writes nothing, and looks at one link for each volume", async () => {
    const list = [TOKEN, SECRET, CONFIG];
    const paths = await setUp(list);
    [writes, accesses] = [[], 0];
    expect(await setUp(list)).toEqual(paths);
    expect([writes, accesses]).toEqual([[], 3]);
  });

  it("after a restart of the agent writes nothing either", async () => {
    const list = [TOKEN, SECRET, CONFIG];
    await setUp(list, { securityContext: { fsGroup: 2000 } });
    writes = [];
    volumes = start();
    await setUp(list, { securityContext: { fsGroup: 2000 } });
    // The port makes nothing of a mount that is there.
    expect(writes.filter((write) => !write.startsWith("mountMemory"))).toEqual([]);
  });

  it("does not mind in which order an object has its keys", async () => {
    sources.configMaps.set("shop/conf", { data: { a: "1", b: "2" } });
    await setUp([CONFIG]);
    writes = [];
    sources.configMaps.set("shop/conf", { data: { b: "2", a: "1" } });
    await setUp([CONFIG]);
    expect(writes).toEqual([]);
  });

  it("changes only the volume whose object changed", async () => {
    await setUp([TOKEN, SECRET, CONFIG]);
    writes = [];
    sources.currentToken = "token-2";
    await setUp([TOKEN, SECRET, CONFIG]);
    expect(read("projected/token/token")).toBe("token-2");
    expect(writes.filter((write) => !write.includes("kubernetes.io~projected/token"))).toEqual([]);
  });

  it("restores what was unmounted or removed behind its back", async () => {
    await setUp([SECRET, CONFIG]);
    host.mounts.drop(`${POD}/volumes/kubernetes.io~secret/login`);
    host.files.delete(`${POD}/volumes/kubernetes.io~configmap`);
    await setUp([SECRET, CONFIG]);
    expect([read("secret/login/user"), read("configmap/conf/app.conf")]).toEqual(["admin", "a=1"]);
  });

  it("starts afresh after a tear-down", async () => {
    await setUp([SECRET]);
    await volumes.tearDown("uid-1");
    expect(await host.files.stat(`${POD}/volumes`)).toBeUndefined();
    await setUp([SECRET]);
    expect(read("secret/login/user")).toBe("admin");
  });
});

describe("a volume that containers use and that cannot be brought up to date", () => {
  it("stays as it was when its object is gone, and the reason is told", async () => {
    const paths = await setUp([SECRET]);
    sources.secrets.delete("shop/login");
    expect(await setUp([SECRET])).toEqual(paths);
    expect(read("secret/login/user")).toBe("admin");
    expect(outdated).toEqual(['MountVolume.SetUp failed for volume "login" : secret "login" not found']);
  });

  it("stays as it was when the disk is full, and follows when it is not", async () => {
    await setUp([CONFIG]);
    sources.configMaps.set("shop/conf", { data: { "app.conf": "a=2" } });
    const repair = host.files.intercept(({ operation }) => {
      if (operation === "createTree") throw new Error("ENOSPC: no space left on device");
    });
    await setUp([CONFIG]);
    expect([read("configmap/conf/app.conf"), outdated.length]).toEqual(["a=1", 1]);
    repair();
    await setUp([CONFIG]);
    expect([read("configmap/conf/app.conf"), outdated.length]).toEqual(["a=2", 1]);
  });

  it("is a failure when an update was left half-way", async () => {
    await setUp([CONFIG]);
    sources.configMaps.set("shop/conf", { data: { "new.conf": "a=2" } });
    const repair = host.files.intercept(({ operation, path }) => {
      if (operation === "link" && path.endsWith("/new.conf")) throw new Error("EIO");
    });
    for (let attempt = 0; attempt < 2; attempt++) await expect(setUp([CONFIG])).rejects.toThrow("EIO");
    repair();
    await setUp([CONFIG]);
    expect([read("configmap/conf/new.conf"), read("configmap/conf/app.conf")]).toEqual(["a=2", undefined]);
    expect(outdated).toEqual([]);
  });

  it("is a failure when nothing of it is there any more", async () => {
    await setUp([SECRET]);
    host.mounts.drop(`${POD}/volumes/kubernetes.io~secret/login`);
    sources.outage = new Error("the server does not answer");
    await expect(setUp([SECRET])).rejects.toThrow("the server does not answer");
  });
});

describe("an abort", () => {
  it("is no failure of a volume", async () => {
    await expect(setUp([SECRET], { signal: AbortSignal.abort() })).rejects.toMatchObject({ name: "AbortError" });
    await setUp([SECRET]);
    await expect(setUp([SECRET], { signal: AbortSignal.abort() })).rejects.toMatchObject({ name: "AbortError" });
    expect(outdated).toEqual([]);
  });
});

describe("secrets", () => {
  it("are mounted in memory, as large as the pod or the node allows, before anything is written", async () => {
    const sizes: Array<bigint | undefined> = [];
    const mounts = {
      ...host.mounts,
      mountMemory: async (path: string, size: bigint | undefined) => {
        sizes.push(size);
        writes.push(`mountMemory ${path}`);
        await host.mounts.mountMemory(path, size);
      },
    };
    volumes = createVolumeRig({ host: { ...host, mounts }, api: sources }, "/kubelet");
    await setUp([SECRET, CONFIG, TOKEN], { containers: [{ name: "c", resources: { limits: { memory: "1Mi" } } }] });
    expect(sizes).toEqual([1_048_576n, 1_048_576n]);
    const secret = `${POD}/volumes/kubernetes.io~secret/login`;
    const steps = writes.filter((write) => write.includes(secret)).map((write) => write.split(" ")[0]);
    expect(steps.slice(0, 3)).toEqual(["makeDirectory", "mountMemory", "createTree"]);
  });

  it("are in no error", async () => {
    sources.secrets.set("shop/login", { data: encode({ "..data": "hunter2", "a/b": "hunter2" }) });
    const failure = await setUp([SECRET]).catch((error: Error) => `${error.message} ${error.stack} ${error.cause}`);
    expect(failure).toContain("invalid path");
    expect(failure).not.toMatch(new RegExp(`hunter2|${Buffer.from("hunter2").toString("base64")}`));
  });
});

it("a volume mounted within another finds its mount point there", async () => {
  const volumeMounts = [
    { name: "conf", mountPath: "/etc/app" },
    { name: "login", mountPath: "/etc/app/login" },
  ];
  const spec = { containers: [{ name: "main", volumeMounts }] };
  await setUp([CONFIG, SECRET], spec);
  const mountPoint = `${POD}/volumes/kubernetes.io~configmap/conf/login`;
  expect(await host.files.stat(mountPoint)).toMatchObject({ type: "directory", mode: 0o755 });
  sources.configMaps.set("shop/conf", { data: { other: "x" } });
  await setUp([CONFIG, SECRET], spec);
  expect(await host.files.stat(mountPoint)).toMatchObject({ type: "directory" });
});

it("a crash anywhere in the set-up is healed by the next agent", async () => {
  const list = [TOKEN, SECRET, CONFIG];
  let steps = 0;
  for (let hasCrashed = true; hasCrashed; steps++) {
    let [phases, crashed] = [0, false];
    const crash = () => {
      if (phases++ < steps) return;
      crashed = true;
      throw new Error("crash");
    };
    const repairs = [host.files.intercept(crash), host.mounts.intercept(crash)];
    volumes = start();
    await setUp(list, { securityContext: { fsGroup: 2000 } }).catch(() => undefined);
    for (const repair of repairs) repair();
    hasCrashed = crashed;
    volumes = start();
    await setUp(list, { securityContext: { fsGroup: 2000 } });
    expect([read("projected/token/token"), read("secret/login/user"), read("configmap/conf/app.conf")]).toEqual([
      "token-1",
      "admin",
      "a=1",
    ]);
    expect(await host.files.stat(`${POD}/volumes/kubernetes.io~secret/login`)).toMatchObject({ mode: 0o3777 });
    await volumes.tearDown("uid-1");
  }
  expect(steps).toBeGreaterThan(60);
});

it("a tear-down deletes planted links, and nothing that they lead to", async () => {
  host.files.put("/host/x/precious", "kept");
  await setUp([SECRET, CONFIG]);
  for (const [index, volume] of ["secret/login", "configmap/conf"].entries()) {
    const directory = `${POD}/volumes/kubernetes.io~${volume}`;
    await host.files.link("/host/x", `${directory}/..data`);
    await host.files.link("/host/x", `${directory}/..2020_01_01_00_00_0${index}.000`);
    await host.files.link("/host/x/precious", `${directory}/user`);
  }
  await volumes.tearDown("uid-1");
  expect(host.files.text("/host/x/precious")).toBe("kept");
  expect(await host.files.stat(`${POD}/volumes`)).toBeUndefined();
});
