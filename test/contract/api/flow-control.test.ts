import { describe, expect, it, vi } from "vitest";
import type { KubeObject } from "../../../src/api/object.ts";
import { isRecord } from "../../../src/api/object.ts";
import { MANDATORY_FLOW_OBJECTS, SUGGESTED_FLOW_OBJECTS } from "../../../src/control-plane/bootstrap/flow-objects.ts";
import { apiServersUnderTest, useApiServer } from "./harness.ts";

const apiVersion = "flowcontrol.apiserver.k8s.io/v1";
const GROUP = `/apis/${apiVersion}`;
const DEFAULTS = [...MANDATORY_FLOW_OBJECTS, ...SUGGESTED_FLOW_OBJECTS];
const WAIT = { timeout: 60_000, interval: 200 };

describe.each(apiServersUnderTest())("flow control, on $name", (candidate) => {
  const server = useApiServer(candidate);

  it.each([
    ["FlowSchema", "flowschemas"],
    ["PriorityLevelConfiguration", "prioritylevelconfigurations"],
  ])("begins with the same objects of kind %s", async (kind, plural) => {
    const wanted = DEFAULTS.filter((object) => object.kind === kind);
    const essence = (objects: readonly KubeObject[]) => {
      const entries = objects.map(({ metadata: { name, annotations }, spec }) => ({ name, annotations, spec }));
      return entries.sort((a, b) => ((a.name ?? "") < (b.name ?? "") ? -1 : 1));
    };
    await vi.waitFor(async () => {
      const { items } = await server.admin.list(`${GROUP}/${plural}`);
      expect(essence(items)).toEqual(essence(wanted));
    }, WAIT);
  });

  it("prints schemas in the order in which they are asked, and lists them by name", async () => {
    const path = `${GROUP}/flowschemas`;
    const accept = "application/json;as=Table;v=v1;g=meta.k8s.io";
    const { body } = await server.admin.json("GET", path, undefined, { headers: { accept } });
    const rows = isRecord(body) && Array.isArray(body["rows"]) ? body["rows"] : [];
    const precedences = rows.map((row) => Number(isRecord(row) && Array.isArray(row["cells"]) && row["cells"][2]));
    expect(precedences.length).toBeGreaterThan(5);
    expect(precedences).toEqual(precedences.toSorted((a, b) => a - b));
    const names = (await server.admin.list(path)).items.map(({ metadata }) => metadata.name);
    expect(names).toEqual(names.toSorted());
  });

  it("takes a schema with its defaults, and its status apart", async () => {
    const path = `${GROUP}/flowschemas`;
    const spec = {
      priorityLevelConfiguration: { name: "system" },
      rules: [
        {
          subjects: [{ kind: "Group", group: { name: "g" } }],
          nonResourceRules: [{ verbs: ["get"], nonResourceURLs: ["/healthz"] }],
        },
      ],
    };
    const schema = {
      apiVersion: "flowcontrol.apiserver.k8s.io/v1",
      kind: "FlowSchema",
      metadata: { name: "mine" },
      spec,
    };
    const made = await server.admin.object("POST", path, schema);
    expect(made).toMatchObject({ metadata: { generation: 1 }, spec: { ...spec, matchingPrecedence: 1000 } });
    const conditions = [{ type: "Mine", status: "True" }];
    const patch = { spec: { matchingPrecedence: 5 }, status: { conditions } };
    const next = await server.admin.json("PATCH", `${path}/mine/status`, patch, {
      headers: { "content-type": "application/merge-patch+json" },
    });
    expect(next).toMatchObject({ status: 200, body: { spec: { matchingPrecedence: 1000 } } });
    expect(next.body).toHaveProperty(
      "status.conditions",
      expect.arrayContaining([expect.objectContaining({ type: "Mine" })]),
    );
  });

  it("refuses a change of what is fixed", async () => {
    const patch = { spec: { limited: { nominalConcurrencyShares: 6 } } };
    const { status, body } = await server.admin.json("PATCH", `${GROUP}/prioritylevelconfigurations/catch-all`, patch, {
      headers: { "content-type": "application/merge-patch+json" },
    });
    expect(status).toBe(422);
    expect(body).toHaveProperty("message", expect.stringContaining("spec of 'catch-all' must equal the fixed value"));
  });

  describe("requests", () => {
    const as = (user: string) => ({ headers: { "impersonate-user": user } });
    const headersOf = async (user: string) => {
      const { headers, status } = await server.admin.json("GET", "/version", undefined, as(user));
      const { "x-kubernetes-pf-flowschema-uid": schema, "x-kubernetes-pf-prioritylevel-uid": level } = headers;
      return { schema, level, status, retryAfter: headers["retry-after"] };
    };
    const uidOf = (object: KubeObject) => object.metadata.uid;
    const makeLevel = async (name: string, limited: object) => {
      const spec = { type: "Limited", limited };
      return await server.admin.object("POST", `${GROUP}/prioritylevelconfigurations`, levelOf(name, spec));
    };
    const makeSchema = async (name: string, level: string, user: string) => {
      const rule = {
        subjects: [{ kind: "User", user: { name: user } }],
        nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
      };
      const spec = { priorityLevelConfiguration: { name: level }, matchingPrecedence: 1000, rules: [rule] };
      const metadata = { name };
      return await server.admin.object("POST", `${GROUP}/flowschemas`, {
        apiVersion,
        kind: "FlowSchema",
        metadata,
        spec,
      });
    };
    const danglingOf = async (name: string) => {
      const { status } = await server.admin.object("GET", `${GROUP}/flowschemas/${name}`);
      return status;
    };
    const dangling = (status: string, reason: string) => ({
      conditions: [expect.objectContaining({ type: "Dangling", status, reason })],
    });

    it("tell the schema and the level that they are of", async () => {
      const level = await makeLevel("testing", { nominalConcurrencyShares: 1, limitResponse: { type: "Reject" } });
      const schema = await makeSchema("testing", "testing", "noxu");
      await vi.waitFor(async () => {
        expect(await headersOf("noxu")).toMatchObject({ status: 200, schema: uidOf(schema), level: uidOf(level) });
      }, WAIT);
      const others = [
        ["probes", "exempt", "/healthz"],
        ["global-default", "global-default", "/version"],
      ] as const;
      for (const [name, levelName, path] of others) {
        const { headers } = await server.admin.json("GET", path, undefined, as("foo"));
        expect(headers).toMatchObject({
          "x-kubernetes-pf-flowschema-uid": uidOf(await server.admin.object("GET", `${GROUP}/flowschemas/${name}`)),
          "x-kubernetes-pf-prioritylevel-uid": uidOf(
            await server.admin.object("GET", `${GROUP}/prioritylevelconfigurations/${levelName}`),
          ),
        });
      }
    });

    it("are refused by a level without seats, with a time to try again", async () => {
      const nothing = { nominalConcurrencyShares: 0, lendablePercent: 0, borrowingLimitPercent: 0 };
      await makeLevel("jail", { ...nothing, limitResponse: { type: "Reject" } });
      const schema = await makeSchema("jailed", "jail", "jack");
      await vi.waitFor(async () => {
        const retryAfter = expect.stringMatching(/^\d+$/);
        expect(await headersOf("jack")).toMatchObject({ status: 429, retryAfter, schema: uidOf(schema) });
      }, WAIT);
      const { body } = await server.admin.json("GET", "/metrics");
      const flow = 'flow_schema="jailed",priority_level="jail"';
      const rejected = new RegExp(
        `apiserver_flowcontrol_rejected_requests_total{(${flow}|${flow.split(",").reverse().join(",")}),reason="concurrency-limit"} [1-9]`,
      );
      expect(body).toMatch(rejected);
      expect(body).toMatch(/apiserver_flowcontrol_nominal_limit_seats{priority_level="global-default"} [1-9]/);
      expect(body).toContain('apiserver_flowcontrol_nominal_limit_seats{priority_level="jail"} 0\n');
    });

    it("are not for a schema without a level, whose status says so", async () => {
      const schema = await makeSchema("early", "late", "early");
      await vi.waitFor(async () => {
        expect(await danglingOf("early")).toEqual(dangling("True", "NotFound"));
      }, WAIT);
      expect((await headersOf("early")).schema).not.toBe(uidOf(schema));
      await makeLevel("late", { limitResponse: { type: "Reject" } });
      await vi.waitFor(async () => {
        expect(await danglingOf("early")).toEqual(dangling("False", "Found"));
        expect((await headersOf("early")).schema).toBe(uidOf(schema));
      }, WAIT);
    });

    it("are shown level by level, line by line and one by one", async () => {
      const dump = async (what: string) => {
        const { status, body } = await server.admin.json("GET", `/debug/api_priority_and_fairness/dump_${what}`);
        expect(status).toBe(200);
        return String(body)
          .split("\n")
          .map((row) => row.split(/, */));
      };
      const [head, ...levels] = await dump("priority_levels");
      expect(head?.slice(0, 3)).toEqual(["PriorityLevelName", "ActiveQueues", "IsIdle"]);
      expect(levels).toContainEqual([
        "global-default",
        "0",
        "true",
        "false",
        "0",
        "0",
        expect.anything(),
        "0",
        "0",
        "0",
      ]);
      expect((await dump("queues"))[0]?.slice(0, 3)).toEqual(["PriorityLevelName", "Index", "PendingRequests"]);
      const [, ...requests] = await dump("requests");
      expect(requests).toContainEqual(expect.arrayContaining(["exempt", "exempt", "-1"]));
    });
  });
});

const levelOf = (name: string, spec: object) => ({
  ...{ apiVersion, kind: "PriorityLevelConfiguration", metadata: { name }, spec },
});
