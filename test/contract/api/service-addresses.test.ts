import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { type KubeObject, typed } from "../../../src/api/object.ts";
import { textAt } from "./credentials-of.ts";
import { apiServersWithRange, useApiServer } from "./harness.ts";
import { changedMetadata, newNamespace } from "./objects.ts";

const API = "/apis/networking.k8s.io/v1";
const RANGES = `${API}/servicecidrs`;
const ADDRESSES = `${API}/ipaddresses`;
const MANAGED = { "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io" };
const TIMEOUT = { timeout: 30_000 };

const range = (name: string, ...cidrs: string[]) => ({ metadata: { name }, spec: { cidrs } });
const theirs = { group: "example.com", resource: "gateways", namespace: "n", name: "g" };
const address = (name: string, parentRef: object | undefined = theirs) => ({ metadata: { name }, spec: { parentRef } });
const service = (name: string, spec: object = {}) => {
  return { metadata: { name }, spec: { ports: [{ port: 80 }], selector: { app: name }, ...spec } };
};
const specOf = (object: KubeObject) => {
  const { clusterIPs = [], ipFamilies = [] } = typed("Service", object).spec ?? {};
  return { clusterIPs, ipFamilies };
};

describe.each(apiServersWithRange("10.96.0.0/16"))("addresses of services, on $name", (candidate) => {
  const server = useApiServer(candidate);
  let services = "";
  const made: string[] = [];

  beforeAll(async () => {
    services = `/api/v1/namespaces/${await newNamespace(server.admin)}/services`;
    // kube-apiserver makes its default range soon after it serves.
    await vi.waitFor(async () => await server.admin.object("GET", `${RANGES}/kubernetes`), TIMEOUT);
  });
  afterEach(async () => {
    for (const path of made.splice(0).reverse()) await server.admin.json("DELETE", path);
  });
  const create = async (path: string, body: { metadata: { name: string } }) => {
    const object = await server.admin.object("POST", path, body);
    made.push(`${path}/${body.metadata.name}`);
    return object;
  };
  const refusal = async (method: string, path: string, body: object) => {
    const { body: answer } = await server.admin.json(method, path, body);
    return textAt(answer, ["message"]);
  };
  const statusOf = async (path: string) => (await server.admin.json("GET", path)).status;

  it("are of the range that the server is started with, which is ready", async () => {
    await vi.waitFor(async () => {
      const { spec, status } = await server.admin.object("GET", `${RANGES}/kubernetes`);
      expect(spec).toEqual({ cidrs: ["10.96.0.0/16"] });
      expect(status).toMatchObject({ conditions: [{ type: "Ready", status: "True", reason: "" }] });
    }, TIMEOUT);
  });

  it("have an object each, which comes and goes with the service", async () => {
    const created = await create(services, service("one"));
    const [ip = ""] = specOf(created).clusterIPs;
    const { metadata, spec } = await server.admin.object("GET", `${ADDRESSES}/${ip}`);
    expect(metadata.labels).toEqual({ "ipaddress.kubernetes.io/ip-family": "IPv4", ...MANAGED });
    expect(spec).toEqual({
      parentRef: { resource: "services", namespace: created.metadata.namespace, name: "one" },
    });
    await server.admin.json("DELETE", `${services}/one`);
    await vi.waitFor(async () => expect(await statusOf(`${ADDRESSES}/${ip}`)).toBe(404), TIMEOUT);
  });

  // Upstream looks at a service again only when that changes.
  it.runIf(candidate.isOurs)("are made anew when somebody deletes them", async () => {
    const [ip = ""] = specOf(await create(services, service("kept"))).clusterIPs;
    await server.admin.json("DELETE", `${ADDRESSES}/${ip}`);
    await vi.waitFor(async () => expect(await statusOf(`${ADDRESSES}/${ip}`)).toBe(200), TIMEOUT);
  });

  it("have the API server's own first, which comes back when somebody deletes its service", async () => {
    const path = "/api/v1/namespaces/default/services/kubernetes";
    const before = await vi.waitFor(async () => await server.admin.object("GET", path), TIMEOUT);
    await server.admin.json("DELETE", path);
    await vi.waitFor(async () => {
      const { metadata, spec } = await server.admin.object("GET", path);
      expect(metadata.uid).not.toBe(before.metadata.uid);
      expect(spec).toEqual(before["spec"]);
      expect(spec).toMatchObject({ clusterIP: "10.96.0.1" });
    }, TIMEOUT);
  });

  it("are not those that others have", async () => {
    await create(ADDRESSES, address("10.96.0.77"));
    expect(await refusal("POST", services, service("clash", { clusterIP: "10.96.0.77" }))).toBe(
      'Service "clash" is invalid: spec.clusterIPs: Invalid value: ["10.96.0.77"]: failed to allocate IP 10.96.0.77: provided IP is already allocated',
    );
  });

  it("may be of a further range, and of none that is not there", async () => {
    const asked = service("far", { clusterIP: "203.0.113.10" });
    expect(await refusal("POST", services, asked)).toContain(
      "failed to allocate IP 203.0.113.10: the provided network does not match the current range",
    );
    await create(RANGES, range("second", "203.0.113.0/24"));
    await vi.waitFor(async () => await create(services, asked), TIMEOUT);
    expect(await statusOf(`${ADDRESSES}/203.0.113.10`)).toBe(200);
    for (const edge of ["203.0.113.0", "203.0.113.255"]) {
      expect(await refusal("POST", services, service("edge", { clusterIP: edge }))).toContain("does not match");
    }
  });

  it("are of one family in a cluster of one", async () => {
    expect(await refusal("POST", services, service("dual", { ipFamilyPolicy: "RequireDualStack" }))).toBe(
      'Service "dual" is invalid: spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack services',
    );
  });

  it.each<[string, object, string]>([
    ["names none", range("x"), "spec.cidrs: Required value: at least one CIDR required"],
    ["is no range", range("x", "10.0.0.0"), 'spec.cidrs[0]: Invalid value: "10.0.0.0": must be a valid CIDR value'],
    ["has leading zeros", range("x", "010.0.0.0/8"), "must not have leading 0s in IP or prefix length"],
    ["has bits of a host", range("x", "10.0.0.1/8"), "must not have bits set beyond the prefix length"],
    ["is mapped", range("x", "::ffff:10.0.0.0/104"), "must not have an IPv4-mapped IPv6 address"],
    ["is spelled otherwise", range("x", "FD00::/64"), 'must be in canonical form ("fd00::/64")'],
    [
      "has a family twice",
      range("x", "10.0.0.0/24", "10.1.0.0/24"),
      "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64",
    ],
    ["has too many", range("x", "10.0.0.0/24", "fd00::/64", "10.1.0.0/24"), "may only hold up to 2 values"],
  ])("are refused a range that %s", async (_, body, message) => {
    expect(await refusal("POST", RANGES, body)).toContain(message);
  });

  it("have ranges that stay as they are, but for a second family", async () => {
    const { spec: _, ...created } = await create(RANGES, range("fixed", "192.0.2.0/24"));
    const withRanges = (...cidrs: string[]) => ({ ...created, metadata: { name: "fixed" }, spec: { cidrs } });
    const put = async (...cidrs: string[]) => await refusal("PUT", `${RANGES}/fixed`, withRanges(...cidrs));
    expect(await put("192.0.2.0/25")).toContain('spec.cidrs[0]: Invalid value: "192.0.2.0/25": field is immutable');
    expect(await put("192.0.2.0/25", "2001:db8::/64")).toContain("spec.cidrs[0]: Invalid value");
    expect(await put()).toContain("field is immutable");
    await server.admin.object("PUT", `${RANGES}/fixed`, withRanges("192.0.2.0/24", "2001:db8::/64"));
    expect(await put("192.0.2.0/24")).toContain('Invalid value: ["192.0.2.0/24"]: field is immutable');
  });

  it.each<[string, object, string]>([
    ["is none", address("x"), 'metadata.name: Invalid value: "x": must be a valid IP address'],
    ["has leading zeros", address("010.0.0.1"), "must not have leading 0s"],
    ["is mapped", address("::ffff:1.2.3.4"), "must not be an IPv4-mapped IPv6 address"],
    ["is spelled otherwise", address("FD00::1"), 'must be in canonical form ("fd00::1")'],
    ["is nobody's", { metadata: { name: "192.0.2.1" } }, "spec.parentRef: Required value"],
    ["is of a nameless", address("192.0.2.1", { resource: "r" }), "spec.parentRef.name: Required value"],
    ["is of no kind", address("192.0.2.1", { name: "n" }), "spec.parentRef.resource: Required value"],
    ["is of a path", address("192.0.2.1", { name: "a/b", resource: "r" }), "may not contain '/'"],
    ["is of a strange group", address("192.0.2.1", { ...theirs, group: "A_B" }), "spec.parentRef.group: Invalid value"],
  ])("are refused where an address %s", async (_, body, message) => {
    expect(await refusal("POST", ADDRESSES, body)).toContain(message);
  });

  it("stay with whom they are, and may be labelled", async () => {
    const created = await create(ADDRESSES, address("192.0.2.9"));
    const other = { ...created, spec: { parentRef: { ...theirs, name: "other" } } };
    expect(await refusal("PUT", `${ADDRESSES}/192.0.2.9`, other)).toContain("spec.parentRef: Invalid value");
    const labelled = changedMetadata(created, { labels: { a: "b" } });
    expect((await server.admin.object("PUT", `${ADDRESSES}/192.0.2.9`, labelled)).metadata.labels).toEqual({ a: "b" });
  });

  it("are shown in tables", async () => {
    await create(ADDRESSES, address("192.0.2.5"));
    const headers = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" };
    const { body } = await server.admin.json("GET", `${ADDRESSES}/192.0.2.5`, undefined, { headers });
    expect(body).toMatchObject({
      columnDefinitions: [{ name: "Name" }, { name: "ParentRef" }],
      rows: [{ cells: expect.arrayContaining(["192.0.2.5", "gateways.example.com/n/g"]) }],
    });
    const ranges = await server.admin.json("GET", `${RANGES}/kubernetes`, undefined, { headers });
    expect(ranges.body).toMatchObject({
      columnDefinitions: [{ name: "Name" }, { name: "CIDRs" }, { name: "Age" }],
      rows: [{ cells: ["kubernetes", "10.96.0.0/16", expect.any(String)] }],
    });
  });
});

