import { chmod, mkdir, mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Pod } from "../../../src/api/gen/types.ts";
import { containerOf, isRunning } from "../pods.ts";
import { runProgram } from "../program.ts";
import { type ClusterNode, createClusterNode } from "./cluster-node.ts";
import { type LocalRegistry, startLocalRegistry } from "./local-registry.ts";

const isRefused = (pod: Pod) =>
  /^(ErrImagePull|ImagePullBackOff)$/.test(containerOf(pod, "main")?.state?.waiting?.reason ?? "");
const V1 = "credentialprovider.kubelet.k8s.io/v1";
const hostOf = ({ image }: LocalRegistry) => image.split("/")[0] ?? "";

describe("credentials that plugins of the node give", () => {
  let world: ClusterNode;
  /** Opened by a plugin for every pod, and by one for pods of service accounts with an annotation. */
  let open: LocalRegistry;
  let guarded: LocalRegistry;
  let flags: string[];
  const at = (name: string) => join(world.node.directory, name);

  /** What a plugin was asked, oldest first. */
  const requests = async (plugin: string): Promise<Array<Record<string, unknown>>> => {
    const text = await readFile(at(`${plugin}.requests`), "utf8");
    return text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
  };
  const install = async (plugin: string, { dockerConfig }: LocalRegistry, condition: string): Promise<void> => {
    const { auths } = JSON.parse(dockerConfig);
    const auth = Object.fromEntries(
      Object.entries<{ username: string; password: string }>(auths).map(([host, { username, password }]) => [
        host,
        { username, password },
      ]),
    );
    const answer = { kind: "CredentialProviderResponse", apiVersion: V1, cacheKeyType: "Registry", auth };
    await writeFile(
      at(`bin/${plugin}`),
      [
        "#!/bin/sh",
        "read -r request",
        `echo "$request" >> ${at(`${plugin}.requests`)}`,
        `${condition} || { echo "$MOOD" >&2; exit 1; }`,
        `echo '${JSON.stringify(answer)}'`,
      ].join("\n"),
    );
    await chmod(at(`bin/${plugin}`), 0o755);
  };

  beforeAll(async () => {
    [open, guarded] = [await startLocalRegistry(), await startLocalRegistry()];
    world = await createClusterNode();
    await mkdir(at("bin"));
    await install("simple", open, "true");
    // A token has three parts; its audience and its pod are in the second.
    const isToken = String.raw`echo "$request" | grep -Eq '"serviceAccountToken":"[^".]+\.[^".]+\.[^".]+"'`;
    await install("of-accounts", guarded, isToken);
    const provider = { apiVersion: V1, defaultCacheDuration: "10m", env: [{ name: "MOOD", value: "no token" }] };
    const tokenAttributes = {
      serviceAccountTokenAudience: "registry",
      cacheType: "ServiceAccount",
      requireServiceAccount: true,
      requiredServiceAccountAnnotationKeys: ["example.com/role"],
    };
    const providers = [
      { ...provider, name: "simple", matchImages: [hostOf(open)] },
      { ...provider, name: "of-accounts", matchImages: [hostOf(guarded)], tokenAttributes },
    ];
    const config = { apiVersion: "kubelet.config.k8s.io/v1", kind: "CredentialProviderConfig", providers };
    await writeFile(at("providers.json"), JSON.stringify(config));
    const account = (name: string, annotations: object) => {
      return { apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace: "default", annotations } };
    };
    // No pod mounts a token for this audience, so that the nodes need leave to ask for one.
    const rbac = { apiVersion: "rbac.authorization.k8s.io/v1", metadata: { name: "registry-tokens" } };
    const rules = [{ apiGroups: [""], resources: ["registry"], verbs: ["request-serviceaccounts-token-audience"] }];
    const subjects = [{ kind: "Group", name: "system:nodes", apiGroup: "rbac.authorization.k8s.io" }];
    const roleRef = { kind: "ClusterRole", name: "registry-tokens", apiGroup: "rbac.authorization.k8s.io" };
    await world.cluster.apply(
      account("builder", { "example.com/role": "puller" }),
      account("other", {}),
      { ...rbac, kind: "ClusterRole", rules },
      { ...rbac, kind: "ClusterRoleBinding", subjects, roleRef },
    );
    flags = [
      ...world.flags,
      `--image-credential-provider-config=${at("providers.json")}`,
      `--image-credential-provider-bin-dir=${at("bin")}`,
    ];
    await world.node.start(flags);
  });
  afterAll(async () => {
    await world?.destroy();
    await open?.close();
    await guarded?.close();
  });

  const create = async (name: string, { image }: LocalRegistry, spec: object = {}): Promise<void> => {
    const containers = [{ name: "main", image, imagePullPolicy: "Always" }];
    const shared = { terminationGracePeriodSeconds: 1, containers };
    await world.create({ apiVersion: "v1", kind: "Pod", metadata: { name }, spec: { ...shared, ...spec } });
  };

  it("open an image to every pod, and are kept for as long as the plugin said", async () => {
    await create("first", open);
    await world.pod("first", isRunning);
    await create("second", open);
    await world.pod("second", isRunning);
    expect(await requests("simple")).toEqual([
      { kind: "CredentialProviderRequest", apiVersion: V1, image: open.image.replace(/:1$/, "") },
    ]);
  });

  it("are given by the pod's service account, to those that have the annotation", async () => {
    await create("of-builder", guarded, { serviceAccountName: "builder" });
    await create("of-other", guarded, { serviceAccountName: "other" });
    const { metadata } = await world.pod("of-builder", isRunning);
    await world.pod("of-other", isRefused);
    const [request, ...more] = await requests("of-accounts");
    expect(more).toEqual([]);
    expect(request?.["serviceAccountAnnotations"]).toEqual({ "example.com/role": "puller" });
    const claims = JSON.parse(
      Buffer.from(String(request?.["serviceAccountToken"]).split(".")[1] ?? "", "base64url").toString("utf8"),
    );
    expect(claims).toMatchObject({ aud: ["registry"], "kubernetes.io": { pod: { uid: metadata?.uid } } });
  });

  it("are not given by a plugin that fails, which the log tells", async () => {
    await writeFile(at("bin/simple"), "#!/bin/sh\necho out of order >&2\nexit 7\n");
    await world.node.stop();
    await world.node.start(flags);
    await create("unlucky", open);
    await world.pod("unlucky", isRefused);
    await world.node.logged(/Failed to provide credentials for image.*failed with exit code 7: out of order/);
  });
});

it("a node whose plugins cannot work does not start", async () => {
  const config = "--image-credential-provider-config=/nothing/there.yaml";
  expect(await runProgram("kubelet", config)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("--image-credential-provider-bin-dir is empty"),
  });
  const place = `--root-dir=${await mkdtemp(join(tmpdir(), "nodelet-e2e-"))}`;
  expect(await runProgram("kubelet", config, place, "--image-credential-provider-bin-dir=/")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('unable to access path \\"/nothing/there.yaml\\": no such file or directory'),
  });
});
