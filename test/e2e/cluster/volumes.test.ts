import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isRecord } from "../../../src/api/object.ts";
import { clusterServersUnderTest } from "../../clusters/cluster-servers.ts";
import { createApiClient } from "../../contract/api/client.ts";
import { credentialsOf } from "../../contract/api/credentials-of.ts";
import { isRunning, RUN_FOR_EVER, shellPod } from "../pods.ts";
import { configMap, secret } from "./api-objects.ts";
import { type ClusterNode, createClusterNode, NODE_NAME } from "./cluster-node.ts";
import { settlesOn } from "./settles.ts";

const SERVERS = await clusterServersUnderTest();

const TOKEN_DIRECTORY = "/var/run/secrets/kubernetes.io/serviceaccount";
/** An update reaches a pod by a watch, not by a timer. */
const UPDATE_TIMEOUT_MS = 2_000;
/** kube-apiserver takes a token that it has seen for ten seconds more. */
const TOKEN_MEMORY_MS = 15_000;

describe.each(SERVERS)("volumes of API objects, on $name", (server) => {
  let world: ClusterNode;
  beforeAll(async () => {
    world = await createClusterNode({ server });
    await world.cluster.apply(
      secret("credentials", { user: "root", password: "s3cr3t" }),
      configMap("settings", { mode: "fast", "app.conf": "a=1\n" }, { binaryData: { bytes: "AP8=" } }),
    );
    await world.node.start(world.flags);
  });
  afterAll(async () => await world?.destroy());

  /** A pod of one volume, which is at /v. */
  const run = async (name: string, volume: object, spec: object = {}): Promise<void> => {
    await world.create(mounting(name, volume, spec));
    await world.pod(name, isRunning);
  };
  const mounting = (name: string, volume: object, spec: object = {}): object => {
    const volumeMounts = [{ name: "v", mountPath: "/v" }];
    return shellPod(name, RUN_FOR_EVER, { volumes: [{ name: "v", ...volume }], ...spec }, { volumeMounts });
  };
  /** `mode owner:group name content` of each file at /v. */
  const list = async (name: string): Promise<string[]> => {
    const script = `cd /v; for f in $(find . -follow -type f ! -path './..*' | sort); do echo "$(stat -L -c '%a %u:%g' $f) $f $(cat $f | base64)"; done`;
    const lines = (await world.shell(name, script)).trim().split("\n");
    return lines.map((line) => {
      const [mode, owner, file, content = ""] = line.split(" ");
      return `${mode} ${owner} ${file?.slice(2)} ${Buffer.from(content, "base64").toString("latin1")}`;
    });
  };

  it.concurrent("give every pod a token that the API server knows it by, until the pod is gone", async () => {
    await world.create(shellPod("account", RUN_FOR_EVER));
    const { metadata } = await world.pod("account", isRunning);
    const cat = async (file: string) => await world.exec("account", ["cat", `${TOKEN_DIRECTORY}/${file}`]);
    expect(await cat("namespace")).toBe("default");
    const { url, caPem } = credentialsOf(world.cluster.kubeconfig);
    expect((await cat("ca.crt")).trim()).toBe(caPem.trim());
    const token = await cat("token");
    expect(readClaims(token)).toMatchObject({
      "kubernetes.io": {
        namespace: "default",
        node: { name: NODE_NAME },
        pod: { name: "account", uid: metadata?.uid },
      },
    });
    const client = createApiClient({ url, caPem: await cat("ca.crt"), token });
    try {
      const ask = async () => {
        const review = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
        return await client.json("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", review);
      };
      expect(await ask()).toMatchObject({
        status: 201,
        body: { status: { userInfo: { username: "system:serviceaccount:default:default" } } },
      });
      expect(await world.shell("account", `mount | grep ${TOKEN_DIRECTORY}`)).toMatch(/^tmpfs .*\bro\b/);
      await world.remove("account");
      await world.gone("account");
      await settlesOn(401, async () => (await ask()).status, TOKEN_MEMORY_MS);
    } finally {
      client.close();
    }
  });

  it.concurrent("give no token to pods that want none", async () => {
    await world.create(shellPod("no-account", RUN_FOR_EVER, { automountServiceAccountToken: false }));
    await world.pod("no-account", isRunning);
    await expect(world.exec("no-account", ["ls", TOKEN_DIRECTORY])).rejects.toThrow("No such file");
  });

  it.concurrent("give a token of the audience and life asked for, to its process alone", async () => {
    const serviceAccountToken = { audience: "vault", expirationSeconds: 1200, path: "vault-token" };
    const securityContext = { runAsUser: 1234, runAsGroup: 1234 };
    await run("audience", { projected: { sources: [{ serviceAccountToken }] } }, { securityContext });
    const claims = readClaims(await world.exec("audience", ["cat", "/v/vault-token"]));
    expect(claims["aud"]).toEqual(["vault"]);
    expect(Number(claims["exp"]) - Number(claims["iat"])).toBe(1200);
    expect(await world.exec("audience", ["stat", "-L", "-c", "%a %u", "/v/vault-token"])).toBe("600 1234\n");
  });

  it.concurrent.each([
    ["secret", { secret: { secretName: "credentials" } }, ["644 0:0 password s3cr3t", "644 0:0 user root"]],
    [
      "secret-mode",
      { secret: { secretName: "credentials", defaultMode: 0o400 } },
      ["400 0:0 password s3cr3t", "400 0:0 user root"],
    ],
    [
      "config-map",
      { configMap: { name: "settings" } },
      ["644 0:0 app.conf a=1\n", "644 0:0 bytes \0\xff", "644 0:0 mode fast"],
    ],
    [
      "items",
      {
        configMap: {
          name: "settings",
          items: [
            { key: "mode", path: "deep/er/file", mode: 0o640 },
            { key: "app.conf", path: "c" },
          ],
        },
      },
      ["644 0:0 c a=1\n", "640 0:0 deep/er/file fast"],
    ],
    [
      "downward",
      {
        downwardAPI: {
          items: [
            { path: "name", fieldRef: { fieldPath: "metadata.name" } },
            { path: "labels", fieldRef: { fieldPath: "metadata.labels" } },
            {
              path: "cpu",
              resourceFieldRef: { containerName: "main", resource: "limits.cpu", divisor: "1" },
              mode: 0o600,
            },
          ],
        },
      },
      ["600 0:0 cpu 2", '644 0:0 labels a="1"', "644 0:0 name downward"],
    ],
    [
      "projected",
      {
        projected: {
          defaultMode: 0o440,
          sources: [
            { secret: { name: "credentials", items: [{ key: "user", path: "s/user" }] } },
            { configMap: { name: "settings", items: [{ key: "mode", path: "mode" }] } },
            { downwardAPI: { items: [{ path: "namespace", fieldRef: { fieldPath: "metadata.namespace" } }] } },
            { configMap: { name: "absent", optional: true } },
            { secret: { name: "absent", optional: true } },
          ],
        },
      },
      ["440 0:0 mode fast", "440 0:0 namespace default", "440 0:0 s/user root"],
    ],
  ])("show content and modes: %s", async (name, volume, files) => {
    const volumeMounts = [{ name: "v", mountPath: "/v" }];
    const resources = { limits: { cpu: "1500m" }, requests: { cpu: "1m" } };
    const spec = { volumes: [{ name: "v", ...volume }] };
    const pod = shellPod(name, RUN_FOR_EVER, spec, { volumeMounts, resources });
    await world.create({ ...pod, metadata: { name, labels: { a: "1" } } });
    await world.pod(name, isRunning);
    expect(await list(name)).toEqual(files);
  });

  it.concurrent("belong to the pod's group where it has one", async () => {
    const securityContext = { runAsUser: 1000, fsGroup: 2000 };
    await run("group", { secret: { secretName: "credentials", defaultMode: 0o400 } }, { securityContext });
    expect(await list("group")).toEqual(["440 0:2000 password s3cr3t", "440 0:2000 user root"]);
  });

  it.concurrent("cannot be written by containers", async () => {
    await run("read-only", { configMap: { name: "settings" } });
    await expect(world.shell("read-only", "echo x > /v/mode")).rejects.toThrow("Read-only file system");
  });

  it.concurrent.each([
    ["secret", { secret: { secretName: "changing" } }, secret],
    ["config map", { configMap: { name: "changing" } }, configMap],
    ["projected", { projected: { sources: [{ configMap: { name: "changing-projected" } }] } }, configMap],
  ])("show a change of a running pod's %s within moments", async (kind, volume, make) => {
    const name = `change-${kind.replace(" ", "-")}`;
    const object = kind === "projected" ? "changing-projected" : "changing";
    await world.cluster.apply(make(object, { one: "1", two: "1" }));
    await run(name, volume);
    expect(await list(name)).toEqual(["644 0:0 one 1", "644 0:0 two 1"]);
    await world.cluster.apply(make(object, { one: "2", three: "3" }));
    await settlesOn(["644 0:0 one 2", "644 0:0 three 3"], () => list(name), UPDATE_TIMEOUT_MS);
    const { status } = await world.pod(name, isRunning);
    expect(status?.containerStatuses?.[0]?.restartCount).toBe(0);
  });

  it.concurrent("show the pod's own labels as they change", async () => {
    const items = [{ path: "tier", fieldRef: { fieldPath: "metadata.labels['tier']" } }];
    await run("relabelled", { downwardAPI: { items } });
    expect(await list("relabelled")).toEqual(["644 0:0 tier "]);
    await world.api.patch("merge", "/api/v1/namespaces/default/pods/relabelled", {
      metadata: { labels: { tier: "back" } },
    });
    await settlesOn(["644 0:0 tier back"], () => list("relabelled"), UPDATE_TIMEOUT_MS);
  });

  it.concurrent("show an optional object once it is there", async () => {
    await run("optional", { configMap: { name: "optional", optional: true } });
    expect(await world.shell("optional", "ls /v")).toBe("");
    await world.cluster.apply(configMap("optional", { key: "x" }));
    await settlesOn("key\n", () => world.shell("optional", "ls /v"), UPDATE_TIMEOUT_MS);
  });

  it.concurrent("stay as they are when their object is deleted under a running pod", async () => {
    await world.cluster.apply(secret("doomed", { key: "x" }));
    await run("survivor", { secret: { secretName: "doomed" } });
    await world.api.object("DELETE", "/api/v1/namespaces/default/secrets/doomed");
    const message = 'MountVolume.SetUp failed for volume "v" : secret "doomed" not found';
    await world.event("survivor", { type: "Warning", reason: "FailedMount", message });
    expect(await list("survivor")).toEqual(["644 0:0 key x"]);
    expect((await world.read("survivor"))?.status?.phase).toBe("Running");
  });

  it.concurrent.each([
    [
      "secret",
      { secret: { secretName: "late-secret" } },
      'secret "late-secret" not found',
      secret("late-secret", { k: "x" }),
    ],
    ["map", { configMap: { name: "late-map" } }, 'configmap "late-map" not found', configMap("late-map", { k: "x" })],
    [
      "key",
      { configMap: { name: "late-key", items: [{ key: "k", path: "k" }] } },
      'configmap "late-key" not found',
      configMap("late-key", { k: "x" }),
    ],
  ])(
    "keep a pod waiting for a %s that is missing, say so, and let it start when it is there",
    async (kind, volume, why, object) => {
      const name = `waiting-${kind}`;
      await world.create(mounting(name, volume));
      const message = `MountVolume.SetUp failed for volume "v" : ${why}`;
      await world.event(name, { type: "Warning", reason: "FailedMount", message });
      const { status } = await world.pod(name, ({ status }) => (status?.containerStatuses ?? []).length > 0);
      expect(status?.phase).toBe("Pending");
      expect(status?.containerStatuses?.[0]?.state?.waiting?.reason).toBe("ContainerCreating");
      await world.cluster.apply(object);
      await world.pod(name, isRunning, 5_000);
      expect(await list(name)).toEqual(["644 0:0 k x"]);
    },
  );

  it.concurrent("name the key that an object does not have", async () => {
    const items = [{ key: "absent", path: "k" }];
    await world.create(mounting("no-key", { configMap: { name: "settings", items } }));
    const message = 'MountVolume.SetUp failed for volume "v" : configmap references non-existent config key: absent';
    await world.event("no-key", { reason: "FailedMount", message });
    await world.remove("no-key");
    await world.gone("no-key");
  });
});

function readClaims(token: string): Record<string, unknown> {
  const claims: unknown = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString("utf8"));
  if (!isRecord(claims)) throw new Error("the token has no claims");
  return { ...claims };
}
