import { describe, expect, it, vi } from "vitest";
import type { KubeObject } from "../../../src/api/object.ts";
import { MANDATORY_FLOW_OBJECTS, SUGGESTED_FLOW_OBJECTS } from "../../../src/control-plane/bootstrap/flow-objects.ts";
import { apiServersUnderTest, useApiServer } from "./harness.ts";

const GROUP = "/apis/flowcontrol.apiserver.k8s.io/v1";
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
});
