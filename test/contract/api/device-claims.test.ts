import { describe, expect, it } from "vitest";
import { causesOf } from "./causes.ts";
import type { CallOptions } from "./client.ts";
import { apiServersUnderTest, useApiServer } from "./harness.ts";
import { newNamespace } from "./objects.ts";

const GROUP = "/apis/resource.k8s.io/v1";
const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const DRIVER = "gpu.example.com";
const claimsIn = (namespace: string) => `${GROUP}/namespaces/${namespace}/resourceclaims`;

const exactly = { deviceClassName: "gpu" };
const selecting = (expression: string) => [{ cel: { expression } }];
/** Loops over ten numbers, each within the one before. */
const loops = (depth: number): string =>
  depth === 0 ? 'int("1".find("[0-9]*")) < 100' : `[1, 2, 3, 4, 5, 6, 7, 8, 9, 10].all(x${depth}, ${loops(depth - 1)})`;
const claim = (devices: object, name = "c") => ({ metadata: { name }, spec: { devices } });
const request = (fields: object) => claim({ requests: [{ name: "r", exactly: { ...exactly, ...fields } }] });
const slice = (fields: object, name = "s") => {
  const pool = { name: "n", generation: 1, resourceSliceCount: 1 };
  return { metadata: { name }, spec: { driver: DRIVER, pool, nodeName: "n", ...fields } };
};
const device = (fields: object) => slice({ devices: [{ name: "d", ...fields }] });
const deviceClass = (spec: object, name = "x") => ({ metadata: { name }, spec });
const result = { request: "r", driver: DRIVER, pool: "n", device: "d" };
const allocation = { devices: { results: [result] } };
const consumer = (uid: string) => ({ resource: "pods", name: "p", uid });
const as = (user: string): CallOptions => ({
  headers: { "impersonate-user": user, "impersonate-group": ["system:authenticated"] },
});

