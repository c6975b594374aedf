import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import type { KubeObject } from "../../../src/api/object.ts";
import { issueLoopbackCertificate } from "../loopback-certificate.ts";
import { apiServersUnderTest, useApiServer } from "./harness.ts";
import { NAMELESS } from "./nameless-certificates.ts";
import { configMap, deployment, newNamespace, pathsIn } from "./objects.ts";
import {
  type AdmissionRequest,
  ALLOWED,
  type HookAnswer,
  patched,
  startWebhookServer,
  type WebhookServer,
} from "./webhook-server.ts";

const GROUP = "/apis/admissionregistration.k8s.io/v1";
const PATHS = {
  MutatingWebhookConfiguration: `${GROUP}/mutatingwebhookconfigurations`,
  ValidatingWebhookConfiguration: `${GROUP}/validatingwebhookconfigurations`,
} as const;
const CONFIG_MAPS = { apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"], operations: ["*"] };

type Kind = keyof typeof PATHS;

describe.each(apiServersUnderTest())("admission webhooks, on $name", (candidate) => {
  const server = useApiServer(candidate);
  let hooks: WebhookServer;
  let namespace: string;
  let paths: ReturnType<typeof pathsIn>;
  let made: string[] = [];
  let asked: AdmissionRequest[] = [];
  let count = 0;

  beforeAll(async () => {
    hooks = await startWebhookServer();
  });
  afterAll(() => hooks.close());
  beforeEach(async () => {
    namespace = await newNamespace(server.admin);
    paths = pathsIn(namespace);
    asked = [];
  });
  afterEach(async () => {
    for (const path of made) await server.admin.json("DELETE", path);
    made = [];
  });

  /** Registers a webhook for config maps of the case's namespace, and waits until the server asks it. */
  const register = async (
    kind: Kind,
    answer: (request: AdmissionRequest) => HookAnswer | Promise<HookAnswer>,
    fields: object = {},
  ): Promise<KubeObject> => {
    const name = `hook-${String(++count).padStart(3, "0")}`;
    const clientConfig = hooks.at(`/${name}`, (request) => {
      // Probes of webhooks that were registered later are none of the case's own requests.
      if (String(request["name"]).startsWith("hook-")) return ALLOWED;
      asked.push(request);
      return answer(request);
    });
    const webhook = {
      name: `${name}.example.com`,
      clientConfig,
      rules: [CONFIG_MAPS],
      sideEffects: "None",
      admissionReviewVersions: ["v1"],
      namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } },
      ...fields,
    };
    let isKnown = false;
    const probe = {
      ...webhook,
      name: `probe-${webhook.name}`,
      rules: [CONFIG_MAPS],
      objectSelector: { matchLabels: { probe: name } },
      clientConfig: hooks.at(`/probe-${name}`, () => {
        isKnown = true;
        return ALLOWED;
      }),
    };
    const webhooks = [webhook, probe];
    const body = { kind, apiVersion: "admissionregistration.k8s.io/v1", metadata: { name }, webhooks };
    const created = await server.admin.object("POST", PATHS[kind], body);
    made.push(`${PATHS[kind]}/${name}`);
    // Webhooks of one configuration become known at once, which kube-apiserver needs a moment for.
    const probed = configMap(name, {}, { probe: name });
    while (!isKnown) await server.admin.json("POST", paths.configMaps, probed, { query: { dryRun: "All" } });
    return created;
  };
  const create = async (name: string, data: Readonly<Record<string, string>> = {}, query = {}) =>
    await server.admin.json("POST", paths.configMaps, configMap(name, data), { query });
  /** The status and the message of a refusal. */
  const refusalOf = async (name: string) => {
    const { status, body } = await create(name);
    return [status, Object(body).message, Object(body).reason];
  };

  it("are asked about a creation, an update and a deletion", async () => {
    await register("ValidatingWebhookConfiguration", () => ALLOWED);
    const { body: object } = await create("a", { x: "1" });
    const updated = await server.admin.object("PUT", `${paths.configMaps}/a`, configMap("a", { x: "2" }));
    await server.admin.json("DELETE", `${paths.configMaps}/a`);
    const common = {
      kind: { group: "", version: "v1", kind: "ConfigMap" },
      resource: { group: "", version: "v1", resource: "configmaps" },
      requestKind: { group: "", version: "v1", kind: "ConfigMap" },
      requestResource: { group: "", version: "v1", resource: "configmaps" },
      name: "a",
      namespace,
      dryRun: false,
      userInfo: { groups: expect.arrayContaining(["system:masters", "system:authenticated"]) },
    };
    expect(asked).toMatchObject([
      {
        ...common,
        operation: "CREATE",
        object: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", namespace }, data: { x: "1" } },
        oldObject: null,
        options: { kind: "CreateOptions", apiVersion: "meta.k8s.io/v1" },
      },
      { ...common, operation: "UPDATE", object: { data: { x: "2" } }, oldObject: object },
      { ...common, operation: "DELETE", object: null, oldObject: updated },
    ]);
    expect(new Set(asked.map(({ uid }) => uid)).size).toBe(3);
  });

  it("refuse by their own words and code", async () => {
    await register("ValidatingWebhookConfiguration", ({ name }) => {
      if (name === "mute") return { response: { allowed: false } };
      const status = { code: 418, message: "no tea", reason: "Teapot" };
      return { response: { allowed: false, status } };
    });
    const denied = `admission webhook "hook-${String(count).padStart(3, "0")}.example.com" denied the request`;
    expect(await refusalOf("a")).toEqual([418, `${denied}: no tea`, "Teapot"]);
    expect(await refusalOf("mute")).toEqual([400, `${denied} without explanation`, undefined]);
    expect(await server.admin.json("GET", `${paths.configMaps}/a`)).toMatchObject({ status: 404 });
  });

  it("change the object one after the other, before the others judge it", async () => {
    await register("MutatingWebhookConfiguration", () => patched({ op: "add", path: "/data/first", value: "1" }));
    await register("MutatingWebhookConfiguration", ({ object }) => {
      const { first } = Object(object).data;
      return patched({ op: "add", path: "/data/second", value: `after ${first}` });
    });
    await register("ValidatingWebhookConfiguration", () => ALLOWED);
    const data = { x: "1", first: "1", second: "after 1" };
    expect(await create("a", { x: "1" })).toMatchObject({ status: 201, body: { data } });
    expect(asked.at(-1)).toMatchObject({ object: { data } });
  });

  it("are asked again when a later one has changed the object, if they want to be", async () => {
    const counted = ({ object }: AdmissionRequest) => {
      const { data, metadata } = Object(object);
      const seen = Object.keys(data).sort().join("-");
      return patched({ op: "add", path: "/metadata/annotations", value: { ...metadata.annotations, seen } });
    };
    await register("MutatingWebhookConfiguration", counted, { reinvocationPolicy: "IfNeeded" });
    await register("MutatingWebhookConfiguration", () => patched({ op: "add", path: "/data/late", value: "1" }));
    const { body } = await create("a", { x: "1" });
    expect(body).toMatchObject({ metadata: { annotations: { seen: "late-x" } } });
  });

  it("see defaults filled in for what they add", async () => {
    await register(
      "MutatingWebhookConfiguration",
      () => patched({ op: "add", path: "/spec/containers/-", value: { name: "side", image: "example.com/side" } }),
      { rules: [{ ...CONFIG_MAPS, resources: ["pods"], operations: ["CREATE"] }] },
    );
    const spec = { schedulerName: "contract", containers: [{ name: "main", image: "example.com/main:1" }] };
    const pod = { apiVersion: "v1", kind: "Pod", metadata: { generateName: "p-" }, spec };
    const { status, body } = await server.admin.json("POST", paths.pods, pod);
    expect(status).toBe(201);
    expect(Object(body).spec.containers[1]).toMatchObject({ name: "side", imagePullPolicy: "Always" });
    expect(asked).toHaveLength(1);
    expect(Object(body).spec.volumes).toEqual(Object(asked[0]?.["object"]).spec.volumes);
  });

  it("warn", async () => {
    await register("ValidatingWebhookConfiguration", () => ({
      response: { allowed: true, warnings: ["mind the gap"] },
    }));
    expect((await create("a")).headers["warning"]).toBe('299 - "mind the gap"');
  });

  it("are told of a dry run, and nothing is stored", async () => {
    await register("ValidatingWebhookConfiguration", () => ALLOWED);
    expect(await create("a", {}, { dryRun: "All" })).toMatchObject({ status: 201 });
    expect(asked).toMatchObject([{ dryRun: true, options: { dryRun: ["All"] } }]);
    expect(await server.admin.json("GET", `${paths.configMaps}/a`)).toMatchObject({ status: 404 });
  });

  it("look after what their selectors choose", async () => {
    const objectSelector = { matchLabels: { watched: "yes" } };
    await register("ValidatingWebhookConfiguration", () => ({ response: { allowed: false } }), { objectSelector });
    expect(await create("a")).toMatchObject({ status: 201 });
    const labelled = configMap("b", {}, { watched: "yes" });
    expect(await server.admin.json("POST", paths.configMaps, labelled)).toMatchObject({ status: 400 });
    const elsewhere = pathsIn(await newNamespace(server.admin));
    expect(await server.admin.json("POST", elsewhere.configMaps, labelled)).toMatchObject({ status: 201 });
  });

  it("are never asked about webhooks", async () => {
    const rules = [{ ...CONFIG_MAPS, apiGroups: ["*"], apiVersions: ["*"], resources: ["*/*"], scope: "Cluster" }];
    const other = await register("ValidatingWebhookConfiguration", () => ALLOWED);
    const { metadata } = await register("ValidatingWebhookConfiguration", () => ({ response: { allowed: false } }), {
      rules: rules.map((rule) => ({ ...rule, apiGroups: ["admissionregistration.k8s.io"] })),
    });
    for (const name of [other.metadata.name, metadata.name]) {
      const path = `${PATHS.ValidatingWebhookConfiguration}/${name}`;
      expect(await server.admin.json("DELETE", path)).toMatchObject({ status: 200 });
    }
    expect(asked).toEqual([]);
  });

  it("keep the connection for the next call", async () => {
    await register("ValidatingWebhookConfiguration", () => ALLOWED);
    await create("a");
    const { connections } = hooks;
    for (const name of ["b", "c", "d"]) await create(name);
    expect(hooks.connections).toBe(connections);
  });

  it("have a say in connections", async () => {
    const status = { message: "no shells here" };
    await register("ValidatingWebhookConfiguration", () => ({ response: { allowed: false, status } }), {
      rules: [{ ...CONFIG_MAPS, resources: ["pods/exec"], operations: ["CONNECT"] }],
    });
    const query = { command: ["sh", "-c"], container: "main", stdout: true };
    const { status: code, body } = await server.admin.json("POST", `${paths.pods}/p/exec`, undefined, { query });
    expect([code, Object(body).message]).toEqual([400, expect.stringContaining("denied the request: no shells here")]);
    const object = { kind: "PodExecOptions", apiVersion: "v1", container: "main", stdout: true, command: ["sh", "-c"] };
    expect(asked).toMatchObject([{ operation: "CONNECT", subResource: "exec", name: "p", object, oldObject: null }]);
  });

  it("are shown the Scale by which an object is scaled, and may change it", async () => {
    await server.admin.object("POST", paths.deployments, deployment("scaled", 1));
    await register(
      "MutatingWebhookConfiguration",
      ({ object }) =>
        patched({ op: "replace", path: "/spec/replicas", value: Math.min(Object(object).spec.replicas, 4) }),
      { rules: [{ ...CONFIG_MAPS, apiGroups: ["apps"], resources: ["deployments/scale"], operations: ["UPDATE"] }] },
    );
    const path = `${paths.deployments}/scaled/scale`;
    expect(await server.admin.patch("merge", path, { spec: { replicas: 9 } })).toMatchObject({
      status: 200,
      body: { kind: "Scale", spec: { replicas: 4 } },
    });
    const scale = { kind: "Scale", apiVersion: "autoscaling/v1", metadata: { name: "scaled", namespace } };
    expect(asked).toMatchObject([
      {
        operation: "UPDATE",
        kind: { group: "autoscaling", version: "v1", kind: "Scale" },
        resource: { group: "apps", version: "v1", resource: "deployments" },
        subResource: "scale",
        name: "scaled",
        object: { ...scale, spec: { replicas: 9 } },
        oldObject: { ...scale, spec: { replicas: 1 } },
        options: { kind: "PatchOptions" },
      },
    ]);
    expect(await server.admin.object("GET", `${paths.deployments}/scaled`)).toMatchObject({ spec: { replicas: 4 } });
  });

  // A webhook in Go that has nothing to change often encodes a list that it never made; all of Knative's and Tekton's do.
  it("change nothing with a patch that is null", async () => {
    const patch = Buffer.from("null").toString("base64");
    await register("MutatingWebhookConfiguration", () => ({
      response: { allowed: true, patchType: "JSONPatch", patch },
    }));
    const made = await server.admin.object("POST", paths.configMaps, configMap("unchanged", { a: "1" }));
    expect(made).toMatchObject({ data: { a: "1" } });
  });

  it.each(["pods/binding", "bindings"])("may refuse %s", async (resource) => {
    const spec = { schedulerName: "contract", containers: [{ name: "main", image: "example.com/main:1" }] };
    await server.admin.object("POST", paths.pods, { apiVersion: "v1", kind: "Pod", metadata: { name: "p" }, spec });
    await register("ValidatingWebhookConfiguration", () => ({ response: { allowed: false } }), {
      rules: [{ ...CONFIG_MAPS, resources: [resource], operations: ["CREATE"] }],
    });
    const target = { apiVersion: "v1", kind: "Node", name: "somewhere" };
    const binding = { apiVersion: "v1", kind: "Binding", metadata: { name: "p" }, target };
    const path = resource === "bindings" ? paths.pods.replace(/pods$/, "bindings") : `${paths.pods}/p/binding`;
    const { status, body } = await server.admin.json("POST", path, binding);
    expect([status, Object(body).message]).toEqual([400, expect.stringContaining("denied the request")]);
    expect(asked).toMatchObject([{ operation: "CREATE", name: "p", kind: { kind: "Binding" }, object: { target } }]);
    expect(Object(await server.admin.object("GET", `${paths.pods}/p`)).spec.nodeName).toBeUndefined();
  });

  it("answer in the older version as loosely as ever", async () => {
    const patch = Buffer.from(JSON.stringify([{ op: "add", path: "/data/old", value: "1" }])).toString("base64");
    const body = JSON.stringify({
      apiVersion: "admission.k8s.io/v1beta1",
      kind: "AdmissionReview",
      response: { allowed: true, patch },
    });
    await register("MutatingWebhookConfiguration", () => ({ body }), { admissionReviewVersions: ["v9", "v1beta1"] });
    expect(await create("a", { x: "1" })).toMatchObject({ status: 201, body: { data: { old: "1" } } });
  });

  it("are asked again when the object changes while they think", async () => {
    await create("a", { x: "1" });
    await register("ValidatingWebhookConfiguration", async ({ object }) => {
      const { data } = Object(object);
      if (data.y === "1" && data.x === "1") {
        await server.admin.patch("merge", `${paths.configMaps}/a`, { data: { x: "2" } });
      }
      return ALLOWED;
    });
    const { body } = await server.admin.patch("merge", `${paths.configMaps}/a`, { data: { y: "1" } });
    expect(body).toMatchObject({ data: { x: "2", y: "1" } });
  });
});

