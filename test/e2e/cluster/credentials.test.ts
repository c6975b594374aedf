import { chmod, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { type Credentials, createApiClient } from "../../contract/api/client.ts";
import { credentialsOf } from "../../contract/api/credentials-of.ts";
import { startSocksProxy } from "../../contract/kube/socks-proxy.ts";
import { isRunning, RUN_FOR_EVER, shellPod } from "../pods.ts";
import { type ClusterNode, createClusterNode, NODE_NAME } from "./cluster-node.ts";
import { type ConnectProxy, startConnectProxy } from "./connect-proxy.ts";
import { settlesOn } from "./settles.ts";

const API_VERSION = "client.authentication.k8s.io/v1";
/** The server's certificate has this name, wherever the server is reached. */
const SERVER_NAME = "kubernetes";

/** Starts the node agent on one kubeconfig after another; a pod that runs proves that reading and writing work. */
describe("how a node agent gets to its API server", () => {
  let world: ClusterNode;
  let owner: Credentials;
  beforeAll(async () => {
    world = await createClusterNode();
    const [flag = ""] = world.flags;
    owner = credentialsOf(await readFile(flag.slice("--kubeconfig=".length), "utf8"));
    // A token is a service account's; one that may do everything may be a node too.
    await world.cluster.apply({
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRoleBinding",
      metadata: { name: "agent" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
      subjects: [{ kind: "ServiceAccount", namespace: "default", name: "default" }],
    });
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    await world.node.stop();
  });
  afterAll(async () => await world?.destroy());

  const inDirectory = (name: string) => join(world.node.directory, name);
  const base64 = (text = "") => Buffer.from(text).toString("base64");
  const certificate = () => ({
    "client-certificate-data": base64(owner.certificatePem),
    "client-key-data": base64(owner.keyPem),
  });
  const writeKubeconfig = async (user: object, cluster: object = {}, more: object = {}): Promise<string[]> => {
    const { url, caPem } = owner;
    const config = {
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "c", cluster: { server: url, "certificate-authority-data": base64(caPem), ...cluster } }],
      users: [{ name: "u", user }],
      contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
      "current-context": "x",
      ...more,
    };
    const path = inDirectory("another.kubeconfig");
    await writeFile(path, JSON.stringify(config), { mode: 0o600 });
    return [`--kubeconfig=${path}`, `--cert-dir=${inDirectory("pki")}`];
  };
  const runs = async (name: string): Promise<void> => {
    await world.create(shellPod(name, RUN_FOR_EVER));
    await world.pod(name, isRunning);
  };
  /** A token that is good for as long as a secret of this name is there. */
  const issueToken = async (secret: string): Promise<string> => {
    await world.cluster.apply({ apiVersion: "v1", kind: "Secret", metadata: { name: secret, namespace: "default" } });
    const { metadata } = await world.api.object("GET", `/api/v1/namespaces/default/secrets/${secret}`);
    const boundObjectRef = { apiVersion: "v1", kind: "Secret", name: secret, uid: metadata.uid };
    const path = "/api/v1/namespaces/default/serviceaccounts/default/token";
    const request = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { boundObjectRef } };
    const { status } = await world.api.object("POST", path, request);
    return JSON.parse(JSON.stringify(status)).token;
  };
  const revoke = async (secret: string) =>
    void (await world.api.object("DELETE", `/api/v1/namespaces/default/secrets/${secret}`));
  const isRefused = async (token: string) => {
    const { url, caPem } = owner;
    const client = createApiClient({ url, caPem, token });
    const { status } = await client.json("GET", "/api/v1/nodes");
    client.close();
    return status === 401;
  };

  /** A program that prints what a file says, or does what the file `mode` says; it counts its runs. */
  const writePlugin = async (): Promise<object> => {
    const command = inDirectory("plugin");
    const script = [
      "#!/bin/sh",
      `cd ${world.node.directory}`,
      "echo $$ >> plugin-runs",
      'case "$(cat plugin-mode)" in',
      "fail) echo 'no luck today' >&2; exit 3 ;;",
      "hang) sleep 1000 ;;",
      "rubbish) echo 'secret-rubbish {' ;;",
      "esac",
      "cat plugin-answer",
    ].join("\n");
    await writeFile(command, `${script}\n`);
    await chmod(command, 0o755);
    await writeFile(inDirectory("plugin-runs"), "");
    await behave("print");
    return { exec: { apiVersion: API_VERSION, command, interactiveMode: "Never" } };
  };
  const behave = async (mode: string) => await writeFile(inDirectory("plugin-mode"), mode);
  const answer = async (status: object): Promise<void> => {
    const text = JSON.stringify({ apiVersion: API_VERSION, kind: "ExecCredential", status });
    await writeFile(inDirectory("plugin-answer.new"), text);
    await rename(inDirectory("plugin-answer.new"), inDirectory("plugin-answer"));
  };
  const pluginPids = async () => (await readFile(inDirectory("plugin-runs"), "utf8")).split("\n").filter(Boolean);

  describe("an exec plugin", () => {
    it("gives a certificate, once for all clients", async () => {
      const user = await writePlugin();
      await answer({ clientCertificateData: owner.certificatePem, clientKeyData: owner.keyPem });
      await world.node.start(await writeKubeconfig(user));
      await runs("by-plugin-certificate");
      expect((await pluginPids()).length).toBeLessThanOrEqual(3);
      expect(world.node.log()).not.toContain("PRIVATE KEY");
    });

    it("is asked again when what it gave expires, and no call is lost", async () => {
      const user = await writePlugin();
      const first = await issueToken("first");
      const expiresIn = (ms: number) => new Date(Date.now() + ms).toISOString();
      await answer({ token: first, expirationTimestamp: expiresIn(4_000) });
      await world.node.start(await writeKubeconfig(user));
      await runs("before-expiry");
      const before = (await pluginPids()).length;
      await answer({ token: await issueToken("second"), expirationTimestamp: expiresIn(600_000) });
      await runs("after-renewal");
      await settlesOn(true, async () => (await pluginPids()).length > before, 20_000);
      await revoke("first");
      await settlesOn(true, async () => await isRefused(first));
      await runs("by-second-token");
      const ready = (await world.nodeObject()).status?.conditions?.find(({ type }) => type === "Ready");
      expect(ready?.status).toBe("True");
      expect(world.node.log()).not.toContain(first);
    });

    it.each([
      ["fail", /getting credentials: exec: executable \S+plugin failed with exit code 3: no luck today/],
      ["rubbish", /getting credentials: exec: \S+plugin: decoding stdout: it is no ExecCredential in JSON/],
    ])("that does not give any (%s) is named, and asked again until it does", async (mode, words) => {
      const user = await writePlugin();
      await answer({ clientCertificateData: owner.certificatePem, clientKeyData: owner.keyPem });
      await behave(mode);
      const from = world.node.log().length;
      await world.node.start(await writeKubeconfig(user));
      await world.node.logged(words, { from });
      // What needs no API server runs.
      await world.node.write(`local-${mode}.json`, shellPod(`local-${mode}`, RUN_FOR_EVER));
      await world.node.pod(`local-${mode}`, isRunning);
      expect(await world.read(`local-${mode}-${NODE_NAME}`)).toBeUndefined();
      await behave("print");
      await runs(`after-${mode}`);
      await world.pod(`local-${mode}-${NODE_NAME}`, isRunning);
      expect(world.node.log().slice(from)).not.toContain("secret-rubbish");
    });

    it("that hangs holds up nothing that needs no API server, and goes with the agent", async () => {
      const user = await writePlugin();
      await behave("hang");
      await world.node.start(await writeKubeconfig(user));
      await world.node.write("local-hang.json", shellPod("local-hang", RUN_FOR_EVER));
      await world.node.pod("local-hang", isRunning);
      const pids = await pluginPids();
      expect(pids.length).toBeGreaterThan(0);
      const isAlive = (pid: string) =>
        readFile(`/proc/${pid}/stat`, "utf8").then(
          () => true,
          () => false,
        );
      expect(await Promise.all(pids.map(isAlive))).toContain(true);
      expect(await world.node.stop()).toBe(0);
      await settlesOn(false, async () => (await Promise.all((await pluginPids()).map(isAlive))).includes(true));
    });
  });

  describe("a token in a file", () => {
    it("is taken anew when it was rotated and the old one is refused", async () => {
      const path = inDirectory("token");
      const old = await issueToken("old");
      await writeFile(path, `${old}\n`);
      await world.node.start(await writeKubeconfig({ tokenFile: "token" }));
      await runs("by-old-token");
      await writeFile(`${path}.new`, await issueToken("new"));
      await rename(`${path}.new`, path);
      await revoke("old");
      await settlesOn(true, async () => await isRefused(old));
      await runs("by-new-token");
      expect(world.node.log()).not.toContain(old);
    });
  });

  describe("a proxy", () => {
    let proxy: ConnectProxy;
    beforeAll(async () => {
      proxy = await startConnectProxy(Number(new URL(owner.url).port));
    });
    afterAll(async () => await proxy?.close());

    const farAway = { server: "https://api.example.com:6443", "tls-server-name": SERVER_NAME };

    it("of the kubeconfig is gone through, with its password", async () => {
      const begun = proxy.seen.length;
      const cluster = { ...farAway, "proxy-url": `http://me:s3cr3t@${proxy.host}` };
      await world.node.start(await writeKubeconfig(certificate(), cluster));
      await runs("by-proxy-url");
      const authorization = `Basic ${base64("me:s3cr3t")}`;
      expect(proxy.seen.slice(begun)).toContainEqual({ target: "api.example.com:6443", authorization });
      expect(world.node.log()).not.toContain("s3cr3t");
    });

    it("of the environment is gone through", async () => {
      const begun = proxy.seen.length;
      vi.stubEnv("HTTPS_PROXY", `http://${proxy.host}`);
      vi.stubEnv("NO_PROXY", "other.example.com");
      await world.node.start(await writeKubeconfig(certificate(), farAway));
      await runs("by-environment");
      expect(proxy.seen.slice(begun)).toContainEqual({ target: "api.example.com:6443", authorization: undefined });
    });

    it("that speaks SOCKS is gone through, with its password", async () => {
      const socks = await startSocksProxy(Number(new URL(owner.url).port), { credentials: "me:s3cr3t" });
      try {
        const cluster = { ...farAway, "proxy-url": `socks5://me:s3cr3t@${socks.host}` };
        await world.node.start(await writeKubeconfig(certificate(), cluster));
        await runs("by-socks");
        expect(socks.seen).toContainEqual(
          expect.objectContaining({ target: "api.example.com:6443", credentials: "me:s3cr3t" }),
        );
        expect(world.node.log()).not.toContain("s3cr3t");
        expect(await world.node.stop()).toBe(0);
        await settlesOn(0, async () => socks.open);
      } finally {
        await socks.close();
      }
    });

    it("of the environment is not gone through to what it excepts", async () => {
      const begun = proxy.seen.length;
      vi.stubEnv("HTTPS_PROXY", "http://127.0.0.1:1");
      vi.stubEnv("NO_PROXY", "10.0.0.0/8,.example.com,127.0.0.1");
      await world.node.start(await writeKubeconfig(certificate()));
      await runs("by-exception");
      expect(proxy.seen).toHaveLength(begun);
      await world.node.stop();
      const from = world.node.log().length;
      await world.node.start(await writeKubeconfig(certificate(), farAway));
      // Asked for directly: there is no such name, and the proxy, which is not there either, is not named.
      await world.node.logged(/api\.example\.com/, { from });
      expect(world.node.log().slice(from)).not.toContain("127.0.0.1:1:");
    });
  });

  describe("a kubeconfig of several contexts", () => {
    const others = () => ({
      clusters: [
        { name: "gone", cluster: { server: "https://127.0.0.1:1" } },
        { name: "here", cluster: { server: owner.url, "certificate-authority": "authority.pem" } },
      ],
      users: [
        { name: "nobody", user: { token: "wrong" } },
        { name: "node", user: { "client-certificate": "node.crt", "client-key": "node.key" } },
      ],
      contexts: [
        { name: "gone", context: { cluster: "gone", user: "node" } },
        { name: "nobody", context: { cluster: "here", user: "nobody" } },
        { name: "node", context: { cluster: "here", user: "node", namespace: "elsewhere" } },
      ],
    });

    it("is the current one's, and its paths begin where it lies", async () => {
      for (const [name, text = ""] of [
        ["authority.pem", owner.caPem],
        ["node.crt", owner.certificatePem],
        ["node.key", owner.keyPem],
      ] as const) {
        await writeFile(inDirectory(name), text, { mode: 0o600 });
      }
      await world.node.start(await writeKubeconfig({}, {}, { ...others(), "current-context": "node" }));
      await runs("by-context");
    });

    it.each([
      ["absent", /current-context: context was not found for specified context: absent/],
      ["", /current-context: missing/],
    ])("says what is wrong with the current one: %j", async (context, words) => {
      const flags = await writeKubeconfig({}, {}, { ...others(), "current-context": context });
      await expect(world.node.start(flags)).rejects.toThrow(words);
    });

    it("says what the server says to whom it does not know", async () => {
      const from = world.node.log().length;
      await world.node.start(await writeKubeconfig({}, {}, { ...others(), "current-context": "nobody" }));
      await world.node.logged(/Unauthorized/, { from });
      expect(world.node.log().slice(from)).not.toContain("wrong");
    });
  });
});
