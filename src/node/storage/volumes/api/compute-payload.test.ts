import { describe, expect, it } from "vitest";
import type { ConfigMap, Pod, Secret } from "../../../../api/gen/types.ts";
import { encode } from "./__fixtures__/fake-volume-sources.ts";
import { computePayload, type FetchedSource, type PayloadContext } from "./compute-payload.ts";

const secret: Secret = { data: { ...encode({ user: "admin" }), raw: Buffer.from([0, 255, 128]).toString("base64") } };
const configMap: ConfigMap = {
  data: { "app.conf": "mode=fast\n", greeting: "Grüße" },
  binaryData: { logo: Buffer.from([137, 80, 78, 71]).toString("base64") },
  immutable: true,
};
const pod: Pod = {
  metadata: { name: "web", namespace: "shop", uid: "uid-1", labels: { b: "2", a: "1" } },
  spec: { containers: [{ name: "main", resources: { limits: { memory: "64Mi" } } }] },
};

function compute(sources: FetchedSource[], more: Partial<PayloadContext> = {}) {
  const owner = { user: undefined, group: undefined };
  return computePayload(sources, { pod, allocatable: { cpu: "4" }, defaultMode: 0o644, owner, ...more });
}

/** `mode path=content`, in the payload's order. */
const lines = (...input: Parameters<typeof compute>) =>
  [...compute(...input)].map(([path, { data, mode }]) => `${mode.toString(8)} ${path}=${data.toString("latin1")}`);

const ofSecret = (projection: object, found: Secret | undefined = secret): FetchedSource => ({
  kind: "secret",
  projection,
  secret: found,
});
const ofConfigMap = (projection: object, found: ConfigMap | undefined = configMap): FetchedSource => ({
  kind: "configMap",
  projection,
  configMap: found,
});
const latin1 = (text: string) => Buffer.from(text).toString("latin1");

describe("a secret", () => {
  it("without items is a file for each key", () => {
    expect(lines([ofSecret({})])).toEqual(["644 user=admin", "644 raw=\u0000\u00ff\u0080"]);
  });
  it("with items is those keys at their paths, with their modes", () => {
    const items = [{ key: "user", path: "login/name", mode: 0o400 }];
    expect(lines([ofSecret({ items })], { defaultMode: 0o600 })).toEqual(["400 login/name=admin"]);
    const twice = [...items, { key: "user", path: "again" }];
    expect(lines([ofSecret({ items: twice })])).toEqual(["400 login/name=admin", "644 again=admin"]);
  });
  it("lacks no key that is named, unless it is optional", () => {
    const items = [
      { key: "gone", path: "gone" },
      { key: "user", path: "user" },
    ];
    expect(() => compute([ofSecret({ items })])).toThrow(/^references non-existent secret key: gone$/);
    expect(lines([ofSecret({ items, optional: true })])).toEqual(["644 user=admin"]);
  });
  it("that may be absent and is so gives nothing", () => {
    expect(lines([{ kind: "secret", projection: { optional: true }, secret: undefined }])).toEqual([]);
  });
  it("has no key of the language's own", () => {
    const items = [{ key: "constructor", path: "x" }];
    expect(() => compute([ofSecret({ items })])).toThrow("references non-existent secret key: constructor");
  });
});

describe("one value at many paths", () => {
  const MEBIBYTE = 1024 * 1024;
  const items = (count: number) => Array.from({ length: count }, (_, index) => ({ key: "k", path: `p${index}` }));
  const big = encode({ k: "x".repeat(MEBIBYTE) });

  it.each<[string, (count: number) => FetchedSource]>([
    ["a secret's", (count) => ofSecret({ items: items(count) }, { data: big })],
    ["a config map's", (count) => ofConfigMap({ items: items(count) }, { binaryData: big })],
  ])("is in memory once, and on the disk no more than a volume may have: %s", (_, source) => {
    const files = [...compute([source(16)]).values()];
    expect(new Set(files.map(({ data }) => data)).size).toBe(1);
    const error = "the files of the volume have more than 16777216 bytes";
    expect(() => compute([source(17)])).toThrow(error);
    expect(() => compute([source(10), source(10)])).toThrow(error);
    expect(() => compute([source(100_000)])).toThrow(error);
  });

  it("is in memory once and bounded: a field of the pod", () => {
    const annotated: Pod = { ...pod, metadata: { annotations: { a: "x".repeat(200_000) } } };
    const fieldRef = { fieldPath: "metadata.annotations" };
    const source = (count: number): FetchedSource => {
      return { kind: "downwardAPI", projection: { items: items(count).map(({ path }) => ({ path, fieldRef })) } };
    };
    const files = [...compute([source(80)], { pod: annotated }).values()];
    expect(new Set(files.map(({ data }) => data)).size).toBe(1);
    expect(() => compute([source(2_500)], { pod: annotated })).toThrow("more than 16777216 bytes");
  });
});

describe("a config map", () => {
  it("is a file for each key of both kinds", () => {
    expect(lines([ofConfigMap({})]).sort()).toEqual([
      "644 app.conf=mode=fast\n",
      `644 greeting=${latin1("Grüße")}`,
      "644 logo=\u0089PNG",
    ]);
  });
  it("takes keys of both kinds in items", () => {
    const items = [
      { key: "logo", path: "img/logo.png" },
      { key: "app.conf", path: "etc/app.conf", mode: 0o755 },
    ];
    expect(lines([ofConfigMap({ items })])).toEqual(["644 img/logo.png=\u0089PNG", "755 etc/app.conf=mode=fast\n"]);
  });
  it("lacks no key that is named, unless it is optional", () => {
    const items = [{ key: "k", path: "p" }];
    expect(() => compute([ofConfigMap({ items })])).toThrow(/^configmap references non-existent config key: k$/);
    expect(lines([ofConfigMap({ items, optional: true })])).toEqual([]);
    expect(lines([{ kind: "configMap", projection: { items, optional: true }, configMap: undefined }])).toEqual([]);
  });
});

