import { describe, expect, it } from "vitest";
import type { ConfigMap, Container, Secret } from "../../../api/gen/types.ts";
import { NO_FILES } from "./__fixtures__/no-objects.ts";
import { TEST_NODE } from "./__fixtures__/node.ts";
import { buildEnvironment } from "./environment.ts";
import type { ReferredObject, ReferredObjects } from "./referred-values.ts";

const base64 = (text: string | Uint8Array) => Buffer.from(text).toString("base64");
const found = <T>(object: T): ReferredObject<T> => ({ state: "found", object });

const BINARY = Uint8Array.of(0xff, 0x00, 0xfe);
const OBJECTS: ReferredObjects = {
  secrets: new Map<string, ReferredObject<Secret>>([
    ["s", found<Secret>({ data: { USER: base64("bob"), WORD: base64("geheim"), RAW: base64(BINARY) } })],
    ["gone", { state: "missing", error: 'secret "gone" not found' }],
    ["unsure", { state: "failed", error: "the server does not answer" }],
  ]),
  configMaps: new Map<string, ReferredObject<ConfigMap>>([
    [
      "c",
      found<ConfigMap>({ data: { USER: "map", "a.b": "dots", "1-st": "digit" }, binaryData: { BIN: base64("x") } }),
    ],
    ["empty", found<ConfigMap>({})],
    ["odd", found<ConfigMap>({ data: { "a=b": "1", ü: "2", OK: "3" } })],
    ["gone", { state: "missing", error: 'configmap "gone" not found' }],
  ]),
};

function build(container: Partial<Container>, objects: ReferredObjects = OBJECTS) {
  return buildEnvironment({
    pod: { metadata: { name: "web", namespace: "ns", uid: "u1" }, spec: { containers: [] } },
    container: { name: "main", ...container },
    podIps: [],
    node: TEST_NODE,
    serviceVariables: [{ name: "SVC", value: "10.96.0.1" }],
    objects,
    envFiles: NO_FILES,
  });
}

const own = (container: Partial<Container>) => {
  const built = build(container);
  if (!built.ok) return built.error;
  return built.variables.filter(({ name }) => name !== "SVC").map(({ name, value }) => `${name}=${value}`);
};

const secretKey = (key: string, name = "s", optional = false) => ({ secretKeyRef: { name, key, optional } });
const mapKey = (key: string, name = "c", optional = false) => ({ configMapKeyRef: { name, key, optional } });

describe("a key of an object", () => {
  it.each<{ why: string; container: Partial<Container>; expected: string[] }>([
    {
      why: "of a secret, decoded",
      container: { env: [{ name: "A", valueFrom: secretKey("WORD") }] },
      expected: ["A=geheim"],
    },
    { why: "of a config map", container: { env: [{ name: "A", valueFrom: mapKey("a.b") }] }, expected: ["A=dots"] },
    {
      why: "may be referred to, and is not expanded itself",
      container: {
        env: [
          { name: "A", valueFrom: secretKey("USER") },
          { name: "B", value: "$(A)@$(SVC)" },
        ],
      },
      expected: ["A=bob", "B=bob@10.96.0.1"],
    },
    {
      why: "that is optional and missing leaves an earlier value alone",
      container: {
        env: [
          { name: "A", value: "1" },
          { name: "A", valueFrom: secretKey("none", "s", true) },
          { name: "A", valueFrom: mapKey("constructor", "c", true) },
          { name: "A", valueFrom: mapKey("k", "gone", true) },
          { name: "A", valueFrom: secretKey("k", "gone", true) },
        ],
      },
      expected: ["A=1"],
    },
    {
      why: "gives way to a value beside it",
      container: { env: [{ name: "A", value: "1", valueFrom: secretKey("k", "gone") }] },
      expected: ["A=1"],
    },
  ])("$why", ({ container, expected }) => {
    expect(own(container)).toEqual(expected);
  });

  it.each<{ why: string; container: Partial<Container>; error: string }>([
    {
      why: "no secret",
      container: { env: [{ name: "A", valueFrom: secretKey("k", "gone") }] },
      error: 'secret "gone" not found',
    },
    {
      why: "no config map",
      container: { env: [{ name: "A", valueFrom: mapKey("k", "gone") }] },
      error: 'configmap "gone" not found',
    },
    {
      why: "no such key in the secret",
      container: { env: [{ name: "A", valueFrom: secretKey("none") }] },
      error: "couldn't find key none in Secret ns/s",
    },
    {
      why: "no such key in the config map, whose binary data are not looked at",
      container: { env: [{ name: "A", valueFrom: mapKey("BIN") }] },
      error: "couldn't find key BIN in ConfigMap ns/c",
    },
    {
      why: "an object that nobody knows of, though it be optional",
      container: { env: [{ name: "A", valueFrom: secretKey("k", "unsure", true) }] },
      error: "the server does not answer",
    },
    {
      why: "all of no config map",
      container: { envFrom: [{ configMapRef: { name: "gone" } }] },
      error: 'configmap "gone" not found',
    },
    {
      why: "all of no secret",
      container: { envFrom: [{ secretRef: { name: "gone" } }] },
      error: 'secret "gone" not found',
    },
  ])("is an error in upstream's words for $why", ({ container, error }) => {
    expect(build(container)).toEqual({ ok: false, error });
  });

  it("keeps bytes that are no text", () => {
    expect(build({ env: [{ name: "A", valueFrom: secretKey("RAW") }] })).toMatchObject({
      variables: [{ name: "A", bytes: Buffer.from(BINARY) }, { name: "SVC" }],
    });
  });
});

describe("envFrom", () => {
  it.each<{ why: string; container: Partial<Container>; expected: string[] }>([
    {
      why: "takes every key, of the object that comes last where two have it",
      container: { envFrom: [{ secretRef: { name: "s" } }, { configMapRef: { name: "c" } }] },
      expected: ["USER=map", "WORD=geheim", "RAW=\uFFFD\0\uFFFD", "a.b=dots", "1-st=digit"],
    },
    {
      why: "puts a prefix before each",
      container: { envFrom: [{ prefix: "P_", configMapRef: { name: "c" } }] },
      expected: ["P_USER=map", "P_a.b=dots", "P_1-st=digit"],
    },
    {
      why: "gives way to env, which may refer to it",
      container: { envFrom: [{ configMapRef: { name: "c" } }], env: [{ name: "USER", value: "$(USER)/$(a.b)" }] },
      expected: ["USER=map/dots", "a.b=dots", "1-st=digit"],
    },
    {
      why: "skips what is optional and not there, and what names nothing",
      container: {
        envFrom: [
          { configMapRef: { name: "gone", optional: true } },
          { secretRef: { name: "gone", optional: true } },
          {},
          { configMapRef: { name: "empty" } },
        ],
      },
      expected: [],
    },
  ])("$why", ({ container, expected }) => {
    expect(own(container)).toEqual(expected);
  });

  it("skips what no variable can be called, and says so", () => {
    expect(build({ envFrom: [{ configMapRef: { name: "odd" } }] })).toEqual({
      ok: true,
      variables: [
        { name: "OK", value: "3" },
        { name: "SVC", value: "10.96.0.1" },
      ],
      warnings: [
        {
          reason: "InvalidEnvironmentVariableNames",
          message:
            "Keys [a=b, ü] from the EnvFrom configMap ns/odd were skipped since they are considered invalid environment variable names.",
        },
      ],
    });
  });
});
