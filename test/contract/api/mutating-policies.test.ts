import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { apiServersUnderTest, useApiServer } from "./harness.ts";
import { configMap, deployment, newNamespace, pathsIn, pod } from "./objects.ts";
import { createPolicies, type Policies } from "./policies.ts";

describe.each(apiServersUnderTest())("mutating admission policies, on $name", (candidate) => {
  const server = useApiServer(candidate);
  let policies: Policies;
  let paths: ReturnType<typeof pathsIn>;
  beforeEach(async () => {
    const namespace = await newNamespace(server.admin);
    paths = pathsIn(namespace);
    policies = createPolicies(server.admin, { kind: "Mutating", namespace });
  });
  afterEach(() => policies.remove());

  const apply = (expression: string) => ({ patchType: "ApplyConfiguration", applyConfiguration: { expression } });
  const patch = (expression: string) => ({ patchType: "JSONPatch", jsonPatch: { expression } });
  const post = async (path: string, object: object) => {
    const { status, body } = await server.admin.json("POST", path, object);
    return { ...Object(body), code: status };
  };
  const create = (name: string, data: Record<string, string> = {}) => post(paths.configMaps, configMap(name, data));
  const mutate = (...mutations: object[]) => policies.register({ mutations });

  it("set fields and keep the others", async () => {
    await mutate(apply("Object{metadata: Object.metadata{labels: {'by': object.metadata.name}}, data: {'b': '2'}}"));
    expect(await create("a", { a: "1" })).toMatchObject({
      data: { a: "1", b: "2" },
      metadata: { labels: { by: "a" } },
    });
    const updated = await server.admin.patch("merge", `${paths.configMaps}/a`, { data: { b: null, c: "3" } });
    expect(updated).toMatchObject({ body: { data: { a: "1", b: "2", c: "3" } } });
  });

  it("merge lists by their keys, and fill in defaults", async () => {
    const side = "Object.spec.containers{name: 'side', image: 'example.com/side'}";
    const main = "Object.spec.containers{name: 'main', env: [Object.spec.containers.env{name: 'A', value: '1'}]}";
    await policies.register({
      mutations: [apply(`Object{spec: Object.spec{containers: [${side}, ${main}]}}`)],
      resources: ["pods"],
    });
    const { code, spec } = await post(paths.pods, pod("p"));
    expect(code).toBe(201);
    expect(spec.containers).toMatchObject([
      { name: "side", imagePullPolicy: "Always", terminationMessagePolicy: "File" },
      { name: "main", image: "example.com/main:1", env: [{ name: "A", value: "1" }] },
    ]);
  });

  it("patch by JSON", async () => {
    const emptied = "JSONPatch{op: 'add', path: '/metadata/annotations', value: {}}";
    const key = "'/metadata/annotations/' + jsonpatch.escapeKey('example.com/a')";
    await mutate(
      patch("[JSONPatch{op: 'test', path: '/data/x', value: '1'}, JSONPatch{op: 'add', path: '/data/y', value: '2'}]"),
      // In one list: what a mutation leaves empty is not there for the next one.
      patch(`[${emptied}, JSONPatch{op: 'add', path: ${key}, value: string(object.data.size())}]`),
      patch("[JSONPatch{op: 'move', from: '/data/x', path: '/data/z'}]"),
    );
    const withSize = (size: string) => ({ metadata: { annotations: { "example.com/a": size } } });
    expect(await create("tested", { x: "0" })).toMatchObject({ data: { z: "0" }, ...withSize("1") });
    expect(await create("b", { x: "1" })).toMatchObject({ data: { y: "2", z: "1" }, ...withSize("2") });
  });

  it("patch by JSON with objects", async () => {
    const value = "Object.spec.template.spec.containers{name: 'new', image: 'example.com/new'}";
    await policies.register({
      mutations: [patch(`[JSONPatch{op: 'add', path: '/spec/template/spec/containers/-', value: ${value}}]`)],
      rule: { apiGroups: ["apps"], resources: ["deployments"] },
    });
    const { spec } = await post(paths.deployments, deployment("d"));
    expect(spec.template.spec.containers[2]).toMatchObject({ name: "new", imagePullPolicy: "Always" });
  });

  it("read variables, parameters, the namespace and the authorizer", async () => {
    await server.admin.object("POST", paths.configMaps, configMap("params", { label: "given" }));
    await policies.register({
      paramKind: { apiVersion: "v1", kind: "ConfigMap" },
      variables: [
        { name: "label", expression: "params.data.label" },
        { name: "both", expression: "variables.label + '-' + namespaceObject.metadata.name.substring(0, 8)" },
      ],
      matchConditions: [{ name: "named", expression: "request.name != 'other' && params.data.label == 'given'" }],
      mutations: [
        apply("Object{data: {'both': variables.both}}"),
        apply(
          "Object{data: {'may': string(authorizer.requestResource.fieldSelector('metadata.name=a').labelSelector('a').check('delete').allowed())}}",
        ),
        apply("Object{data: {'op': request.operation + request.resource.resource}}"),
      ],
      binding: { paramRef: { name: "params", parameterNotFoundAction: "Deny" } },
    });
    const data = { both: "given-contract", may: "true", op: "CREATEconfigmaps" };
    expect(await create("a")).toMatchObject({ data });
    expect((await create("other", { x: "1" })).data).toEqual({ x: "1" });
  });

  it("have another turn after others have changed the object, if they want to", async () => {
    const keys = "object.data.map(k, k).filter(k, k.size() < 5).join('')";
    const seen = (name: string) => apply(`Object{data: {'${name}': has(object.data) ? ${keys} : ''}}`);
    await policies.register({ mutations: [seen("needed")], reinvocationPolicy: "IfNeeded" });
    await policies.register({ mutations: [apply("Object{data: {'late': '1'}}")] });
    const { data } = await create("a", { x: "1" });
    expect(data).toMatchObject({ x: "1", late: "1" });
    expect([...data.needed].sort().join("")).toBe("aeltx");
  });

  it("have another turn after themselves, as upstream has it", async () => {
    const more = "(has(object.data.n) ? object.data.n : '') + 'i'";
    await policies.register({ mutations: [apply(`Object{data: {'n': ${more}}}`)], reinvocationPolicy: "IfNeeded" });
    expect((await create("a", { x: "1" })).data).toEqual({ x: "1", n: "ii" });
  });

  it.each<[string, object[], RegExp]>([
    [
      "an expression that fails",
      [apply("Object{data: {'a': object.spec.x}}")],
      /^expression '.*' resulted in error: no such key: spec$/,
    ],
    [
      "a field that there is not",
      [apply("Object{dada: {'a': 'b'}}")],
      /typed object: \.dada: field not declared in schema$/,
    ],
    [
      "an object of another type",
      [apply("Object{metadata: Object.data{}}")],
      /^type mismatch: unexpected type name "Object\.data", expected "Object\.metadata", which matches/,
    ],
    [
      "a value of another type",
      [apply("Object{data: 5}")],
      /^error applying patch: failed to convert patch object to typed/,
    ],
    [
      "a patch that cannot be applied",
      [patch("[JSONPatch{op: 'remove', path: '/spec/x'}]")],
      /^JSON Patch: .*\/spec\/x/,
    ],
    ["an unknown operation", [patch("[JSONPatch{op: 'make', path: '/data'}]")], /^JSON Patch: Unexpected kind: make$/],
  ])("refuse the request for %s, unless failures are ignored", async (_name, mutations, words) => {
    const { policy, binding } = await policies.register({ mutations });
    const { code, message, reason, details } = await create("a");
    const denied = `policy '${policy}' with binding '${binding}' denied request: `;
    expect([code, reason, message.slice(0, denied.length)]).toEqual([403, "Invalid", denied]);
    expect(message.slice(denied.length)).toMatch(words);
    expect(details).toMatchObject({ name: "a", kind: "configmaps", causes: [{ message }] });
    await policies.remove();
    await policies.register({ mutations: [...mutations, apply("Object{data: {'z': '1'}}")], failurePolicy: "Ignore" });
    expect(await create("b", { x: "1" })).toMatchObject({ code: 201, data: { x: "1", z: "1" } });
  });

  it("change no lists and maps that are one value", async () => {
    const mutations = [apply("Object{spec: Object.spec{selector: Object.spec.selector{matchLabels: {'a': 'b'}}}}")];
    await policies.register({ mutations, rule: { apiGroups: ["apps"], resources: ["deployments"] } });
    expect((await post(paths.deployments, deployment("d"))).message).toMatch(
      /invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: \.spec\.selector$/,
    );
  });

  it("make no object that the kind does not have, whatever is ignored", async () => {
    const failurePolicy = "Ignore";
    await policies.register({ mutations: [patch("[JSONPatch{op: 'add', path: '/dada', value: 1}]")], failurePolicy });
    expect(await create("a")).toMatchObject({
      code: 500,
      message: 'Internal error occurred: strict decoding error: unknown field "dada"',
    });
  });

  it("need their parameters", async () => {
    const spec = { paramKind: { apiVersion: "v1", kind: "ConfigMap" }, mutations: [apply("Object{data: {'a': 'b'}}")] };
    const { policy, binding } = await policies.register({
      ...spec,
      binding: { paramRef: { name: "gone", parameterNotFoundAction: "Deny" } },
    });
    expect(await create("a")).toMatchObject({
      code: 403,
      reason: "Forbidden",
      message: `policy '${policy}' with binding '${binding}' denied request: failed to configure binding: no params found for policy binding with \`Deny\` parameterNotFoundAction`,
    });
  });

  it("are about what their constraints and those of the binding match", async () => {
    const mutations = [apply("Object{data: {'a': 'b'}}")];
    await policies.register({
      mutations,
      constraints: { excludeResourceRules: [policies.rule({ resourceNames: ["spared"] })] },
      binding: {
        matchResources: { objectSelector: { matchExpressions: [{ key: "skip", operator: "DoesNotExist" }] } },
      },
    });
    expect((await create("spared")).data).toBeUndefined();
    expect((await post(paths.configMaps, configMap("b", {}, { skip: "yes" }))).data).toBeUndefined();
    expect((await create("c")).data).toEqual({ a: "b" });
  });

  it.each<[string, object, string]>([
    [
      "an expression that does not compile",
      { mutations: [apply("Object{data: missing}")] },
      "spec.mutations[0].applyConfiguration.expression: Invalid value: \"Object{data: missing}\": compilation failed: ERROR: <input>:1:14: undeclared reference to 'missing' (in container '')\n | Object{data: missing}\n | .............^",
    ],
    [
      "an unknown type",
      { mutations: [apply("Thing{data: 1}")] },
      "compilation failed: ERROR: <input>:1:6: undeclared reference to 'Thing' (in container '')",
    ],
    [
      "another type than an object",
      { mutations: [apply("{'a': 'b'}")] },
      "must evaluate to Object but got map(string, string)",
    ],
    ["another type than patches", { mutations: [patch("[1]")] }, "must evaluate to list(JSONPatch) but got list(int)"],
    [
      "a wrong field of a patch",
      { mutations: [patch("[JSONPatch{op: 1}]")] },
      "<input>:1:14: expected type of field 'op' is 'string' but provided type is 'int'",
    ],
    ["no mutations", { mutations: [] }, "spec.mutations: Required value: mutations must contain at least one item"],
    ["no policy of reinvocation", { reinvocationPolicy: null }, "spec.reinvocationPolicy: Required value"],
    [
      "both forms of patches",
      { mutations: [{ ...patch("[JSONPatch{}]"), ...apply("Object{}") }] },
      'spec.mutations[0].jsonPatch: Invalid value: "{jsonPatch}": must not be specified when patchType is ApplyConfiguration',
    ],
    [
      "deletions",
      { rule: { operations: ["DELETE"] } },
      'spec.matchConstraints.resourceRules.operations: Unsupported value: "DELETE": supported values: "*", "CONNECT", "CREATE", "UPDATE"',
    ],
  ])("are refused with %s", async (_name, fields, message) => {
    const { status, body } = await policies.create({ mutations: [apply("Object{}")], ...fields });
    expect([status, Object(body).message]).toEqual([422, expect.stringContaining(message)]);
  });

  it("have defaults", async () => {
    const { body } = await policies.create({ mutations: [apply("Object{}")] });
    expect(body).toMatchObject({
      metadata: { generation: 1 },
      spec: {
        failurePolicy: "Fail",
        reinvocationPolicy: "Never",
        matchConstraints: { matchPolicy: "Equivalent", objectSelector: {}, resourceRules: [{ scope: "*" }] },
      },
    });
  });
});