/** Answers of a webhook that is broken or hostile, and the words for each. */
const BROKEN: readonly (readonly [string, HookAnswer, RegExp])[] = [
  [
    "hangs",
    "silence",
    /failed to call webhook: Post "https:.*\?timeout=1s": (context deadline exceeded|.*Client.Timeout)/,
  ],
  ["never ends", "endless", /failed to call webhook: /],
  ["sends no JSON", { body: "<html>" }, /failed to call webhook: /],
  ["sends nothing", { body: "" }, /failed to call webhook: |webhook response was absent/],
  [
    "fails",
    { status: 500, body: "boom" },
    /an error on the server \("boom"\) has prevented the request from succeeding/,
  ],
  [
    "leads elsewhere (CVE-2020-8561)",
    { status: 302, body: "", headers: { location: "https://127.0.0.1:1/" } },
    /failed to call webhook: /,
  ],
  ["counts without end", { body: `[${"{},".repeat(500_000)}{}]` }, /the answer holds more than 250000 values/],
  ["is another request's", { response: { allowed: true, uid: "x" } }, /expected response.uid=".*", got "x"/],
  ["is of another kind", { body: '{"kind":"Pod","apiVersion":"v1"}' }, /failed calling webhook/],
  ["has a patch of a validating webhook", patched({ op: "remove", path: "/data" }), /may not return response.patch/],
];

