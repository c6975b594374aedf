import { describe, expect, it } from "vitest";
import type {
  Device,
  DeviceClaim,
  DeviceClass,
  ExactDeviceRequest,
  ResourceClaimStatus,
  ResourceSlice,
  ResourceSliceSpec,
} from "../../../api/gen/types.ts";
import type { ObjectOf } from "../../../api/object.ts";
import { cluster, devices, nodeInfo, pending } from "../__fixtures__/objects.ts";
import { checkDeviceClaims, createDevicePlanner, movableClaimsOf } from "./plan-devices.ts";

const DRIVER = "d.example.com";

interface Scene {
  slices?: Partial<ResourceSliceSpec>[];
  claims: Record<string, DeviceClaim>;
  /** The claims' statuses, by name. */
  statuses?: Record<string, ResourceClaimStatus>;
  /** Devices that other claims have, as `pool/device`. */
  taken?: string[];
  classes?: Record<string, DeviceClass["spec"]>;
}

const wanted = (name: string, fields: Partial<ExactDeviceRequest> = {}) => {
  return { name, exactly: { deviceClassName: "any", allocationMode: "ExactCount", count: 1, ...fields } };
};
const selecting = (expression: string) => [{ cel: { expression } }];
const numa = (value: number) => ({ attributes: { numa: { int: value } } });
/** Devices of the node's pool by their names. */
const pool = (found: Record<string, Partial<Device>>, fields: Partial<ResourceSliceSpec> = {}) => ({
  devices: Object.entries(found).map(([name, device]) => ({ name, ...device })),
  ...fields,
});

function sceneOf({ slices = [], claims, statuses = {}, taken = [], classes = { any: {} } }: Scene) {
  const stored = slices.map((fields): ResourceSlice => {
    const spec = {
      driver: DRIVER,
      pool: { name: "p", generation: 1, resourceSliceCount: 1 },
      nodeName: "n1",
      ...fields,
    };
    return { spec };
  });
  const claim = (name: string): ObjectOf<"ResourceClaim"> | undefined => {
    const found = claims[name];
    if (found === undefined) return undefined;
    const header = { apiVersion: "resource.k8s.io/v1", kind: "ResourceClaim" };
    const metadata = { name, namespace: "default", uid: `uid-${name}` };
    return { ...header, metadata, spec: { devices: found }, status: statuses[name] ?? {} };
  };
  const view = devices({
    claim: (_namespace, name) => claim(name),
    deviceClass: (name) => (classes[name] ? { metadata: { name }, spec: classes[name] } : undefined),
    slices: () => stored,
    taken: () => new Set(taken.map((id) => `${DRIVER}/${id}`)),
  });
  const pod = pending({ resourceClaims: Object.keys(claims).map((name) => ({ name, resourceClaimName: name })) });
  return { pod, cluster: cluster([nodeInfo()], { devices: view }) };
}

/** The devices that were chosen, as `claim request=pool/device`, or why there are none. */
function chosenIn(scene: Scene, onNode = nodeInfo()): string[] | string {
  const { pod, cluster: found } = sceneOf(scene);
  const plan = createDevicePlanner(pod, found)(onNode);
  if ("reason" in plan) return plan.reason;
  return plan.flatMap(({ claim, allocation }) => {
    return (allocation?.devices?.results ?? []).map(({ request, pool: from, device }) => {
      return `${claim.metadata.name} ${request}=${from}/${device}`;
    });
  });
}

const NONE = "cannot allocate all claims";