describe("the downward API", () => {
  const downward = (items: object[]): FetchedSource[] => [
    { kind: "downwardAPI", projection: { items: items.map((item, index) => ({ path: `f${index}`, ...item })) } },
  ];
  it("is a file for each field, with a mode of its own or the default", () => {
    const items = [
      { fieldRef: { fieldPath: "metadata.labels" } },
      { fieldRef: { fieldPath: "metadata.name" }, path: "pod/name", mode: 0o400 },
      { resourceFieldRef: { containerName: "main", resource: "limits.memory", divisor: "1Mi" } },
      { resourceFieldRef: { containerName: "main", resource: "limits.cpu" } },
    ];
    expect(lines(downward(items))).toEqual(['644 f0=a="1"\nb="2"', "400 pod/name=web", "644 f2=64", "644 f3=4"]);
  });
  it("names everything that is wrong", () => {
    const items = [
      { fieldRef: { fieldPath: "status.phase" } },
      { resourceFieldRef: { containerName: "gone", resource: "limits.cpu" } },
    ];
    expect(() => compute(downward(items))).toThrow("[unsupported fieldPath: status.phase, container gone not found]");
  });
});

describe("a service account token", () => {
  const token: FetchedSource = {
    kind: "serviceAccountToken",
    projection: { path: "token" },
    token: "secret-token",
  };
  // pkg/volume/projected/projected.go, collectData, and then the ownership of volumes.
  it.each([
    [undefined, undefined, "644", undefined],
    [1000, undefined, "600", 1000],
    [0, undefined, "600", 0],
    [undefined, 2000, "640", undefined],
    [1000, 2000, "640", 1000],
  ])("of user %s and group %s has mode %s", (user, group, mode, owner) => {
    const file = compute([token], { owner: { user, group } }).get("token");
    expect([file?.mode.toString(8), file?.user, file?.data.toString()]).toEqual([mode, owner, "secret-token"]);
  });
  it("is the only file that is given to a user", () => {
    const payload = compute([token, ofSecret({})], { owner: { user: 1000, group: undefined } });
    expect(payload.get("user")).toEqual({ data: Buffer.from("admin"), mode: 0o644 });
  });
});

it("a certificate is one file with the key or two, which are owned as a token is", () => {
  const certificate = {
    kind: "podCertificate",
    projection: {
      signerName: "a.b/c",
      keyType: "ED25519",
      credentialBundlePath: "b",
      keyPath: "k",
      certificateChainPath: "c",
    },
    keyPem: "KEY\n",
    chainPem: "CHAIN\n",
  } as const;
  const files = ["b=KEY\nCHAIN\n", "k=KEY\n", "c=CHAIN\n"];
  expect(lines([certificate])).toEqual(files.map((file) => `644 ${file}`));
  expect(lines([certificate], { owner: { user: 7, group: undefined } })).toEqual(files.map((file) => `600 ${file}`));
  expect(lines([certificate], { owner: { user: undefined, group: 8 } })).toEqual(files.map((file) => `640 ${file}`));
});

it("trust anchors are owned as a token is", () => {
  const bundle = { kind: "clusterTrustBundle", projection: { path: "ca" }, anchors: "PEM" } as const;
  const file = compute([bundle], { owner: { user: 1000, group: undefined } }).get("ca");
  expect(file).toEqual({ data: Buffer.from("PEM"), mode: 0o600, user: 1000 });
  expect(compute([bundle]).get("ca")).toMatchObject({ mode: 0o644 });
});

describe("all in one", () => {
  it("comes in the order of the sources, and the last wins a path", () => {
    const items = [{ key: "app.conf", path: "user" }];
    expect(lines([ofSecret({}), ofConfigMap({ items })])).toEqual([
      "644 user=mode=fast\n",
      "644 raw=\u0000\u00ff\u0080",
    ]);
  });
  it("names everything that is wrong once, also what could not be had", () => {
    const failed: FetchedSource = { kind: "failed", error: new Error('configmap "x" not found') };
    const items = [{ key: "k", path: "p" }];
    expect(() => compute([failed, ofSecret({ items }), failed])).toThrow(
      /^\[configmap "x" not found, references non-existent secret key: k\]$/,
    );
    expect(() => compute([failed, failed])).toThrow(/^configmap "x" not found$/);
  });
  it("refuses paths that leave the volume, and a file in the way of a directory", () => {
    const outside = [{ key: "user", path: "../etc/passwd" }];
    expect(() => compute([ofSecret({ items: outside })])).toThrow("invalid path: must not contain '..': ../etc/passwd");
    const items = [{ key: "app.conf", path: "user/conf" }];
    expect(() => compute([ofSecret({}), ofConfigMap({ items })])).toThrow("conflicting paths");
  });
  it("cleans paths, so that one file is not two", () => {
    const items = [{ key: "user", path: ".//a/" }];
    expect(lines([ofSecret({ items }), ofSecret({ items: [{ key: "raw", path: "a" }] })])).toEqual([
      "644 a=\u0000\u00ff\u0080",
    ]);
  });
  it("is readable for the pod's group", () => {
    const owner = { user: undefined, group: 2000 };
    expect(lines([ofSecret({})], { owner, defaultMode: 0o400 })[0]).toBe("440 user=admin");
  });
});