describe.each(apiServersUnderTest().filter(({ isOurs }) => isOurs))(
  "a webhook whose answer, on $name,",
  (candidate) => {
    const server = useApiServer(candidate);
    let hooks: WebhookServer;
    let namespace: string;
    beforeAll(async () => {
      hooks = await startWebhookServer();
      namespace = await newNamespace(server.admin);
    });
    afterAll(() => hooks.close());

    const configure = async (
      name: string,
      answer: HookAnswer,
      { kind, failurePolicy }: { kind: Kind; failurePolicy: string },
    ) => {
      const webhook = {
        name: "broken.example.com",
        clientConfig: hooks.at(`/${name}`, () => answer),
        rules: [CONFIG_MAPS],
        sideEffects: "None",
        admissionReviewVersions: ["v1"],
        timeoutSeconds: 1,
        failurePolicy,
      };
      const body = { kind, apiVersion: "admissionregistration.k8s.io/v1", metadata: { name }, webhooks: [webhook] };
      return await server.admin.object("POST", PATHS[kind], body);
    };
    const createUnder = async (answer: HookAnswer, options: { kind: Kind; failurePolicy: string }) => {
      const name = `broken-${options.failurePolicy.toLowerCase()}`;
      await configure(name, answer, options);
      const path = pathsIn(namespace).configMaps;
      const { status, body } = await server.admin.json("POST", path, { metadata: { generateName: "a-" } });
      await server.admin.json("DELETE", `${PATHS[options.kind]}/${name}`);
      return { status, message: String(Object(body).message) };
    };

    it.each(BROKEN)("%s fails the request, or nothing where failures are ignored", async (_name, answer, words) => {
      const kind = "ValidatingWebhookConfiguration";
      const { status, message } = await createUnder(answer, { kind, failurePolicy: "Fail" });
      expect(status).toBe(500);
      expect(message).toMatch(/^Internal error occurred: failed calling webhook "broken.example.com": /);
      expect(message).toMatch(words);
      expect(await createUnder(answer, { kind, failurePolicy: "Ignore" })).toMatchObject({ status: 201 });
    });

    it.each<[string, HookAnswer, RegExp]>([
      ["does not apply", patched({ op: "remove", path: "/spec" }), /Unable to remove nonexistent key: spec|spec/],
      [
        "makes another object of it",
        patched({ op: "add", path: "/data", value: 5 }),
        /cannot be handled as a ConfigMap/,
      ],
      [
        "moves it to another namespace",
        patched({ op: "add", path: "/metadata/namespace", value: "default" }),
        /namespace/,
      ],
    ])("is a patch that %s fails the request in any case", async (_name, answer, words) => {
      const options = { kind: "MutatingWebhookConfiguration", failurePolicy: "Ignore" } as const;
      const { status, message } = await createUnder(answer, options);
      expect(status).toBeGreaterThanOrEqual(400);
      expect(message).toMatch(words);
    });

    it("has a patch of half a million values fails, and the patch is not read", async () => {
      const patch = Buffer.from(`[${"{},".repeat(500_000)}{}]`).toString("base64");
      const answer: HookAnswer = { response: { allowed: true, patchType: "JSONPatch", patch } };
      const options = { kind: "MutatingWebhookConfiguration", failurePolicy: "Fail" } as const;
      const { status, message } = await createUnder(answer, options);
      expect(status).toBe(500);
      expect(message).toContain("received undecodable patch in webhook response: it holds more than 100000 values");
    });

    it("is not believed without the right authority", async () => {
      const kind = "ValidatingWebhookConfiguration";
      const { metadata, ...configuration } = await configure("stranger", ALLOWED, { kind, failurePolicy: "Fail" });
      const [webhook] = Object(configuration).webhooks;
      const path = `${PATHS[kind]}/stranger`;
      const clientConfig = { url: webhook.clientConfig.url };
      await server.admin.object("PUT", path, { ...configuration, metadata, webhooks: [{ ...webhook, clientConfig }] });
      const { body } = await server.admin.json("POST", pathsIn(namespace).configMaps, { metadata: { name: "s" } });
      await server.admin.json("DELETE", path);
      expect(Object(body).message).toMatch(
        /tls: failed to verify certificate: x509: certificate signed by unknown authority$/,
      );
    });
  },
);