describe("devices for a pod", () => {
  const two = [pool({ a: numa(0), b: numa(1) })];
  it.each<[string, Scene, string[] | string]>([
    [
      "are the first that are free",
      { slices: two, claims: { c: { requests: [wanted("r")] } }, taken: ["p/a"] },
      ["c r=p/b"],
    ],
    ["are not given twice", { slices: two, claims: { c: { requests: [wanted("r", { count: 3 })] } } }, NONE],
    [
      "are others for each claim",
      { slices: two, claims: { c: { requests: [wanted("r")] }, e: { requests: [wanted("r")] } } },
      ["c r=p/a", "e r=p/b"],
    ],
    [
      "are chosen anew where the first choice leaves none for the next request",
      {
        slices: two,
        claims: {
          c: {
            requests: [wanted("r"), wanted("q", { selectors: selecting(`device.attributes["${DRIVER}"].numa == 0`) })],
          },
        },
      },
      ["c r=p/b", "c q=p/a"],
    ],
    [
      "are those that the class selects, too",
      {
        slices: two,
        classes: { any: { selectors: selecting(`device.attributes["${DRIVER}"].numa == 1`) } },
        claims: { c: { requests: [wanted("r", { selectors: selecting(`device.driver == "${DRIVER}"`) })] } },
      },
      ["c r=p/b"],
    ],
    [
      "are all of them",
      { slices: two, claims: { c: { requests: [wanted("r", { allocationMode: "All", count: 0 })] } } },
      ["c r=p/a", "c r=p/b"],
    ],
    [
      "are all or none",
      { slices: two, taken: ["p/b"], claims: { c: { requests: [wanted("r", { allocationMode: "All", count: 0 })] } } },
      NONE,
    ],
    [
      "have a value in common",
      {
        slices: [pool({ a: numa(0), b: numa(1), c: numa(1) })],
        claims: { c: { requests: [wanted("r", { count: 2 })], constraints: [{ matchAttribute: `${DRIVER}/numa` }] } },
      },
      ["c r=p/b", "c r=p/c"],
    ],
    [
      "do not have what they do not tell in common",
      {
        slices: [pool({ a: {} })],
        claims: { c: { requests: [wanted("r")], constraints: [{ matchAttribute: `${DRIVER}/numa` }] } },
      },
      NONE,
    ],
    [
      "are of the first alternative that there is",
      {
        slices: two,
        claims: {
          c: {
            requests: [
              {
                name: "r",
                firstAvailable: [
                  { name: "three", deviceClassName: "any", allocationMode: "ExactCount", count: 3 },
                  { name: "two", deviceClassName: "any", allocationMode: "ExactCount", count: 2 },
                ],
              },
            ],
          },
        },
      },
      ["c r/two=p/a", "c r/two=p/b"],
    ],
    [
      "are watched over by administrators whoever has them",
      { slices: two, taken: ["p/a", "p/b"], claims: { c: { requests: [wanted("r", { adminAccess: true })] } } },
      ["c r=p/a"],
    ],
    [
      "are not tainted, unless that is tolerated",
      {
        slices: [
          pool({
            a: { taints: [{ key: "bad", effect: "NoSchedule" }] },
            b: { taints: [{ key: "odd", effect: "None" }] },
          }),
        ],
        claims: { c: { requests: [wanted("r"), wanted("q", { tolerations: [{ key: "bad", operator: "Exists" }] })] } },
      },
      ["c r=p/b", "c q=p/a"],
    ],
    [
      "are of the newest generation of a pool",
      {
        slices: [pool({ old: {} }), pool({ new: {} }, { pool: { name: "p", generation: 2, resourceSliceCount: 1 } })],
        claims: { c: { requests: [wanted("r")] } },
      },
      ["c r=p/new"],
    ],
    [
      "are of pools that are listed as a whole",
      {
        slices: [pool({ a: {} }, { pool: { name: "p", generation: 1, resourceSliceCount: 2 } })],
        claims: { c: { requests: [wanted("r")] } },
      },
      NONE,
    ],
    [
      "are not all known while a pool is listed anew",
      {
        slices: [pool({ a: {} }, { pool: { name: "p", generation: 1, resourceSliceCount: 2 } })],
        claims: { c: { requests: [wanted("r", { allocationMode: "All", count: 0 })] } },
      },
      `claim default/c, request r: asks for all devices, but resource pool ${DRIVER}/p is currently being updated`,
    ],
    [
      "are listed once",
      {
        slices: [pool({ a: {} }), pool({ a: {} })].map((s) => ({
          ...s,
          pool: { name: "p", generation: 1, resourceSliceCount: 2 },
        })),
        claims: { c: { requests: [wanted("r")] } },
      },
      "invalid resource pools were encountered",
    ],
    [
      "are 32 of a claim at most",
      { slices: two, claims: { c: { requests: [wanted("r", { count: 33 })] } } },
      "claim default/c: number of requested devices 33 exceeds the claim limit of 32",
    ],
    [
      "are none where an expression fails",
      { slices: two, claims: { c: { requests: [wanted("r", { selectors: selecting(`device.attributes["x"].y`) })] } } },
      "claim default/c: selector #0: CEL runtime error: no such key: y",
    ],
    [
      "are on other nodes",
      { slices: [pool({ a: {} }, { nodeName: "n2" })], claims: { c: { requests: [wanted("r")] } } },
      NONE,
    ],
  ])("%s", (_what, scene, expected) => {
    expect(chosenIn(scene)).toEqual(expected);
  });

  it("are looked for no longer than a search may take", () => {
    const many = pool(Object.fromEntries(Array.from({ length: 64 }, (_, index) => [`d${index}`, numa(index)])));
    const claims = { c: { requests: [wanted("r", { count: 30 }), wanted("q", { selectors: selecting("false") })] } };
    expect(chosenIn({ slices: [many], claims })).toBe("node n1: timed out trying to allocate devices");
  });

  it("are told with their classes' configuration, and with the nodes that reach them", () => {
    const opaque = (parameters: object) => ({ opaque: { driver: DRIVER, parameters: { ...parameters } } });
    const zone = { key: "zone", operator: "In", values: ["a"] };
    const { pod, cluster: found } = sceneOf({
      slices: [
        pool({ a: {}, b: {} }, { nodeName: "", nodeSelector: { nodeSelectorTerms: [{ matchExpressions: [zone] }] } }),
      ],
      classes: { any: { config: [opaque({ of: "class" })] } },
      claims: {
        c: {
          requests: [wanted("r"), wanted("q")],
          config: [opaque({ of: "all" }), { ...opaque({ of: "q" }), requests: ["q"] }],
        },
      },
    });
    const plan = createDevicePlanner(pod, found)(nodeInfo({ labels: { zone: "a" } }));
    expect(plan).toMatchObject([
      {
        allocation: {
          devices: {
            config: [
              { source: "FromClass", requests: ["r", "q"], ...opaque({ of: "class" }) },
              { source: "FromClaim", ...opaque({ of: "all" }) },
              { source: "FromClaim", requests: ["q"], ...opaque({ of: "q" }) },
            ],
          },
          nodeSelector: { nodeSelectorTerms: [{ matchExpressions: [zone] }] },
        },
      },
    ]);
  });
});