describe.each(apiServersWithRange("10.96.0.0/16,fd00:10:96::/112"))(
  "services of two families, on $name",
  (candidate) => {
    const server = useApiServer(candidate);
    let services = "";

    beforeAll(async () => {
      services = `/api/v1/namespaces/${await newNamespace(server.admin)}/services`;
      await vi.waitFor(async () => await server.admin.object("GET", `${RANGES}/kubernetes`), TIMEOUT);
    });
    const create = async (name: string, spec: object) => {
      return await vi.waitFor(async () => await server.admin.object("POST", services, service(name, spec)), TIMEOUT);
    };
    const patch = async (name: string, spec: object) => {
      await server.admin.patch("merge", `${services}/${name}`, { spec });
      return await server.admin.object("GET", `${services}/${name}`);
    };
    const familiesOf = (object: KubeObject) => {
      const { clusterIPs, ipFamilies } = specOf(object);
      return [ipFamilies.join(), clusterIPs.map((ip) => (ip.includes(":") ? "IPv6" : "IPv4")).join()];
    };

    it.each<[string, object, string]>([
      ["one by default", {}, "IPv4"],
      ["the named one", { ipFamilies: ["IPv6"] }, "IPv6"],
      ["both where it prefers both", { ipFamilyPolicy: "PreferDualStack" }, "IPv4,IPv6"],
      ["both in the named order", { ipFamilyPolicy: "RequireDualStack", ipFamilies: ["IPv6", "IPv4"] }, "IPv6,IPv4"],
      ["both, one of them named", { ipFamilyPolicy: "RequireDualStack", ipFamilies: ["IPv6"] }, "IPv6,IPv4"],
    ])("have %s", async (name, spec, families) => {
      expect(familiesOf(await create(name.replaceAll(/\W+/g, "-"), spec))).toEqual([families, families]);
    });

    it("get a second address and give it up again", async () => {
      const before = await create("changing", {});
      const both = await patch("changing", { ipFamilyPolicy: "PreferDualStack" });
      expect(familiesOf(both)).toEqual(["IPv4,IPv6", "IPv4,IPv6"]);
      const [first, second = ""] = specOf(both).clusterIPs;
      expect([first]).toEqual(specOf(before).clusterIPs);
      // Upstream's repair, whose view of the service is older, may take it away until its next round, minutes later.
      if (candidate.isOurs)
        expect(await server.admin.json("GET", `${ADDRESSES}/${second}`)).toMatchObject({ status: 200 });
      expect(familiesOf(await patch("changing", { ipFamilyPolicy: "SingleStack" }))).toEqual(["IPv4", "IPv4"]);
      await vi.waitFor(async () => {
        expect((await server.admin.json("GET", `${ADDRESSES}/${second}`)).status).toBe(404);
      }, TIMEOUT);
    });

    it.each<[string, object, string]>([
      [
        "two families of one stack",
        { ipFamilyPolicy: "SingleStack", ipFamilies: ["IPv4", "IPv6"] },
        "must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified",
      ],
      [
        "an address of another family than is named",
        { clusterIP: "fd00:10:96::9", clusterIPs: ["fd00:10:96::9"], ipFamilies: ["IPv4"] },
        "expected an IPv4 value as indicated by `ipFamilies[0]`",
      ],
    ])("are refused %s", async (_, spec, message) => {
      const { body } = await server.admin.json("POST", services, service("refused", spec));
      expect(textAt(body, ["message"])).toContain(message);
    });
  },
);
