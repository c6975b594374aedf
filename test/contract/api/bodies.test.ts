import { beforeAll, describe, expect, it } from "vitest";
import { BODY_CASES } from "./bodies.ts";
import { causesOf } from "./causes.ts";
import { apiServersUnderTest, useApiServer } from "./harness.ts";
import { deployment, newNamespace, pathsIn } from "./objects.ts";

describe.each(apiServersUnderTest())("bodies, on $name", (candidate) => {
  const server = useApiServer(candidate);
  let namespace: string;

  beforeAll(async () => {
    namespace = await newNamespace(server.admin);
  });

  it.for(BODY_CASES)("$what", async ({ path, body, causes = [], made = {}, left = [], since = 0 }, { skip }) => {
    skip(server.minor < since, "older servers do not look at it, or say it otherwise");
    const query = { dryRun: "All", fieldValidation: "Strict" };
    const answer = await server.admin.json("POST", path.replace("{ns}", namespace), body, { query });
    const expected = causes.map(([field, reason, message]) => ({ field, reason, message }));
    expect(causesOf(answer).toSorted(byText)).toEqual(expected.toSorted(byText));
    expect(answer).toMatchObject({ status: causes.length > 0 ? 422 : 201, body: made });
    for (const field of left) expect(answer.body).not.toHaveProperty(field);
  });

  it("tells in one message all that is wrong", async () => {
    const body = { metadata: { name: "many" }, spec: { containers: [{ name: "", image: "" }] } };
    expect(await server.admin.json("POST", pathsIn(namespace).pods, body)).toMatchObject({
      status: 422,
      body: {
        message:
          'Pod "many" is invalid: [spec.containers[0].name: Required value, spec.containers[0].image: Required value]',
      },
    });
  });

  it.each([
    [{ replicas: -1 }, "status.replicas", "Invalid value: -1: must be greater than or equal to 0"],
    [
      { replicas: 1, readyReplicas: 2 },
      "status.readyReplicas",
      "Invalid value: 2: cannot be greater than status.replicas",
    ],
    [
      { replicas: 1, readyReplicas: 0, availableReplicas: 1 },
      "status.availableReplicas",
      "Invalid value: 1: cannot be greater than readyReplicas",
    ],
    [{ collisionCount: -1 }, "status.collisionCount", "Invalid value: -1: must be greater than or equal to 0"],
  ])("of a deployment's status: %o", async (status, field, message) => {
    const { deployments } = pathsIn(namespace);
    await server.admin.json("POST", deployments, deployment("counted"));
    const answer = await server.admin.patch("merge", `${deployments}/counted/status`, { status });
    expect(answer.status).toBe(422);
    expect(causesOf(answer)).toContainEqual({ reason: "FieldValueInvalid", field, message });
  });

  it.for([
    [["Made", "Made/byHand", "UpToDate"], []],
    [[], []],
    [["Twice", "Twice"], [[1, "FieldValueDuplicate", 'Duplicate value: "Twice"']]],
    [["B", "A"], [[1, "FieldValueInvalid", 'Invalid value: "A": list must be sorted alphabetically']]],
    [
      ["lower"],
      [[0, "FieldValueInvalid", expect.stringContaining('invalid feature name "lower": must start with an')]],
    ],
    [["A".repeat(254)], [[0, "FieldValueInvalid", expect.stringMatching(/": must be no more than 253 characters$/)]]],
  ] as const)("of a node's status: its declared features, %j", async ([declaredFeatures, causes], { skip }) => {
    skip(!candidate.isOurs && server.minor < 36, "nodes declare none, unless a feature gate is on");
    const nodes = "/api/v1/nodes";
    await server.admin.json("POST", nodes, { metadata: { name: "declaring" } });
    await server.admin.patch("merge", `${nodes}/declaring/status`, { status: { declaredFeatures: null } });
    const patch = { status: { declaredFeatures } };
    const answer = await server.admin.patch("merge", `${nodes}/declaring/status`, patch);
    const expected = causes.map(([index, reason, message]) => {
      return { reason, field: `status.declaredFeatures[${index}]`, message };
    });
    expect(causesOf(answer)).toEqual(expected);
    if (causes.length > 0) return;
    const { status } = await server.admin.object("GET", `${nodes}/declaring`);
    if (declaredFeatures.length > 0) expect(status).toMatchObject({ declaredFeatures });
    else expect(status).not.toHaveProperty("declaredFeatures");
  });

  it("of a budget's status: numbers and conditions", async () => {
    const { budgets } = pathsIn(namespace);
    await server.admin.object("POST", budgets, { metadata: { name: "counted" }, spec: { minAvailable: 1 } });
    const status = { disruptionsAllowed: -1, conditions: [{ type: "Sad", status: "Perhaps" }] };
    const answer = await server.admin.patch("merge", `${budgets}/counted/status`, { status });
    expect(answer.status).toBe(422);
    expect(causesOf(answer).map(({ field }) => field)).toEqual(
      expect.arrayContaining([
        "status.disruptionsAllowed",
        "status.conditions[0].status",
        "status.conditions[0].lastTransitionTime",
        "status.conditions[0].reason",
      ]),
    );
  });

  it("warns of a kind that has gone out of use, whatever is asked of it", async ({ skip }) => {
    skip(server.minor < 33, "it has not gone out of use yet");
    const warning = '299 - "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"';
    const path = `/api/v1/namespaces/${namespace}/endpoints`;
    expect(await server.admin.json("GET", path)).toMatchObject({ status: 200, headers: { warning } });
    expect(await server.admin.json("GET", `${path}/absent`)).toMatchObject({ status: 404, headers: { warning } });
  });
});

const byText = (one: object, other: object) => JSON.stringify(one).localeCompare(JSON.stringify(other));