describe.each(apiServersUnderTest())("webhooks with certificates that are called nothing, on $name", (candidate) => {
  const server = useApiServer(candidate);
  const name = "nameless";

  const createUnder = async (hooks: WebhookServer, caBundle?: string) => {
    const namespace = await newNamespace(server.admin);
    const webhook = {
      name: "nameless.example.com",
      clientConfig: {
        ...hooks.at("/", () => ({ response: { allowed: false, status: { message: "asked" } } })),
        ...(caBundle && { caBundle }),
      },
      rules: [CONFIG_MAPS],
      namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } },
      sideEffects: "None",
      admissionReviewVersions: ["v1"],
    };
    const kind = "ValidatingWebhookConfiguration";
    const body = { kind, apiVersion: "admissionregistration.k8s.io/v1", metadata: { name }, webhooks: [webhook] };
    await server.admin.object("POST", PATHS[kind], body);
    try {
      return await vi.waitFor(
        async () => {
          const answer = await server.admin.json("POST", pathsIn(namespace).configMaps, configMap("a"), {
            query: { dryRun: "All" },
          });
          expect(answer.status).not.toBe(201);
          return String(Object(answer.body).message);
        },
        { timeout: 10_000, interval: 50 },
      );
    } finally {
      await server.admin.json("DELETE", `${PATHS[kind]}/${name}`);
    }
  };

  it("are asked where the bundle has who signed them, though it signs itself not, and else not", async () => {
    const hooks = await startWebhookServer(undefined, NAMELESS);
    try {
      expect(await createUnder(hooks)).toContain("denied the request: asked");
      const { authority } = await issueLoopbackCertificate();
      const other = Buffer.from(authority.certificatePem).toString("base64");
      expect(await createUnder(hooks, other)).toContain("x509: certificate signed by unknown authority");
    } finally {
      await hooks.close();
    }
  });
});