describe("a claim that has its devices", () => {
  const allocation = {
    nodeSelector: { nodeSelectorTerms: [{ matchFields: [{ key: "metadata.name", operator: "In", values: ["n2"] }] }] },
  };
  const claims = { c: { requests: [wanted("r")] } };

  it("keeps its pods where these are", () => {
    const scene = { claims, statuses: { c: { allocation } } };
    expect(chosenIn(scene)).toBe("resourceclaim not available on the node");
    expect(chosenIn(scene, nodeInfo({ name: "n2" }))).toEqual([]);
  });

  it.each([
    ["of nobody", [], true],
    ["of the pod alone", [{ resource: "pods", name: "p", uid: "uid-p" }], true],
    ["of somebody else", [{ resource: "pods", name: "q", uid: "uid-q" }], false],
  ])("%s gives them back when the pod does not fit there (%#)", (_whose, reservedFor, isMovable) => {
    const { pod, cluster: found } = sceneOf({ claims, statuses: { c: { allocation, reservedFor } } });
    expect(movableClaimsOf(pod, found).length > 0).toBe(isMovable);
  });
});

describe("a pod waits", () => {
  const check = (scene: Scene) => {
    const { pod, cluster: found } = sceneOf(scene);
    return checkDeviceClaims(pod, found);
  };

  it("for its claims, and for the classes that they name", () => {
    const made = pending({ resourceClaims: [{ name: "c", resourceClaimTemplateName: "t" }] });
    expect(checkDeviceClaims(made, cluster([]))).toBe('pod "default/p": ResourceClaim not created yet');
    const named = pending({ resourceClaims: [{ name: "c", resourceClaimName: "x" }] });
    expect(checkDeviceClaims(named, cluster([]))).toBe('could not find ResourceClaim "default/x"');
    const claims = { c: { requests: [wanted("r", { deviceClassName: "other" })] } };
    expect(check({ claims })).toBe("request r: device class other does not exist");
    expect(check({ claims: { c: { requests: [wanted("r")] } } })).toBeUndefined();
  });

  it("for a claim that is its own", () => {
    const status = { resourceClaimStatuses: [{ name: "c", resourceClaimName: "c" }] };
    const pod = pending({ resourceClaims: [{ name: "c", resourceClaimTemplateName: "t" }], status });
    const { cluster: found } = sceneOf({ claims: { c: {} } });
    expect(checkDeviceClaims(pod, found)).toBe(
      "ResourceClaim default/c was not created for Pod default/p (Pod is not owner)",
    );
  });
});
