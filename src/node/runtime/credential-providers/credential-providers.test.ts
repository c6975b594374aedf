import { describe, expect, it } from "vitest";
import type { Pod, ServiceAccount } from "../../../api/gen/types.ts";
import { SECOND } from "../../../base/clock.ts";
import { silentLog } from "../../../base/log.ts";
import { createMetrics } from "../../../base/metrics.ts";
import type { CredentialProvider, TokenAttributes } from "../../../config/credential-provider-config.ts";
import { createFakeClock } from "../../../host/fake/fake-clock.ts";
import { createFakePrograms, type FakeEnd } from "../../../host/fake/fake-programs.ts";
import type { ProgramRun } from "../../../host/programs-port.ts";
import { createCredentialProviders } from "./credential-providers.ts";
import type { PodTokenRequest } from "./service-account-proof.ts";

const NEVER = new AbortController().signal;
const V1 = "credentialprovider.kubelet.k8s.io/v1";
const IMAGE = "r.example/team/app";

const response = (changes: object = {}) =>
  JSON.stringify({
    kind: "CredentialProviderResponse",
    apiVersion: V1,
    cacheKeyType: "Image",
    auth: { "r.example": { username: "u", password: "p" } },
    ...changes,
  });

interface RigOptions {
  readonly provider?: Partial<CredentialProvider>;
  readonly answer?: (run: ProgramRun) => FakeEnd;
  readonly annotations?: Record<string, string>;
  readonly isStandalone?: boolean;
}

function createRig({ provider, answer = () => ({ stdout: response() }), annotations = {}, isStandalone }: RigOptions) {
  const clock = createFakeClock();
  const programs = createFakePrograms(clock);
  programs.install("/bin/plugin", answer);
  const errors: string[] = [];
  const tokens: PodTokenRequest[] = [];
  const metrics = createMetrics();
  let uid = "sa-1";
  const serviceAccounts = {
    read: async (): Promise<ServiceAccount> => ({ metadata: { uid, annotations } }),
    async token(request: PodTokenRequest) {
      tokens.push(request);
      return `token-of-${request.pod.uid}`;
    },
  };
  const providers = createCredentialProviders(
    {
      programs,
      clock,
      metrics,
      log: { ...silentLog, error: (_message, fields) => errors.push(String(fields?.["error"])) },
      serviceAccounts: isStandalone === true ? undefined : serviceAccounts,
    },
    {
      hash: "sha256:abc",
      providers: [
        {
          name: "plugin",
          apiVersion: V1,
          matchImages: ["*.example"],
          defaultCacheDuration: 60 * SECOND,
          args: ["get"],
          env: [{ name: "REGION", value: "west" }],
          ...provider,
        },
      ],
    },
    "/bin",
  );
  const provide = async (image = IMAGE, pod: Partial<Pod> = {}, signal = NEVER) => {
    const full = { metadata: { uid: "u1", name: "web", namespace: "ns" }, ...pod };
    return await providers.provide(image, full, signal);
  };
  return { clock, errors, metrics, programs, provide, tokens, recreateAccount: () => (uid = "sa-2") };
}

const withAccount = (serviceAccountName = "builder", uid = "u1"): Partial<Pod> => ({
  metadata: { uid, name: "web", namespace: "ns" },
  spec: { containers: [], serviceAccountName },
});
const attributes: TokenAttributes = {
  serviceAccountTokenAudience: "registry",
  cacheType: "ServiceAccount",
  requireServiceAccount: true,
  requiredServiceAccountAnnotationKeys: ["example.com/role"],
  optionalServiceAccountAnnotationKeys: ["example.com/zone"],
};

