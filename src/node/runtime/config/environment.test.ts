import { describe, expect, it } from "vitest";
import type { Container, EnvVar, EnvVarSource, Pod } from "../../../api/gen/types.ts";
import { NO_FILES, NO_OBJECTS } from "./__fixtures__/no-objects.ts";
import { parseEnvFile } from "./env-file.ts";
import { buildEnvironment, type EnvironmentInput } from "./environment.ts";
import { MAX_VARIABLES } from "./environment-limits.ts";

const POD: Pod = {
  metadata: {
    name: "web",
    namespace: "ns",
    uid: "uid-1",
    labels: { app: "x" },
    annotations: { "example.org/a['b']": "odd", note: "n1" },
  },
  spec: {
    nodeName: "rig",
    serviceAccountName: "default",
    containers: [{ name: "other", resources: { requests: { cpu: "2" } } }],
  },
};

function build(container: Partial<Container>, overrides: Partial<EnvironmentInput> = {}) {
  const main = { name: "main", ...container };
  return buildEnvironment({
    pod: { ...POD, spec: { ...POD.spec, containers: [...(POD.spec?.containers ?? []), main] } },
    container: main,
    podIps: ["10.0.0.4", "fd00::4"],
    node: {
      nodeName: "rig",
      hostIps: ["192.0.2.2", "2001:db8::2"],
      allocatable: { cpu: "3500m", memory: "8Gi", "ephemeral-storage": "10Gi" },
    },
    serviceVariables: [],
    objects: NO_OBJECTS,
    envFiles: NO_FILES,
    ...overrides,
  });
}

const values = (env: EnvVar[], overrides: Partial<EnvironmentInput> = {}, more: Partial<Container> = {}) => {
  const built = build({ env, ...more }, overrides);
  return built.ok ? built.variables.map(({ name, value }) => `${name}=${value}`) : built.error;
};

describe("plain values", () => {
  const serviceVariables = [
    { name: "SVC_HOST", value: "10.96.0.1" },
    { name: "SVC_PORT", value: "443" },
  ];

  it.each<{ why: string; env: EnvVar[]; expected: string[] }>([
    {
      why: "keep their order",
      env: [
        { name: "B", value: "1" },
        { name: "A", value: "2" },
      ],
      expected: ["B=1", "A=2"],
    },
    { why: "may be missing", env: [{ name: "A" }], expected: ["A="] },
    {
      why: "refer to earlier variables, not to later ones",
      env: [
        { name: "A", value: "$(C)" },
        { name: "B", value: "1" },
        { name: "C", value: "$(B)$(A)" },
      ],
      expected: ["A=$(C)", "B=1", "C=1$(C)"],
    },
    {
      why: "escape with $$",
      env: [
        { name: "A", value: "1" },
        { name: "B", value: "$$(A)" },
      ],
      expected: ["A=1", "B=$(A)"],
    },
    {
      why: "may refer to themselves when set twice; the last wins",
      env: [
        { name: "A", value: "1" },
        { name: "B", value: "2" },
        { name: "A", value: "$(A)x" },
      ],
      expected: ["A=1x", "B=2"],
    },
  ])("$why", ({ env, expected }) => {
    expect(values(env)).toEqual(expected);
  });

  it("see the services' variables, come first and win over them", () => {
    const env = [
      { name: "URL", value: "https://$(SVC_HOST):$(SVC_PORT)" },
      { name: "SVC_PORT", value: "8443" },
    ];
    expect(values(env, { serviceVariables })).toEqual([
      "URL=https://10.96.0.1:443",
      "SVC_PORT=8443",
      "SVC_HOST=10.96.0.1",
    ]);
  });
});