/** What is refused, with each cause as `field: message`. */
const REFUSED: Record<string, [path: string, body: object, causes: string[]][]> = {
  "a class": [
    [
      "deviceclasses",
      deviceClass({ selectors: selecting("device.driver") }),
      [
        'spec.selectors[0].cel.expression: Invalid value: "device.driver": must evaluate to bool or the unknown type, not string',
      ],
    ],
    ["deviceclasses", deviceClass({ selectors: [{}] }), ["spec.selectors[0].cel: Required value"]],
    [
      "deviceclasses",
      deviceClass({ selectors: selecting("device.attributez") }),
      [expect.stringContaining("compilation failed: ERROR: <input>:1:7: undefined field 'attributez'")],
    ],
    ["deviceclasses", deviceClass({ config: [{}] }), ["spec.config[0].opaque: Required value"]],
    [
      "deviceclasses",
      deviceClass({ selectors: Array.from({ length: 33 }, () => selecting("true")[0]) }),
      ["spec.selectors: Too many: 33: must have at most 32 items"],
    ],
    [
      "deviceclasses",
      deviceClass({ selectors: selecting("true ".repeat(3000)) }),
      ["spec.selectors[0].cel.expression: Too long: may not be more than 10240 bytes"],
    ],
    [
      "deviceclasses",
      deviceClass({ selectors: selecting(loops(7)) }),
      ["spec.selectors[0].cel.expression: Forbidden: too complex, exceeds cost limit"],
    ],
  ],
  "a claim": [
    [
      "claims",
      claim({ requests: [{ name: "r" }] }),
      ["spec.devices.requests[0]: Required value: exactly one of `exactly` or `firstAvailable` is required"],
    ],
    ["claims", request({ deviceClassName: "" }), ["spec.devices.requests[0].exactly.deviceClassName: Required value"]],
    [
      "claims",
      request({ count: -1 }),
      ["spec.devices.requests[0].exactly.count: Invalid value: -1: must be greater than zero"],
    ],
    [
      "claims",
      request({ allocationMode: "All", count: 2 }),
      ["spec.devices.requests[0].exactly.count: Invalid value: 2: must not be specified when allocationMode is 'All'"],
    ],
    [
      "claims",
      request({ allocationMode: "Some" }),
      [
        'spec.devices.requests[0].exactly.allocationMode: Unsupported value: "Some": supported values: "All", "ExactCount"',
      ],
    ],
    [
      "claims",
      claim({
        requests: [
          { name: "r", exactly },
          { name: "r", exactly },
        ],
      }),
      ['spec.devices.requests[1]: Duplicate value: "r"'],
    ],
    [
      "claims",
      claim({ requests: [{ name: "r", exactly, firstAvailable: [{ name: "a", ...exactly }] }] }),
      [
        "spec.devices.requests[0]: Invalid value: null: exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set",
      ],
    ],
    [
      "claims",
      claim({ requests: [{ name: "r", exactly }], constraints: [{ requests: ["q"], matchAttribute: "numa" }] }),
      [
        "spec.devices.constraints[0].requests[0]: Invalid value: \"q\": must be the name of a request in the claim or the name of a request and a subrequest separated by '/'",
        'spec.devices.constraints[0].matchAttribute: Invalid value: "numa": a fully qualified name must be a domain and a name separated by a slash',
      ],
    ],
    [
      "claims",
      claim({ requests: [{ name: "r", exactly }], config: [{ opaque: { driver: "", parameters: {} } }] }),
      ["spec.devices.config[0].opaque.driver: Required value"],
    ],
    [
      "claims",
      request({ tolerations: [{ key: "k", operator: "Exists", value: "v", effect: "Never" }] }),
      [
        'spec.devices.requests[0].exactly.tolerations[0].value: Invalid value: "v": must be empty for operator `Exists`',
        'spec.devices.requests[0].exactly.tolerations[0].effect: Unsupported value: "Never": supported values: "NoExecute", "NoSchedule", "None"',
      ],
    ],
    [
      "claims",
      request({ adminAccess: true }),
      [
        "spec.devices.requests[0].adminAccess: Forbidden: admin access to devices requires the `resource.kubernetes.io/admin-access: true` label on the containing namespace",
      ],
    ],
  ],
  "a slice": [
    [
      "resourceslices",
      slice({ nodeName: undefined }),
      [
        "spec: Required value: exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required",
      ],
    ],
    [
      "resourceslices",
      slice({ allNodes: true }),
      [
        'spec: Invalid value: "{`nodeName`, `allNodes`}": exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required, but multiple fields are set',
      ],
    ],
    [
      "resourceslices",
      slice({ pool: { name: "", generation: -1, resourceSliceCount: 0 } }),
      [
        "spec.pool.name: Required value",
        "spec.pool.resourceSliceCount: Invalid value: 0: must be greater than zero",
        "spec.pool.generation: Invalid value: -1: must be greater than or equal to zero",
      ],
    ],
    ["resourceslices", slice({ devices: [{ name: "d" }, { name: "d" }] }), ['spec.devices[1]: Duplicate value: "d"']],
    [
      "resourceslices",
      device({ attributes: { a: {} } }),
      ['spec.devices[0].attributes[a]: Invalid value: "": exactly one value must be specified'],
    ],
    [
      "resourceslices",
      device({ attributes: { a: { version: "1" } } }),
      [
        'spec.devices[0].attributes[a].version: Invalid value: "1": must be a string compatible with semver.org spec 2.0.0',
      ],
    ],
    [
      "resourceslices",
      device({ attributes: { "1a": { bool: true } } }),
      [
        expect.stringContaining(
          'spec.devices[0].attributes: Invalid value: "1a": a valid C identifier must start with',
        ),
      ],
    ],
    [
      "resourceslices",
      device({ taints: [{ key: "k", effect: "Go" }] }),
      [
        'spec.devices[0].taints[0].effect: Unsupported value: "Go": supported values: "NoExecute", "NoSchedule", "None"',
      ],
    ],
    [
      "resourceslices",
      device({ nodeName: "n" }),
      [
        "spec.devices[0]: Invalid value: null: `nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec",
      ],
    ],
    [
      "resourceslices",
      device({ capacity: { m: { value: "1", requestPolicy: { default: "1" } } } }),
      ["spec.devices[0].capacity[m].requestPolicy: Forbidden: allowMultipleAllocations must be true"],
    ],
  ],
};