describe("a plugin", () => {
  it("is asked as upstream asks it, and its answer is the node's", async () => {
    const { programs, provide } = createRig({});
    expect(await provide()).toEqual([
      { registries: [{ key: "r.example", username: "u", password: "p" }], serviceAccount: undefined },
    ]);
    expect(programs.runs).toEqual([
      {
        path: "/bin/plugin",
        args: ["get"],
        environment: { REGION: "west" },
        stdin: `{"kind":"CredentialProviderRequest","apiVersion":"${V1}","image":"${IMAGE}"}\n`,
        timeoutMs: 60_000,
      },
    ]);
  });

  it("is not asked for images of others", async () => {
    const { programs, provide } = createRig({});
    expect(await provide("other.test/app")).toEqual([]);
    expect(programs.runs).toEqual([]);
  });

  it.each<[cacheKeyType: string, image: string, runs: number]>([
    ["Image", IMAGE, 1],
    ["Image", "r.example/team/other", 2],
    ["Registry", "r.example/team/other", 1],
    ["Registry", "s.example/team/other", 2],
    ["Global", "s.example/team/other", 1],
  ])("whose answer is for %s is asked %s: %i times", async (cacheKeyType, image, runs) => {
    const { programs, provide } = createRig({ answer: () => ({ stdout: response({ cacheKeyType }) }) });
    await provide();
    await provide(image);
    expect(programs.runs).toHaveLength(runs);
  });

  it.each<[what: string, cacheDuration: string | undefined | null, lifeMs: number]>([
    ["its answer", "10s", 10_000],
    ["the configuration where it says nothing", undefined, 60_000],
    ["the configuration where it says null", null, 60_000],
    ["nobody for 0", "0s", 0],
  ])("is asked again after the time of %s", async (_what, cacheDuration, lifeMs) => {
    const { clock, programs, provide } = createRig({ answer: () => ({ stdout: response({ cacheDuration }) }) });
    await provide();
    if (lifeMs > 0) {
      await clock.advance(lifeMs - 1);
      await provide();
      expect(programs.runs).toHaveLength(1);
      await clock.advance(1);
    }
    await provide();
    expect(programs.runs).toHaveLength(2);
  });

  it("runs once for all that ask at the same time", async () => {
    const { clock, programs, provide } = createRig({ answer: () => ({ stdout: response(), takesMs: 500 }) });
    const all = [provide(), provide(), provide()];
    await clock.advance(500);
    expect((await Promise.all(all)).map((answer) => answer.length)).toEqual([1, 1, 1]);
    expect(programs.runs).toHaveLength(1);
  });

  it("is left alone when nobody wants its answer any more, which is no failure", async () => {
    const { clock, errors, provide } = createRig({ answer: () => ({ stdout: response(), takesMs: 500 }) });
    const controller = new AbortController();
    const asked = provide(IMAGE, {}, controller.signal).catch((error: Error) => error.name);
    await clock.settle();
    controller.abort();
    expect([await asked, errors, clock.pendingTimers]).toEqual(["AbortError", [], 0]);
  });

  const CANARY = "canary-hunter2";
  it.each<[what: string, end: FakeEnd, error: string]>([
    [
      "fails",
      { exitCode: 2, stderr: "no network" },
      `error execing credential provider plugin plugin for image ${IMAGE}: it failed with exit code 2: no network`,
    ],
    [
      "does not end",
      { takesMs: 120_000 },
      `error execing credential provider plugin plugin for image ${IMAGE}: it did not end within 60000 ms`,
    ],
    ["prints nonsense", { stdout: CANARY }, "error reading GVK from response: it is not a JSON object"],
    [
      "answers in another version",
      { stdout: response({ apiVersion: "v0", password: CANARY }) },
      `apiVersion from credential plugin response did not match expected apiVersion:${V1}, actual apiVersion:v0`,
    ],
    [
      "answers with a field that there is not",
      { stdout: response({ password: CANARY }) },
      "error decoding credential provider plugin response from stdout",
    ],
    [
      "answers with no text for a password",
      { stdout: response({ auth: { "r.example": { password: [CANARY] } } }) },
      "error decoding credential provider plugin response from stdout",
    ],
    [
      "answers with no valid key",
      { stdout: response({ cacheKeyType: "Moon" }) },
      "credential provider plugin did not return a valid cacheKeyType: Moon",
    ],
  ])("that %s gives nothing, says so, and is asked again", async (_what, end, error) => {
    const { clock, errors, programs, provide } = createRig({ answer: () => end });
    for (let count = 0; count < 2; count++) {
      const asked = provide();
      await clock.advance(60_000);
      expect(await asked).toEqual([]);
    }
    expect(errors).toEqual([error, error]);
    expect(programs.runs).toHaveLength(2);
  });

  it("is counted, and its time taken", async () => {
    const { metrics, provide } = createRig({ answer: () => ({ exitCode: 1 }) });
    await provide();
    const text = await metrics.render();
    expect(text).toContain('kubelet_credential_provider_plugin_errors_total{plugin_name="plugin"} 1');
    expect(text).toContain('kubelet_credential_provider_plugin_duration_count{plugin_name="plugin"} 1');
    expect(text).toContain('kubelet_credential_provider_config_info{hash="sha256:abc"} 1');
  });
});