describe("fieldRef", () => {
  const field = (fieldPath: string): EnvVar[] => [{ name: "V", valueFrom: { fieldRef: { fieldPath } } }];

  it.each([
    ["metadata.name", "web"],
    ["metadata.namespace", "ns"],
    ["metadata.uid", "uid-1"],
    ["metadata.labels['app']", "x"],
    ["metadata.labels['none']", ""],
    ["metadata.labels['constructor']", ""],
    ["metadata.annotations['note']", "n1"],
    ["metadata.annotations['example.org/a['b']']", "odd"],
    ["spec.nodeName", "rig"],
    ["spec.serviceAccountName", "default"],
    ["status.podIP", "10.0.0.4"],
    ["status.podIPs", "10.0.0.4,fd00::4"],
    ["status.hostIP", "192.0.2.2"],
    ["status.hostIPs", "192.0.2.2,2001:db8::2"],
  ])("%s", (fieldPath, expected) => {
    expect(values(field(fieldPath))).toEqual([`V=${expected}`]);
  });

  it("says the address of the family that the node prefers first", () => {
    const node = { nodeName: "rig", hostIps: ["2001:db8::2", "192.0.2.2"], allocatable: {} };
    expect(values(field("status.podIP"), { node })).toEqual(["V=fd00::4"]);
    expect(values(field("status.podIPs"), { node })).toEqual(["V=fd00::4,10.0.0.4"]);
  });

  it("refuses other fields, and an address that the node does not have", () => {
    expect(values(field("spec.priority"))).toBe(
      'container "main": env[0] (V) valueFrom.fieldRef: unsupported fieldPath: spec.priority',
    );
    const node = { nodeName: "rig", hostIps: [], allocatable: {} };
    expect(values(field("status.hostIP"), { node })).toMatch(/fieldRef: the node has no address yet/);
  });
});

describe("resourceFieldRef", () => {
  const resources = {
    requests: { cpu: "250m", memory: "32Mi" },
    limits: { cpu: "1500m", memory: "64Mi", "hugepages-2Mi": "8Mi" },
  };

  it.each<{ ref: NonNullable<EnvVarSource["resourceFieldRef"]>; bare?: boolean; expected: string }>([
    { ref: { resource: "limits.cpu" }, expected: "2" },
    { ref: { resource: "limits.cpu", divisor: "0" }, expected: "2" },
    { ref: { resource: "limits.cpu", divisor: "1m" }, expected: "1500" },
    { ref: { resource: "requests.cpu", divisor: "100m" }, expected: "3" },
    { ref: { resource: "limits.memory" }, expected: "67108864" },
    { ref: { resource: "limits.memory", divisor: "1Mi" }, expected: "64" },
    { ref: { resource: "requests.memory", divisor: "1Gi" }, expected: "1" },
    { ref: { resource: "limits.hugepages-2Mi", divisor: "1Mi" }, expected: "8" },
    { ref: { resource: "requests.cpu", containerName: "other" }, expected: "2" },
    { ref: { resource: "requests.cpu" }, bare: true, expected: "0" },
    { ref: { resource: "limits.cpu" }, bare: true, expected: "4" },
    { ref: { resource: "limits.memory", divisor: "1Gi" }, bare: true, expected: "8" },
    { ref: { resource: "limits.ephemeral-storage", divisor: "1Gi" }, bare: true, expected: "10" },
    { ref: { resource: "limits.hugepages-2Mi" }, bare: true, expected: "0" },
  ])("$ref is $expected", ({ ref, bare, expected }) => {
    const env = [{ name: "V", valueFrom: { resourceFieldRef: ref } }];
    expect(values(env, {}, bare ? {} : { resources })).toEqual([`V=${expected}`]);
  });

  it.each([
    { ref: { resource: "limits.gpu" }, error: "Unsupported container resource : limits.gpu" },
    { ref: { resource: "limits.cpu", containerName: "gone" }, error: "container gone not found" },
  ])("refuses $ref", ({ ref, error }) => {
    const env = [{ name: "V", valueFrom: { resourceFieldRef: ref } }];
    expect(values(env)).toBe(`container "main": env[0] (V) valueFrom.resourceFieldRef: ${error}`);
  });
});

describe("references that cannot be followed", () => {
  it("are an error that names container and field", () => {
    const error = 'container "main": env[0] (A) valueFrom.: names no source';
    expect(build({ env: [{ name: "A", valueFrom: {} }] })).toEqual({ ok: false, error });
  });
});