describe.each(apiServersUnderTest())("claims of devices, on $name", (candidate) => {
  const server = useApiServer(candidate);
  const refusals = Object.entries(REFUSED).flatMap(([what, cases]) => cases.map((row) => [what, ...row] as const));
  it.each(refusals)("%s is refused by each of its fields (%#)", async (_what, resource, body, causes) => {
    const path = resource === "claims" ? claimsIn("default") : `${GROUP}/${resource}`;
    const answer = await server.admin.json("POST", path, body);
    const found = causesOf(answer).map(({ field, message }) => `${field}: ${message}`);
    expect([answer.status, found]).toEqual([422, causes]);
  });

  it("a claim is made for one device of each request, and without a status", async () => {
    const namespace = await newNamespace(server.admin);
    const alternatives = { name: "q", firstAvailable: [{ name: "a", ...exactly, tolerations: [{ key: "k" }] }] };
    const sent = { ...claim({ requests: [{ name: "r", exactly }, alternatives] }), status: { allocation } };
    const made = await server.admin.object("POST", claimsIn(namespace), sent);
    const one = { allocationMode: "ExactCount", count: 1 };
    expect(made).toMatchObject({
      spec: {
        devices: {
          requests: [
            { exactly: { ...exactly, ...one } },
            { firstAvailable: [{ ...exactly, ...one, tolerations: [{ key: "k", operator: "Equal" }] }] },
          ],
        },
      },
    });
    expect(made["status"]).toEqual({});
    const changed = { ...made, spec: { devices: {} } };
    const answer = await server.admin.json("PUT", `${claimsIn(namespace)}/c`, changed);
    expect(causesOf(answer)).toMatchObject([{ field: "spec", message: expect.stringContaining("field is immutable") }]);
  });

  it("slices are found by node and driver, and keep both", async () => {
    await server.admin.object("POST", `${GROUP}/resourceslices`, slice({ nodeName: "n1" }, "one"));
    await server.admin.object("POST", `${GROUP}/resourceslices`, slice({ nodeName: undefined, allNodes: true }, "all"));
    const names = async (fieldSelector: string) => {
      const { items } = await server.admin.list(`${GROUP}/resourceslices`, { fieldSelector });
      return items.map(({ metadata }) => metadata.name);
    };
    expect(await names("spec.nodeName=n1")).toEqual(["one"]);
    expect(await names(`spec.nodeName=,spec.driver=${DRIVER}`)).toEqual(["all"]);
    const moved = await server.admin.patch("merge", `${GROUP}/resourceslices/one`, { spec: { nodeName: "n2" } });
    expect(causesOf(moved)).toMatchObject([{ field: "spec.nodeName" }]);
    const more = await server.admin.patch("merge", `${GROUP}/resourceslices/one`, {
      spec: { devices: [{ name: "d" }] },
    });
    expect(more.body).toMatchObject({ metadata: { generation: 2 } });
  });

  describe("the status of a claim", () => {
    const made = async () => {
      const path = claimsIn(await newNamespace(server.admin));
      await server.admin.object("POST", path, request({}));
      return `${path}/c/status`;
    };
    const write = async (path: string, status: object, options?: CallOptions) => {
      const answer = await server.admin.patch("merge", path, { status }, options);
      return [answer.status, causesOf(answer).map(({ field, message }) => `${field}: ${message}`)];
    };

    it("has a user only with devices, and loses what is told of devices with them", async () => {
      const path = await made();
      expect(await write(path, { reservedFor: [consumer("1")] })).toEqual([
        422,
        ["status.reservedFor: Forbidden: may not be specified when `allocated` is not set"],
      ]);
      expect(
        await write(path, { allocation, reservedFor: [consumer("1")], devices: [{ ...result, request: undefined }] }),
      ).toEqual([200, []]);
      const other = { ...result, device: "e" };
      expect(await write(path, { allocation: { devices: { results: [other] } } })).toEqual([
        422,
        [expect.stringContaining("status.allocation: Invalid value")],
      ]);
      expect(await write(path, { reservedFor: [consumer("1"), consumer("1")] })).toEqual([
        422,
        ['status.reservedFor[1]: Duplicate value: "1"'],
      ]);
      const users = Array.from({ length: 257 }, (_, index) => consumer(`${index}`));
      expect(await write(path, { reservedFor: users })).toEqual([
        422,
        ["status.reservedFor: Too many: 257: must have at most 256 items"],
      ]);
      const { body } = await server.admin.patch("merge", path, { status: { allocation: null, reservedFor: null } });
      expect(body).toMatchObject({ status: {} });
      expect(Object(body).status).toEqual({});
    });

    it("changes neither metadata nor what is not there", async () => {
      const path = await made();
      const { body } = await server.admin.patch("merge", path, {
        metadata: { labels: { a: "b" } },
        status: { allocation },
      });
      expect(body).toMatchObject({ status: { allocation } });
      expect(Object(body).metadata.labels).toBeUndefined();
      const bad = { ...result, driver: "other.example.com" };
      expect(await write(path, { devices: [{ driver: bad.driver, pool: "n", device: "d" }] })).toEqual([
        422,
        [expect.stringMatching(/^status\.devices\[0\]: Invalid value: .*must be an allocated device in the claim$/)],
      ]);
    });

    it("is bound by who may bind, and told of by who may speak for the driver", async () => {
      const path = await made();
      const rules = [
        { apiGroups: ["resource.k8s.io"], resources: ["resourceclaims/status"], verbs: ["get", "patch", "update"] },
        {
          apiGroups: ["resource.k8s.io"],
          resources: ["resourceclaims/driver"],
          resourceNames: [DRIVER],
          verbs: ["arbitrary-node:patch"],
        },
      ];
      const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "teller" };
      await server.admin.object("POST", `${RBAC}/clusterroles`, { metadata: { name: "teller" }, rules });
      const subjects = [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "teller" }];
      await server.admin.object("POST", `${RBAC}/clusterrolebindings`, {
        metadata: { name: "teller" },
        roleRef,
        subjects,
      });
      const denied = [
        422,
        [
          'status.allocation: Forbidden: changing status.allocation or status.reservedFor requires resource="resourceclaims/binding", verb="patch" permission: resourceclaims.resource.k8s.io is forbidden: User "teller" cannot patch resource "resourceclaims/binding" in API group "resource.k8s.io" at the cluster scope',
        ],
      ];
      await expect.poll(() => write(path, { allocation }, as("teller"))).toEqual(denied);
      const strange = { driver: "x.example.com", pool: "n", device: "d" };
      const results = [result, { ...result, driver: strange.driver }];
      expect(await write(path, { allocation: { devices: { results } } })).toEqual([200, []]);
      expect(await write(path, { devices: [{ driver: DRIVER, pool: "n", device: "d" }] }, as("teller"))).toEqual([
        200,
        [],
      ]);
      expect(await write(path, { devices: [strange] }, as("teller"))).toEqual([
        422,
        [
          expect.stringMatching(
            /^status\.devices: Forbidden: changing status\.devices requires resource="resourceclaims\/driver", verb="\[arbitrary-node:patch\]" permission: resourceclaims\.resource\.k8s\.io "x\.example\.com" is forbidden: User "teller" cannot arbitrary-node:patch resource "resourceclaims\/driver" in API group "resource\.k8s\.io" in the namespace ".*"$/,
          ),
        ],
      ]);
    });
  });

  it("administrators watch over devices in namespaces that are marked for it", async () => {
    const namespace = await newNamespace(server.admin);
    const labels = { "resource.kubernetes.io/admin-access": "true" };
    await server.admin.patch("merge", `/api/v1/namespaces/${namespace}`, { metadata: { labels } });
    const answer = await server.admin.json("POST", claimsIn(namespace), request({ adminAccess: true }));
    expect(answer.status).toBe(201);
  });

  it("are printed with their state", async () => {
    const namespace = await newNamespace(server.admin);
    await server.admin.object("POST", claimsIn(namespace), request({}));
    const headers = { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" };
    const { body } = await server.admin.json("GET", claimsIn(namespace), undefined, { headers });
    expect(body).toMatchObject({
      columnDefinitions: [{ name: "Name" }, { name: "State" }, { name: "Age" }],
      rows: [{ cells: ["c", "pending", expect.any(String)] }],
    });
  });

  const pod = (resourceClaims: object[], claims: object[]) => {
    const containers = [{ name: "c", image: "i", resources: { claims } }];
    return { metadata: { name: "p" }, spec: { resourceClaims, containers, automountServiceAccountToken: false } };
  };
  it.each<[object[], object[], string[]]>([
    [
      [{ name: "a" }],
      [],
      [
        expect.stringMatching(
          /^spec\.resourceClaims\[0\]: .*must specify one of: `resourceClaimName`, `resourceClaimTemplateName`$/,
        ),
      ],
    ],
    [
      [
        { name: "a", resourceClaimName: "x" },
        { name: "a", resourceClaimName: "y" },
      ],
      [],
      ['spec.resourceClaims[1].name: Duplicate value: "a"'],
    ],
    [
      [{ name: "a", resourceClaimName: "x" }],
      [{ name: "b" }, { name: "a", request: "r" }, { name: "a" }],
      [
        'spec.containers[0].resources.claims[0]: Not found: "b": must be one of the names in pod.spec.resourceClaims: a',
        'spec.containers[0].resources.claims[2]: Duplicate value: "a"',
      ],
    ],
  ])("a pod says which claims it has (%#)", async (entries, uses, causes) => {
    const namespace = await newNamespace(server.admin);
    await server.admin.json("POST", `/api/v1/namespaces/${namespace}/serviceaccounts`, {
      metadata: { name: "default" },
    });
    const answer = await server.admin.json("POST", `/api/v1/namespaces/${namespace}/pods`, pod(entries, uses));
    expect([answer.status, causesOf(answer).map(({ field, message }) => `${field}: ${message}`)]).toEqual([
      422,
      causes,
    ]);
  });
});
