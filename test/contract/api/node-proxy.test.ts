import { once } from "node:events";
import { request as httpsRequest } from "node:https";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isRecord } from "../../../src/api/object.ts";
import { type FakeKubelet, LARGE_BYTES, startFakeKubelet } from "./fake-kubelet.ts";
import { apiServersUnderTest, useApiServer } from "./harness.ts";
import { changed, newNamespace, pathsIn, pod } from "./objects.ts";
import { askUpgrade, readLine, textOf, type UpgradeOptions } from "./upgrade-client.ts";

const CONTAINERS = ["main", "follow", "silent", "large", "wrong", "absent", "broken", "forbidden", "gateway", "teapot"];
const STREAMS = ["refuses", "ordinary"];

/** A port on which nobody listens: that of a server that has just closed. */
const NOBODY = 1;

const kubelet = await startFakeKubelet();

describe.skipIf(kubelet === undefined).each(apiServersUnderTest())("the way to a node, on $name", (candidate) => {
  const server = useApiServer(candidate);
  let paths: ReturnType<typeof pathsIn>;
  let namespace = "";

  beforeAll(async () => {
    namespace = await newNamespace(server.admin);
    paths = pathsIn(namespace);
    await createNode("reached", kubelet?.port ?? 0);
    await createNode("gone", NOBODY);
    await createPod("one", ["main"], "reached");
    await createPod("many", [...CONTAINERS, ...STREAMS], "reached");
    await createPod("nowhere", ["main"]);
    await createPod("lost", ["main"], "gone");
    const { address = "", podPort = 0 } = kubelet ?? {};
    await setAddress("one", address);
    await setAddress("many", "127.0.0.1");
    // Without a selector, so that no controller writes endpoints.
    const service = { metadata: { name: "web" }, spec: { ports: [{ name: "http", port: 81 }] } };
    await server.admin.object("POST", `${base()}/services`, service);
    await server.admin.object("POST", `${base()}/services`, { ...service, metadata: { name: "empty" } });
    await server.admin.object("POST", `${base()}/services`, { ...service, metadata: { name: "bare" } });
    const targetRef = { kind: "Pod", name: "one", namespace };
    await server.admin.object("POST", `${base()}/endpoints`, {
      metadata: { name: "web" },
      subsets: [{ addresses: [{ ip: address, targetRef }], ports: [{ name: "http", port: podPort }] }],
    });
    await server.admin.object("POST", `${base()}/endpoints`, {
      metadata: { name: "empty" },
      subsets: [{ addresses: [{ ip: address }], ports: [{ name: "http", port: podPort }] }],
    });
  });

  const base = () => `/api/v1/namespaces/${namespace}`;

  async function createNode(name: string, port: number): Promise<void> {
    const status = {
      addresses: [{ type: "InternalIP", address: kubelet?.address }],
      daemonEndpoints: { kubeletEndpoint: { Port: port } },
    };
    await server.admin.json("DELETE", `/api/v1/nodes/${name}`);
    await server.admin.object("POST", "/api/v1/nodes", { metadata: { name }, status });
  }

  async function createPod(name: string, containers: readonly string[], nodeName?: string): Promise<void> {
    const spec = {
      containers: containers.map((container) => ({ name: container, image: "example.com/main:1" })),
      ...(nodeName && { nodeName }),
    };
    await server.admin.object("POST", paths.pods, pod(name, { spec }));
  }

  async function setAddress(name: string, ip: string): Promise<void> {
    const path = `${paths.pods}/${name}/status`;
    const current = await server.admin.object("GET", path);
    await server.admin.object("PUT", path, changed(current, { status: { podIP: ip, podIPs: [{ ip }] } }));
  }

  const get = (path: string, query = {}) => server.admin.json("GET", path, undefined, { query });
  const messageOf = ({ body }: { body: unknown }) => (isRecord(body) ? String(body["message"]) : String(body));

  describe("pods/log", () => {
    const log = (name: string, query = {}) => get(`${paths.pods}/${name}/log`, query);

    it("is what the node says, with what was asked in its words, as somebody whom the node knows", async () => {
      const query = { follow: "false", previous: "1", timestamps: "yes", sinceSeconds: 7, tailLines: 0, limitBytes: 9 };
      const answer = await log("one", query);
      expect(answer).toMatchObject({ status: 200, headers: { "content-type": "text/plain" } });
      const [path, asked = ""] = String(answer.body).trim().split("?");
      expect(path).toBe(`/containerLogs/${namespace}/one/main`);
      const params = new URLSearchParams(asked);
      params.delete("stream");
      expect(params.toString()).toBe("limitBytes=9&previous=true&sinceSeconds=7&tailLines=0&timestamps=true");
      expect(kubelet?.lastPeer()).toMatch(/^kube-apiserver-kubelet-client\//);
    });

    it("passes the time on, to the second", async () => {
      const { body } = await log("one", { sinceTime: "2026-01-02T03:04:05.6+01:00" });
      const time = new URLSearchParams(String(body).trim().split("?")[1]).get("sinceTime");
      expect(Date.parse(time ?? "")).toBe(Date.parse("2026-01-02T02:04:05Z"));
    });

    it.each([
      [
        "no container",
        "many",
        {},
        400,
        `a container name must be specified for pod many, choose one of: [${[...CONTAINERS, ...STREAMS].join(" ")}]`,
      ],
      ["a container that is none", "one", { container: "x" }, 400, "container x is not valid for pod one"],
      ["a pod that is not there", "absent", {}, 404, 'pods "absent" not found'],
      ["what is no number", "one", { tailLines: "x" }, 400, 'strconv.ParseInt: parsing "x": invalid syntax'],
      [
        "a number too large",
        "one",
        { tailLines: "9223372036854775808" },
        400,
        'strconv.ParseInt: parsing "9223372036854775808": value out of range',
      ],
      [
        "a negative number",
        "one",
        { tailLines: -1 },
        422,
        'PodLogOptions "one" is invalid: tailLines: Invalid value: -1: must be greater than or equal to 0',
      ],
      [
        "no bytes",
        "one",
        { limitBytes: 0 },
        422,
        'PodLogOptions "one" is invalid: limitBytes: Invalid value: 0: must be greater than 0',
      ],
      [
        "no time at all",
        "one",
        { sinceSeconds: 0 },
        422,
        'PodLogOptions "one" is invalid: sinceSeconds: Invalid value: 0: must be greater than 0',
      ],
      [
        "two beginnings",
        "one",
        { sinceSeconds: 1, sinceTime: "2026-01-02T03:04:05Z" },
        422,
        'PodLogOptions "one" is invalid: []: Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified',
      ],
      [
        "no time",
        "one",
        { sinceTime: "yesterday" },
        400,
        'parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006"',
      ],
      ["what the node refuses", "many", { container: "wrong" }, 400, 'container "wrong" in pod is waiting to start'],
      [
        "what the node does not have",
        "many",
        { container: "absent" },
        404,
        "the server could not find the requested resource ( pods/log many)",
      ],
      ["what fails on the node", "many", { container: "broken" }, 500, "Internal error occurred: disk on fire"],
      [
        "what the node forbids",
        "many",
        { container: "forbidden" },
        403,
        "Forbidden (user=x, verb=get, resource=nodes, subresource=log) ( pods/log many)",
      ],
      [
        "what fails behind the node",
        "many",
        { container: "gateway" },
        502,
        'an error on the server ("no gateway") has prevented the request from succeeding ( pods/log many)',
      ],
      [
        "what nobody expects",
        "many",
        { container: "teapot" },
        418,
        "the server responded with the status code 418 but did not return more information ( pods/log many)",
      ],
    ])("refuses %s", async (_what, name, query, status, message) => {
      const answer = await log(name, query);
      expect({ status: answer.status, message: messageOf(answer) }).toEqual({ status, message });
      expect(answer.body).toMatchObject({ kind: "Status", apiVersion: "v1", status: "Failure", code: status });
    });

    it("is nothing for a pod that is on no node", async () => {
      expect(await log("nowhere")).toMatchObject({ status: 204, body: "" });
    });

    it("says that the node is not reached", async () => {
      const answer = await log("lost");
      const where = `${kubelet?.address}:${NOBODY}`;
      expect(answer.status).toBe(500);
      expect(messageOf(answer)).toMatch(/^Get "https:\/\/[\d.]+:1\/containerLogs\/contract-\w+\/lost\/main/);
      expect(messageOf(answer)).toContain(`": dial tcp ${where}: connect: connection refused`);
      expect(answer.body).not.toHaveProperty("reason");
    });

    it("comes as it is written, and ends with its reader", async () => {
      const response = await server.admin.open("GET", `${paths.pods}/many/log?container=follow&follow=true`);
      expect(response.headers["content-type"]).toBe("text/plain");
      const [first] = await once(response, "data");
      expect(String(first)).toBe("one\n");
      kubelet?.sendLine("two\n");
      const [second] = await once(response, "data");
      expect(String(second)).toBe("two\n");
      response.destroy();
      await kubelet?.followerGone();
    });

    it("holds nothing of a node that never answers, once its reader has gone", async () => {
      const { url, caPem, certificatePem = "", keyPem = "" } = server.credentials;
      const request = httpsRequest(new URL(`${paths.pods}/many/log?container=silent`, url), {
        ...{ ca: caPem, cert: certificatePem, key: keyPem, agent: false },
      });
      request.on("error", () => undefined).end();
      await expect.poll(() => kubelet?.followers(), { timeout: 10_000 }).toBe(1);
      request.destroy();
      await kubelet?.followerGone();
    });

    it("comes whole, however slowly it is read", async () => {
      const response = await server.admin.open("GET", `${paths.pods}/many/log?container=large`);
      let bytes = 0;
      for await (const chunk of response) bytes += Buffer.from(chunk).length;
      expect(bytes).toBe(LARGE_BYTES);
    });
  });

  describe("streams", () => {
    const upgrade = async (path: string, asked: UpgradeOptions = {}) =>
      await askUpgrade(server.credentials, path, asked);

    it.each([
      [
        "exec?command=sh&command=-c&command=a%20b&stdin=true&stdout=1&stderr=false&container=main",
        "POST /exec/NS/one/main?command=sh&command=-c&command=a+b&input=1&output=1",
      ],
      ["exec?command=ls&stdout=true&tty=true", "POST /exec/NS/one/main?command=ls&output=1&tty=1"],
      ["attach?stdin=1&stderr=1", "POST /attach/NS/one/main?error=1&input=1"],
      ["portforward", "POST /portForward/NS/one"],
      ["portforward?ports=80&ports=81", "POST /portForward/NS/one?port=80%2C81"],
    ])("carries the bytes of %s", async (asked, seen) => {
      const { response, socket } = await upgrade(`${paths.pods}/one/${asked}`);
      if (socket === undefined) throw new Error(`answered with ${response.statusCode}`);
      expect(response.statusCode).toBe(101);
      expect(response.headers).toMatchObject({
        upgrade: "SPDY/3.1",
        "x-stream-protocol-version": "v4.channel.k8s.io",
      });
      expect(await readLine(socket)).toBe(seen.replace("NS", namespace));
      socket.write("to and fro\n");
      expect(await readLine(socket)).toBe("TO AND FRO");
      const gone = once(socket, "close");
      socket.end();
      socket.resume();
      await gone;
    });

    it("carries WebSockets of older protocols, which ask with GET", async () => {
      const headers = { upgrade: "websocket", "sec-websocket-protocol": "v4.channel.k8s.io" };
      const { socket } = await upgrade(`${paths.pods}/one/exec?command=ls&stdout=1`, { method: "GET", headers });
      if (socket === undefined) throw new Error("no upgrade");
      expect(await readLine(socket)).toBe(`GET /exec/${namespace}/one/main?command=ls&output=1`);
      socket.destroy();
    });

    it.each(["pod", "node"])("go through the proxy of a %s, too", async (kind) => {
      const path = kind === "pod" ? `${paths.pods}/one:${kubelet?.podPort}` : "/api/v1/nodes/reached";
      const { socket } = await upgrade(`${path}/proxy/socket?a=1`, {
        method: "GET",
        headers: { upgrade: "websocket" },
      });
      if (socket === undefined) throw new Error("no upgrade");
      // kube-apiserver leaves the query of an upgrade out.
      expect(await readLine(socket)).toMatch(/^GET \/socket(\?a=1)?$/);
      socket.write("to and fro\n");
      expect(await readLine(socket)).toBe("TO AND FRO");
      socket.destroy();
    });

    it.each([
      ["a pod that is on no node", "nowhere/exec?command=ls", 400, "pod nowhere does not have a host assigned"],
      ["a pod that is not there", "absent/attach", 404, 'pods "absent" not found'],
      [
        "no container",
        "many/exec?command=ls",
        400,
        "a container name must be specified for pod many, choose one of: [main ",
      ],
      [
        "a node that answers at once",
        "many/exec?command=ls&container=ordinary",
        500,
        "invalid upgrade response: status code 200",
      ],
    ])("is refused for %s", async (_what, asked, status, message) => {
      const { response } = await upgrade(`${paths.pods}/${asked}`);
      const body = JSON.parse(await textOf(response));
      expect({ status: response.statusCode, code: body.code }).toEqual({ status, code: status });
      expect(body.message).toContain(message);
    });

    it("is refused as the node refuses it", async () => {
      const { response } = await upgrade(`${paths.pods}/many/exec?command=ls&container=refuses`);
      expect(response.statusCode).toBe(403);
      expect(await textOf(response)).toBe("not you\n");
    });

    it("says that the node is not reached", async () => {
      const { response } = await upgrade(`${paths.pods}/lost/exec?command=ls`);
      const message = `error dialing backend: dial tcp ${kubelet?.address}:${NOBODY}: connect: connection refused`;
      expect(JSON.parse(await textOf(response))).toMatchObject({ code: 500, message });
    });

    it("wants an upgrade", async () => {
      const answer = await server.admin.json("POST", `${paths.pods}/one/exec?command=ls`);
      expect({ status: answer.status, message: messageOf(answer) }).toEqual({
        status: 400,
        message: "Upgrade request required",
      });
    });

    it("is for those who may create it, also where they ask with GET", async () => {
      const rules = [{ apiGroups: [""], resources: ["pods/exec", "pods/attach", "pods/portforward"], verbs: ["get"] }];
      await server.admin.object("POST", paths.roles, { metadata: { name: "looks" }, rules });
      await server.admin.object("POST", paths.roleBindings, {
        metadata: { name: "looks" },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "looks" },
        subjects: [{ kind: "ServiceAccount", name: "default", namespace }],
      });
      const requested = await server.admin.object("POST", `${paths.serviceAccounts}/default/token`, { spec: {} });
      const { status } = requested;
      const client = server.connect({ token: isRecord(status) ? String(status["token"]) : "" });
      for (const subresource of ["exec", "attach", "portforward"]) {
        const ask = async () => await client.json("GET", `${paths.pods}/one/${subresource}`);
        // A role counts as soon as the authorizer has heard of it.
        await expect.poll(async () => messageOf(await ask()), { timeout: 10_000 }).not.toMatch(/cannot get/);
        const answer = await ask();
        expect({ status: answer.status, message: messageOf(answer) }).toEqual({
          status: 403,
          message: 'pods "one" is forbidden: ',
        });
      }
    });

    it("leaves nothing open", async () => {
      await expect.poll(() => kubelet?.connections(), { timeout: 20_000 }).toBeLessThan(4);
    });
  });

  describe("proxies", () => {
    const proxied = (path: string, method = "GET", body?: string, headers = {}) => {
      return server.admin.json(method, path, body, { headers });
    };
    const place = (kind: string) => {
      const { port = 0, podPort = 0 } = kubelet ?? {};
      return {
        node: "/api/v1/nodes/reached/proxy",
        "node by its port": `/api/v1/nodes/reached:${port}/proxy`,
        "node by another port": `/api/v1/nodes/http:reached:${podPort}/proxy`,
        pod: `${paths.pods}/one:${podPort}/proxy`,
        "pod by scheme": `${paths.pods}/http:one:${podPort}/proxy`,
        service: `${base()}/services/web:http/proxy`,
        "service by number": `${base()}/services/http:web:81/proxy`,
      }[kind];
    };

    it.each([
      "node",
      "node by its port",
      "node by another port",
      "pod",
      "pod by scheme",
      "service",
      "service by number",
    ])("pass requests to a %s on", async (kind) => {
      const headers = { "x-mine": "1", authorization: "Basic eDp5", "accept-language": "en" };
      const path = `${place(kind)}/a/b%20c/?q=1%202&q=2`;
      const { status, headers: answered, body } = await proxied(path, "PUT", '"text"', headers);
      expect({ status, body }).toMatchObject({
        status: 200,
        body: { method: "PUT", url: "/a/b%20c/?q=1%202&q=2", body: '"text"' },
      });
      const seen = isRecord(body) && isRecord(body["headers"]) ? body["headers"] : {};
      expect(seen).toMatchObject({ "x-mine": "1", "accept-language": "en", "x-forwarded-for": "127.0.0.1" });
      expect(seen["x-forwarded-uri"]).toBe(path.split("?")[0]);
      expect(seen["host"]).toBe(new URL(server.credentials.url).host);
      expect(answered).toMatchObject({ "x-own": "kept" });
      expect(answered).not.toHaveProperty("x-hop");
      expect(answered).not.toHaveProperty("access-control-allow-origin");
    });

    it.each(["GET", "POST", "PATCH", "DELETE", "OPTIONS"])("pass %s on", async (method) => {
      const { body } = await proxied(`${place("pod")}/x`, method);
      expect(body).toMatchObject({ method, url: "/x" });
    });

    it("pass the status on", async () => {
      expect(await proxied(`${place("pod")}/created`, "POST", "{}")).toMatchObject({ status: 201 });
    });

    it.each([
      ["/a//b", "/a/b"],
      ["/a/./b/", "/a/b/"],
      ["/", "/"],
      ["//x", "/x"],
    ])("make of the path %s %s", async (path, seen) => {
      const { url, caPem, certificatePem = "", keyPem = "" } = server.credentials;
      const { hostname, port } = new URL(url);
      const request = httpsRequest({
        ...{ hostname, port, ca: caPem, cert: certificatePem, key: keyPem, agent: false },
        path: `${place("pod")}${path}`,
      }).end();
      const [response] = await once(request, "response");
      expect(JSON.parse(await textOf(response))).toMatchObject({ url: seen });
    });

    it("send who asks for no path into it", async () => {
      const { status, headers } = await proxied(`${place("node")}?a=1`);
      expect({ status, location: headers.location }).toEqual({ status: 301, location: `${place("node")}/?a=1` });
    });

    it("lead redirects through themselves", async () => {
      const { status, headers } = await proxied(`${place("pod")}/moved`);
      expect({ status, location: headers.location }).toEqual({
        status: 302,
        location: `${place("pod")}/new/place?x=1`,
      });
    });

    it.each([
      ["a pod with an inner address", () => `${paths.pods}/many:80/proxy/`, 400, "address not allowed"],
      ["a pod without an address", () => `${paths.pods}/nowhere:80/proxy/`, 400, "address not allowed"],
      ["a pod that is not there", () => `${paths.pods}/absent/proxy/`, 404, 'pods "absent" not found'],
      ["a name that is none", () => `${paths.pods}/ftp:one:80/proxy/`, 400, 'invalid pod request "ftp:one:80"'],
      ["a node that is not there", () => "/api/v1/nodes/absent/proxy/", 404, 'nodes "absent" not found'],
      ["a node's name that is none", () => "/api/v1/nodes/a:b:c:d/proxy/", 400, 'invalid node request "a:b:c:d"'],
      [
        "a service without pods",
        () => `${base()}/services/empty:http/proxy/`,
        503,
        'no endpoints available for service "empty:http"',
      ],
      [
        "a port that the service does not have",
        () => `${base()}/services/web:99/proxy/`,
        503,
        'no service port 99 found for service "web"',
      ],
      [
        "a service that has no endpoints",
        () => `${base()}/services/bare:http/proxy/`,
        404,
        'services "bare" not found',
      ],
      ["a service that is not there", () => `${base()}/services/absent/proxy/`, 404, 'services "absent" not found'],
      [
        "a node that is not reached",
        () => "/api/v1/nodes/gone/proxy/",
        503,
        `error trying to reach service: dial tcp ${kubelet?.address}:1: connect: connection refused`,
      ],
    ])("refuse %s", async (_what, path, status, message) => {
      const answer = await proxied(path());
      expect({ status: answer.status, message: messageOf(answer) }).toEqual({ status, message });
    });
  });
});

afterAll(async () => await (kubelet satisfies FakeKubelet | undefined)?.close());