describe("variables of files", () => {
  const NAME = "v/p";
  const variable = (key: string, optional = false): EnvVar => ({
    name: "A",
    valueFrom: { fileKeyRef: { volumeName: "v", path: "p", key, optional } },
  });
  const holding = (content: string | Buffer) => ({
    envFiles: new Map([
      [NAME, { state: "found" as const, object: parseEnvFile(Buffer.from(content).toString("latin1")) }],
    ]),
  });
  const MISSING = { envFiles: new Map([[NAME, { state: "missing" as const, error: "no file" }]]) };
  const FAILED = { envFiles: new Map([[NAME, { state: "failed" as const, error: "no volume" }]]) };
  const at = (words: string) => `container "main": env[0] (A) valueFrom.fileKeyRef: ${words}`;

  it("are set, and seen by the values behind them", () => {
    const env = [variable("K"), { name: "B", value: "<$(A)>" }];
    expect(values(env, holding("K='grün $(X)'"))).toEqual(["A=grün $(X)", "B=<grün $(X)>"]);
  });

  it("keep their bytes", () => {
    const content = Buffer.concat([Buffer.from("K='"), Buffer.from([0xff, 0x41]), Buffer.from("'")]);
    const built = build({ env: [variable("K")] }, holding(content));
    expect(built).toMatchObject({ variables: [{ name: "A", bytes: Buffer.from([0xff, 0x41]) }] });
  });

  it("may be empty", () => {
    expect(values([variable("K")], holding("K=''"))).toEqual(["A="]);
  });

  it.each<[string, Partial<EnvironmentInput>, string]>([
    ["no file", MISSING, "no file"],
    ["no volume", FAILED, "no volume"],
    ["no key", holding("B='x'"), 'environment variable key "K" not found in file "p" of volume "v"'],
    [
      "a bad file",
      holding("\nK=x"),
      `couldn't parse env file "p" of volume "v": invalid environment variable format at line 2: value must be enclosed in single quotes`,
    ],
  ])("are an error that names container and field: %s", (_what, overrides, words) => {
    expect(values([variable("K")], overrides)).toBe(at(words));
  });

  it("are left out when they are optional and their file or key is not there", () => {
    expect(values([variable("K", true)], MISSING)).toEqual([]);
    expect(values([variable("K", true)], holding("B='x'"))).toEqual([]);
    expect(values([variable("K", true)], FAILED)).toBe(at("no volume"));
    expect(values([variable("K", true)], holding("K=x"))).toContain("couldn't parse");
  });
});

describe("an environment that no program can be given", () => {
  const data = (count: number, value: string) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`K${index}`, value]));
  const withMap = (entries: Record<string, string>): Partial<EnvironmentInput> => ({
    objects: { ...NO_OBJECTS, configMaps: new Map([["map", { state: "found", object: { data: entries } }]]) },
  });
  const fromMap = (prefix: string) => ({ prefix, configMapRef: { name: "map" } });

  it("is refused before it takes memory: each variable is ten times the one before", () => {
    const env = Array.from({ length: 12 }, (_, index) => ({
      name: `A${index}`,
      value: index === 0 ? "x".repeat(100) : `$(A${index - 1})`.repeat(10),
    }));
    expect(values(env)).toBe("the environment variable A4 has more than 131072 bytes");
    expect(values(env.slice(0, 4))).toHaveLength(4);
  });

  it.each<[string, Partial<Container>, Partial<EnvironmentInput>, string]>([
    [
      "a value of an object that is too long",
      { envFrom: [fromMap("")] },
      withMap(data(1, "x".repeat(131_072))),
      "the environment variable K0 has more than 131072 bytes",
    ],
    [
      "all values together",
      { envFrom: Array.from({ length: 1_000 }, (_, index) => fromMap(`P${index}_`)) },
      withMap(data(10, "x".repeat(100_000))),
      "the environment has more than 6291456 bytes",
    ],
    [
      "their number",
      { envFrom: [fromMap("A"), fromMap("B")] },
      withMap(data(30_000, "")),
      "the environment has more than 50000 variables",
    ],
    [
      "the number of those that are no variables, or are set again and again",
      { envFrom: Array.from({ length: 1_000 }, () => fromMap("=")) },
      withMap(data(6_000, "")),
      "the environment has more than 50000 variables",
    ],
  ])("is refused for %s", (_, container, overrides, error) => {
    expect(build(container, overrides)).toEqual({ ok: false, error });
  });

  it("is refused for the services alone, and says what helps", () => {
    const serviceVariables = Array.from({ length: MAX_VARIABLES + 1 }, (_, index) => ({
      name: `S${index}`,
      value: "1",
    }));
    expect(values([], { serviceVariables })).toContain("set enableServiceLinks to false");
  });

  it("is refused where the services' variables are too many with it", () => {
    const serviceVariables = Array.from({ length: MAX_VARIABLES }, (_, index) => ({ name: `S${index}`, value: "1" }));
    expect(build({}, { serviceVariables }).ok).toBe(true);
    expect(values([{ name: "A", value: "1" }], { serviceVariables })).toBe(
      "the environment has more than 50000 variables",
    );
  });
});