describe("a plugin that is given tokens of service accounts", () => {
  const role = { "example.com/role": "r1", "example.com/zone": "z", "example.com/else": "x" };
  const rigOf = (changes: Partial<TokenAttributes> = {}, options: RigOptions = {}) =>
    createRig({ annotations: role, provider: { tokenAttributes: { ...attributes, ...changes } }, ...options });

  it("gets the token and the annotations that it asked for, and its credentials are the account's", async () => {
    const { programs, provide, tokens } = rigOf();
    const serviceAccount = { uid: "sa-1", namespace: "ns", name: "builder" };
    expect(await provide(IMAGE, withAccount())).toMatchObject([{ serviceAccount }]);
    expect(JSON.parse(programs.runs[0]?.stdin ?? "")).toEqual({
      kind: "CredentialProviderRequest",
      apiVersion: V1,
      image: IMAGE,
      serviceAccountToken: "token-of-u1",
      serviceAccountAnnotations: { "example.com/role": "r1", "example.com/zone": "z" },
    });
    expect(tokens).toEqual([
      {
        namespace: "ns",
        serviceAccount: "builder",
        serviceAccountUid: "sa-1",
        audience: "registry",
        pod: { name: "web", uid: "u1" },
      },
    ]);
  });

  it.each<[why: string, rig: RigOptions & { attributes?: Partial<TokenAttributes> }, pod: Partial<Pod>, runs: number]>([
    ["a pod without an account", {}, {}, 0],
    [
      "a pod without an account where none is required",
      { attributes: { requireServiceAccount: false, requiredServiceAccountAnnotationKeys: [] } },
      {},
      1,
    ],
    ["an account without the annotation", { annotations: {} }, withAccount(), 0],
    ["an account with it", {}, withAccount(), 1],
  ])("for %s", async (_why, { attributes: changes = {}, ...options }, pod, runs) => {
    const { errors, programs, provide } = rigOf(changes, options);
    await provide(IMAGE, pod);
    expect([programs.runs.length, errors]).toEqual([runs, []]);
  });

  it("shares credentials among the pods of an account, or of a token, and never with another account", async () => {
    const shared = rigOf();
    await shared.provide(IMAGE, withAccount("builder", "u1"));
    await shared.provide(IMAGE, withAccount("builder", "u2"));
    expect(shared.programs.runs).toHaveLength(1);
    await shared.provide(IMAGE, withAccount("other", "u3"));
    expect(shared.programs.runs).toHaveLength(2);
    shared.recreateAccount();
    await shared.provide(IMAGE, withAccount("builder", "u1"));
    expect(shared.programs.runs).toHaveLength(3);

    const byToken = rigOf({ cacheType: "Token" });
    await byToken.provide(IMAGE, withAccount("builder", "u1"));
    await byToken.provide(IMAGE, withAccount("builder", "u1"));
    expect(byToken.programs.runs).toHaveLength(1);
    await byToken.provide(IMAGE, withAccount("builder", "u2"));
    expect(byToken.programs.runs).toHaveLength(2);
  });

  it.each([
    ["Token", 1],
    ["ServiceAccount", 0],
  ])("may give the token back as the password where it is cached by %s: %i", async (cacheType, count) => {
    const answer = ({ stdin = "" }: ProgramRun) => {
      const password = /"serviceAccountToken":"([^"]*)"/.exec(stdin)?.[1];
      return { stdout: response({ auth: { "r.example": { username: "u", password } } }) };
    };
    const { errors, provide } = rigOf({ cacheType }, { answer });
    expect(await provide(IMAGE, withAccount())).toHaveLength(count);
    expect(errors).toHaveLength(1 - count);
  });

  it("cannot work on a node without an API server", async () => {
    const { errors, provide } = rigOf({}, { isStandalone: true });
    expect(await provide(IMAGE, withAccount())).toEqual([]);
    expect(errors).toEqual([
      "failed to get service account: cannot get ServiceAccounts when kubelet is in standalone mode",
    ]);
  });
});
