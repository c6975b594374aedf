import { mkdir, readFile, readlink, writeFile } from "node:fs/promises";
import type { IncomingHttpHeaders } from "node:http";
import { request } from "node:https";
import { createServer } from "node:net";
import { join } from "node:path";
import { connect } from "node:tls";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CertificateSigningRequest } from "../../../src/api/gen/types.ts";
import { CERTIFICATE_SIGNING_REQUESTS } from "../../../src/api/kube-resource.ts";
import { runCommand } from "../../../src/cluster/processes/run-command.ts";
import { type CertificateFacts, readCertificate } from "../../../src/pki/read-certificate.ts";
import { clusterServersUnderTest } from "../../clusters/cluster-servers.ts";
import { credentialsOf } from "../../contract/api/credentials-of.ts";
import { claimPort } from "../../machine/claims.ts";
import { type ClusterNode, createClusterNode, NODE_NAME } from "./cluster-node.ts";
import { settlesOn } from "./settles.ts";

const REQUESTS = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
const ADDRESS = "127.0.0.1";
/** An address of the range for tests of networks (RFC 2544), which only this process uses while it runs. */
const OTHER_ADDRESS = `198.18.${process.pid % 250}.${1 + (Math.floor(process.pid / 250) % 250)}`;

/** A role that reads metrics and pods of nodes, and whom it is given to. */
const GRANTS = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: reads-nodes}
rules: [{apiGroups: [""], resources: [nodes/metrics, nodes/pods], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: reads-nodes}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: reads-nodes}
subjects: [{kind: ServiceAccount, name: monitor, namespace: default}, {kind: User, name: reader, apiGroup: rbac.authorization.k8s.io}]
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: monitor, namespace: default}
`;

interface Answer {
  status: number;
  body: string;
  headers: IncomingHttpHeaders;
}

interface Pair {
  cert?: string | undefined;
  key?: string | undefined;
}

async function ask(port: number, path: string, options: Pair & { method?: string; token?: string } = {}) {
  const { method = "GET", token, ...pair } = options;
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return await new Promise<Answer>((resolve, reject) => {
    const where = { host: ADDRESS, port, path, method, headers, agent: false, rejectUnauthorized: false };
    const call = request({ ...where, ...pair }, (response) => {
      let body = "";
      response.on("data", (chunk: Buffer) => {
        body += chunk.toString("utf8");
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body, headers: response.headers }));
    });
    call.on("error", reject);
    call.end();
  });
}

/** What the node shows who connects; undefined where the handshake fails. */
async function readServed(port: number): Promise<CertificateFacts | undefined> {
  return await new Promise((resolve) => {
    const socket = connect({ host: ADDRESS, port, rejectUnauthorized: false }, () => {
      const pem = socket.getPeerX509Certificate()?.toString() ?? "";
      socket.destroy();
      resolve(readCertificate(pem));
    });
    socket.on("error", () => resolve(undefined));
  });
}

describe.each(await clusterServersUnderTest())("the node's own API, of a node of $name", (server) => {
  let world: ClusterNode;
  let port: number;
  let admin: Pair;
  let reader: Pair;
  let token: string;
  const pairOf = (kubeconfig: string): Pair => {
    const { certificatePem: cert, keyPem: key } = credentialsOf(kubeconfig);
    return { cert, key };
  };
  beforeAll(async () => {
    world = await createClusterNode({ server, configuration: { enableServer: true, address: ADDRESS } });
    port = await claimPort();
    const authority = join(world.node.directory, "client-ca.crt");
    await writeFile(authority, credentialsOf(world.cluster.kubeconfig).caPem);
    await world.cluster.apply(GRANTS);
    admin = pairOf(world.cluster.kubeconfig);
    reader = pairOf((await world.cluster.addUser("reader")).kubeconfig);
    const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} };
    const path = "/api/v1/namespaces/default/serviceaccounts/monitor/token";
    const answer: { status?: { token?: string } } = Object(await world.api.object("POST", path, body));
    token = answer.status?.token ?? "";
    expect(token).not.toBe("");
    await world.node.start([...world.flags, `--port=${port}`, `--client-ca-file=${authority}`]);
  });
  afterAll(async () => await world?.destroy());

  it("is where the node's object says it is, with a certificate of the node's own", async () => {
    const isThere = async () => (await world.api.json("GET", `/api/v1/nodes/${NODE_NAME}`)).status;
    await settlesOn(200, isThere, 20_000);
    const { status } = await world.nodeObject();
    expect(status?.daemonEndpoints?.kubeletEndpoint?.Port).toBe(port);
    expect((await readServed(port))?.dnsNames).toEqual([NODE_NAME]);
  });

  it("knows nobody without credentials, or with those of others", async () => {
    for (const credentials of [{}, { token: "no-such-token" }, { token: `${token.slice(0, -4)}AAAA` }]) {
      const { status, body, headers } = await ask(port, "/metrics", credentials);
      expect({ status, body }).toEqual({ status: 401, body: "Unauthorized" });
      expect(headers["content-type"]).toBe("text/plain; charset=utf-8");
    }
  });

  it("does as roles say, for a token as for a certificate", async () => {
    const user = "system:serviceaccount:default:monitor";
    const refused = (name: string, verb: string, what: string) => ({
      status: 403,
      body: `Forbidden (user=${name}, verb=${verb}, resource=nodes, subresource(s)=[${what}])\n`,
    });
    for (const [credentials, name] of [
      [{ token }, user],
      [reader, "reader"],
    ] as const) {
      expect((await ask(port, "/metrics", credentials)).body).toContain("kubelet_running_pods");
      expect(JSON.parse((await ask(port, "/pods", credentials)).body)).toMatchObject({ kind: "PodList" });
      expect(await ask(port, "/configz", credentials)).toMatchObject(refused(name, "get", "configz proxy"));
      expect(await ask(port, "/stats/summary", credentials)).toMatchObject(refused(name, "get", "stats"));
      expect(await ask(port, "/logs/", credentials)).toMatchObject(refused(name, "get", "log"));
      const run = await ask(port, "/run/default/a/b", { ...credentials, method: "POST" });
      expect(run).toMatchObject(refused(name, "create", "proxy"));
    }
  });

  it("serves the configuration, and says what it does not serve", async () => {
    const configz: { kubeletconfig?: object } = Object(JSON.parse((await ask(port, "/configz", admin)).body));
    expect(configz.kubeletconfig).toMatchObject({
      kind: "KubeletConfiguration",
      apiVersion: "kubelet.config.k8s.io/v1beta1",
      port,
      address: ADDRESS,
      syncFrequency: "1m0s",
      authentication: { anonymous: { enabled: false }, webhook: { enabled: true, cacheTTL: "2m0s" } },
    });
    expect(await ask(port, "/healthz", admin)).toMatchObject({ status: 200, body: "ok" });
    expect(await ask(port, "/", admin)).toMatchObject({ status: 404, body: "404 page not found\n" });
    const exec = await ask(port, "/exec/default/a/b?output=1", { ...admin, method: "POST" });
    expect(exec).toMatchObject({ status: 404, body: "pod does not exist" });
    expect(await ask(port, "/pods", { ...admin, method: "DELETE" })).toMatchObject({ status: 405 });
  });

  it("does not start on a port that is taken, and says what to change", async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, ADDRESS, resolve));
    const bound = taken.address();
    const number = typeof bound === "object" ? bound?.port : 0;
    await world.node.stop();
    const from = world.node.log().length;
    await expect(world.node.start([...world.flags, `--port=${number}`])).rejects.toThrow("ended with 1");
    expect(world.node.log().slice(from)).toMatch(
      new RegExp(`node API: cannot listen on ${ADDRESS}:${number}: .*choose another port \\(port, --port; `),
    );
    await new Promise((resolve) => taken.close(resolve));
  });

  describe.skipIf(!server.hasControllers)("with a certificate of the cluster", () => {
    const directory = () => join(world.node.directory, "serving-pki");
    const flags = () => [...world.flags, `--cert-dir=${directory()}`, `--port=${port}`, "--rotate-server-certificates"];

    const readRequests = async (): Promise<CertificateSigningRequest[]> => {
      const { items } = await world.api.list(REQUESTS, {
        fieldSelector: "spec.signerName=kubernetes.io/kubelet-serving",
      });
      return items.map((item) => CERTIFICATE_SIGNING_REQUESTS.read(item));
    };
    const approve = async (request: CertificateSigningRequest) => {
      const conditions = [{ type: "Approved", status: "True", reason: "Test", message: "approved by the test" }];
      const path = `${REQUESTS}/${request.metadata?.name}/approval`;
      await world.api.object("PUT", path, { ...request, status: { ...request.status, conditions } });
    };

    it("asks for one by the addresses of its object, which nobody approves by itself, and serves nobody before", async () => {
      await mkdir(directory());
      await world.node.stop();
      await world.node.start(flags());
      await settlesOn(1, async () => (await readRequests()).length, 20_000);
      const [request] = await readRequests();
      expect(request?.spec).toMatchObject({
        signerName: "kubernetes.io/kubelet-serving",
        username: `system:node:${NODE_NAME}`,
        usages: ["digital signature", "server auth"],
      });
      expect(request?.status?.conditions).toBeUndefined();
      expect(await readServed(port)).toBeUndefined();
    });

    it("serves it without a new start once it is approved", async () => {
      const [request] = await readRequests();
      if (request === undefined) throw new Error("no request");
      await approve(request);
      await settlesOn(true, async () => (await readServed(port)) !== undefined, 30_000);
      const served = await readServed(port);
      const { status } = await world.nodeObject();
      const addressOf = (type: string) =>
        status?.addresses?.filter((one) => one.type === type).map((one) => one.address);
      expect(served).toMatchObject({
        commonName: `system:node:${NODE_NAME}`,
        organizations: ["system:nodes"],
        dnsNames: addressOf("Hostname"),
        ipAddresses: addressOf("InternalIP"),
      });
      expect(await readlink(join(directory(), "kubelet-server-current.pem"))).toMatch(
        /\/kubelet-server-\d{4}(-\d\d){5}\.pem$/,
      );
      expect(await ask(port, "/healthz", { token })).toMatchObject({ status: 403 });
      expect((await ask(port, "/metrics", { token })).body).toContain("kubelet_certificate_manager_server_ttl_seconds");
    });

    it("begins with it the next time, and asks for another when the addresses change", async () => {
      const before = (await readServed(port))?.notBefore;
      await world.node.stop();
      await world.node.start(flags());
      await settlesOn(before, async () => (await readServed(port))?.notBefore, 10_000);
      expect(await readRequests()).toHaveLength(1);
      await world.node.stop();
      await runCommand("ip", ["address", "add", `${OTHER_ADDRESS}/32`, "dev", "lo"]);
      try {
        await world.node.start([...flags(), `--node-ip=${OTHER_ADDRESS}`]);
        const isOpen = ({ status }: CertificateSigningRequest) => status?.conditions === undefined;
        await settlesOn(true, async () => (await readRequests()).some(isOpen), 30_000);
        const open = (await readRequests()).find(isOpen);
        if (open === undefined) throw new Error("no request");
        // Until it is answered the node is served by what it has.
        expect((await readServed(port))?.notBefore).toBe(before);
        await approve(open);
        await settlesOn(OTHER_ADDRESS, async () => (await readServed(port))?.ipAddresses.join(), 30_000);
      } finally {
        await runCommand("ip", ["address", "delete", `${OTHER_ADDRESS}/32`, "dev", "lo"]);
      }
      // What is served is what a new start would begin with; within one second two pairs have one file.
      const kept = readCertificate(await readFile(join(directory(), "kubelet-server-current.pem"), "utf8"));
      expect(kept.ipAddresses).toEqual([OTHER_ADDRESS]);
    });
  });
});
