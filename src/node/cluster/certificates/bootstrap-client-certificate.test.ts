import { describe, expect, it } from "vitest";
import { ApiError } from "../../../api/api-error.ts";
import { messageOf } from "../../../base/errors.ts";
import { readKubeconfig } from "../../../kube/kubeconfig.ts";
import { KubeUnreachableError } from "../../../kube/port.ts";
import { isIssuedBy, isKeyOf, readCertificate } from "../../../pki/read-certificate.ts";
import { createRigHost, settled, until } from "./__fixtures__/certificate-rig.ts";
import { createFakeRequestsApi, type FakeRequestsApi } from "./__fixtures__/fake-requests-api.ts";
import { type BootstrapOutcome, bootstrapClientCertificate } from "./bootstrap-client-certificate.ts";
import { readPair } from "./pem-pair.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const DAY = 24 * 60 * MINUTE;
const DIRECTORY = "/var/lib/kubelet/pki";
const CURRENT = `${DIRECTORY}/kubelet-client-current.pem`;
const PENDING = `${DIRECTORY}/kubelet-client.key.tmp`;
const BOOTSTRAP = "/etc/kubernetes/bootstrap-kubelet.conf";
const KUBECONFIG = "/etc/kubernetes/kubelet.conf";
const NAME = /^node-csr-[\w-]{43}$/;

async function createRig() {
  const rig = createRigHost();
  const { host, log } = rig;
  const api = await createFakeRequestsApi(host.clock);
  let stopping = new AbortController();
  const readBootstrap = async () => {
    if (host.files.text(BOOTSTRAP) === undefined) throw new Error("no bootstrap kubeconfig");
    const authority = { kind: "inline" as const, pem: api.authority.certificatePem };
    return { client: api.client, connection: { server: "https://10.0.0.1:6443", authority } };
  };
  host.files.put(BOOTSTRAP, "a token");
  const pair = () => {
    const text = host.files.text(CURRENT) ?? "";
    return readPair(text, text);
  };
  return {
    ...rig,
    api,
    pair,
    start(nodeName = "node-1"): Promise<BootstrapOutcome> {
      stopping = new AbortController();
      const run = bootstrapClientCertificate(
        { readBootstrap, clock: host.clock, random: host.random, log, files: host.files },
        { nodeName, certDirectory: DIRECTORY, kubeconfigPath: KUBECONFIG },
        stopping.signal,
      );
      run.catch(() => undefined);
      return run;
    },
    stop: () => stopping.abort(),
    /** Waits for the request, and returns its name. */
    async requested(count = 1): Promise<string> {
      await until(host, () => api.stored.size >= count && api.watching() > 0, "a watch of the request");
      return api.names().at(-1) ?? "";
    },
  };
}

type Rig = Awaited<ReturnType<typeof createRig>>;

const signAtOnce = (api: FakeRequestsApi, days?: number) => {
  api.hooks.created = (name) => api.approveAndSign(name, days);
};

/** Expects that the node has everything that it needs, and that nothing else is left over. */
async function expectComplete({ host, api, pair }: Rig): Promise<void> {
  const { certificatePem, keyPem } = pair() ?? { certificatePem: "", keyPem: "" };
  expect(readCertificate(certificatePem)).toMatchObject({
    commonName: "system:node:node-1",
    organizations: ["system:nodes"],
  });
  expect(isKeyOf({ certificatePem, keyPem })).toBe(true);
  expect(isIssuedBy(certificatePem, api.authority.certificatePem)).toBe(true);
  expect(await readKubeconfig(KUBECONFIG, host.files)).toMatchObject({
    server: "https://10.0.0.1:6443",
    authority: { kind: "inline", pem: api.authority.certificatePem },
    user: { clientCertificate: { certificate: { kind: "file", path: CURRENT }, key: { kind: "file", path: CURRENT } } },
  });
  expect(host.files.text(PENDING)).toBeUndefined();
}

describe("a node without a kubeconfig", () => {
  it("asks for a certificate, waits for its approval, and writes the kubeconfig", async () => {
    const rig = await createRig();
    const { host, api } = rig;
    const run = rig.start();
    const name = await rig.requested();
    expect(name).toMatch(NAME);
    expect(api.stored.get(name)?.spec).toMatchObject({
      signerName: "kubernetes.io/kube-apiserver-client-kubelet",
      usages: ["digital signature", "client auth"],
    });
    api.approve(name);
    await host.clock.settle();
    expect(host.files.text(KUBECONFIG)).toBeUndefined();
    await api.sign(name);
    expect(await settled(host, run)).toBe("issued");
    await expectComplete(rig);
    expect([api.watching(), host.clock.pendingTimers]).toEqual([0, 0]);
  });

  it("keeps what is secret to itself, in files of its own", async () => {
    const rig = await createRig();
    const { host, api } = rig;
    signAtOnce(api);
    await settled(host, rig.start());
    const modes = await Promise.all([CURRENT, KUBECONFIG].map(async (path) => (await host.files.stat(path))?.mode));
    expect(modes).toEqual([0o600, 0o600]);
    expect(rig.leaks()).toEqual([]);
  });
});

describe("a kubeconfig that is there", () => {
  it("and valid is kept, and nobody is asked", async () => {
    const { host, api, ...rig } = await createRig();
    signAtOnce(api);
    await settled(host, rig.start());
    const before = host.files.text(KUBECONFIG);
    api.calls();
    host.files.delete(BOOTSTRAP);
    expect(await settled(host, rig.start()), "kubeadm has deleted the other file by now").toBe("kept");
    expect(api.calls()).toEqual([]);
    expect(host.files.text(KUBECONFIG)).toBe(before);
  });

  it.each<[string, (rig: Rig) => unknown]>([
    ["whose certificate expired", ({ host }) => host.clock.advance(101 * DAY)],
    ["whose certificate is gone", ({ host }) => host.files.delete(CURRENT)],
    ["whose certificate is torn", ({ host }) => host.files.put(CURRENT, "-----BEGIN")],
    ["that is torn", ({ host }) => host.files.put(KUBECONFIG, "apiVersion: v1\nkind: Conf")],
    ["without a certificate", ({ host }) => host.files.put(KUBECONFIG, "kind: Config\ncurrent-context: a\n")],
  ])("%s is replaced by a bootstrap", async (_what, harm) => {
    const rig = await createRig();
    signAtOnce(rig.api);
    await settled(rig.host, rig.start());
    await harm(rig);
    expect(await settled(rig.host, rig.start())).toBe("issued");
    await expectComplete(rig);
  });
});

describe("an answer that takes long", () => {
  it("is waited for: after 15 minutes the same request is found again", async () => {
    const rig = await createRig();
    const run = rig.start();
    const name = await rig.requested();
    for (let wait = 0; wait < 4; wait++) {
      await rig.host.clock.advance(15 * MINUTE + 2 * SECOND);
      await rig.requested();
    }
    expect(rig.api.names()).toEqual([name]);
    await rig.api.approveAndSign(name);
    expect(await settled(rig.host, run)).toBe("issued");
    await expectComplete(rig);
  });

  it("survives watches that end, break, and a server that is away for hours", async () => {
    const rig = await createRig();
    const { api, host } = rig;
    const run = rig.start();
    const name = await rig.requested();
    api.endWatches();
    await host.clock.advance(SECOND);
    expect(api.watching()).toBe(1);
    api.hooks.before = async () => {
      throw new KubeUnreachableError("unreachable", "connect ECONNREFUSED");
    };
    api.endWatches(new KubeUnreachableError("unreachable", "reset"));
    await host.clock.advance(3 * 60 * MINUTE);
    await until(host, () => api.calls().length < 1_000, "few calls");
    api.hooks.before = async () => {};
    await api.approveAndSign(name);
    await host.clock.advance(MINUTE);
    expect(await settled(host, run)).toBe("issued");
    expect(api.names()).toEqual([name]);
  });

  it("is made anew when its request was deleted", async () => {
    const rig = await createRig();
    const run = rig.start();
    const name = await rig.requested();
    rig.api.remove(name);
    signAtOnce(rig.api);
    await rig.host.clock.advance(2 * SECOND);
    expect(await settled(rig.host, run)).toBe("issued");
    expect(rig.api.names()).toEqual([name]);
  });

  it("ends with the signal, and leaves no timer and no watch", async () => {
    const rig = await createRig();
    const run = rig.start();
    await rig.requested();
    rig.stop();
    await expect(settled(rig.host, run)).rejects.toMatchObject({ name: "AbortError" });
    expect([rig.api.watching(), rig.host.clock.pendingTimers]).toEqual([0, 0]);
  });
});

describe("a no", () => {
  it.each([
    ["deny", "denied", "certificate signing request is denied, reason: Untrusted, message: nobody knows this node"],
    ["fail", "failed", "certificate signing request failed, reason: SignerValidationFailure"],
  ] as const)("%s is told clearly, and the next run finds the same request", async (verb, code, message) => {
    const rig = await createRig();
    const first = rig.start();
    const name = await rig.requested();
    rig.api[verb](name);
    const expected = { code, message: expect.stringContaining(message) };
    await expect(settled(rig.host, first)).rejects.toMatchObject(expected);
    await expect(settled(rig.host, rig.start())).rejects.toMatchObject(expected);
    expect(rig.api.names()).toEqual([name]);
    rig.api.remove(name);
    signAtOnce(rig.api);
    expect(await settled(rig.host, rig.start())).toBe("issued");
  });

  it.each(["Unauthorized", "Forbidden"] as const)("%s of the server itself ends the bootstrap", async (reason) => {
    const rig = await createRig();
    rig.api.hooks.before = async () => {
      throw new ApiError(reason, "no such token");
    };
    const failure: unknown = await settled(rig.host, rig.start()).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "refused" });
    expect(messageOf(failure)).toBe("cannot create certificate signing request: no such token");
  });

  it.each([
    ["for now", new ApiError("ServiceUnavailable", "starting")],
    ["from nobody there", new KubeUnreachableError("timed-out", "no answer")],
  ])("%s is no end", async (_what, error) => {
    const rig = await createRig();
    rig.api.hooks.before = async () => {
      throw error;
    };
    const run = rig.start();
    await until(rig.host, () => rig.host.clock.pendingTimers > 0);
    await rig.host.clock.advance(10 * MINUTE);
    rig.api.hooks.before = async () => {};
    signAtOnce(rig.api);
    await rig.host.clock.advance(40 * SECOND);
    expect(await settled(rig.host, run)).toBe("issued");
  });
});

describe("what is of no use", () => {
  it("a certificate of another key is not taken: the node begins anew with a new one", async () => {
    const rig = await createRig();
    const run = rig.start();
    const name = await rig.requested();
    const other = await createRig();
    signAtOnce(other.api);
    await settled(other.host, other.start());
    const stolen = Buffer.from(other.pair()?.certificatePem ?? "").toString("base64");
    signAtOnce(rig.api);
    const request = rig.api.stored.get(name);
    if (request !== undefined) rig.api.stored.set(name, { ...request, status: { certificate: stolen } });
    rig.api.approve(name);
    await until(rig.host, () => rig.logged.some((line) => line.includes("not for our key")));
    await rig.host.clock.advance(10 * SECOND);
    expect(await settled(rig.host, run)).toBe("issued");
    expect(rig.api.names()).toHaveLength(2);
    await expectComplete(rig);
  });

  it.each<[string, (pem: string) => string]>([
    ["nothing that can be read", () => "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"],
    ["thousands of certificates", (pem) => pem.repeat(10_000)],
  ])("%s under its request's name is no end for a node that starts again", async (_what, rewrite) => {
    const rig = await createRig();
    const first = rig.start();
    const name = await rig.requested();
    rig.stop();
    await settled(rig.host, first).catch(() => undefined);
    await rig.api.answerWith(name, rewrite);
    signAtOnce(rig.api);
    const run = rig.start();
    await until(rig.host, () => rig.logged.some((line) => line.includes("could not be requested")));
    await rig.host.clock.advance(10 * SECOND);
    expect(await settled(rig.host, run)).toBe("issued");
    await expectComplete(rig);
  });

  it.each<[string, (text: string) => string]>([
    ["is torn", (text) => text.slice(0, 100)],
    ["is a key without a request, of a Go kubelet", (text) => text.slice(0, text.indexOf("-----BEGIN CERT"))],
  ])("a pending key that %s is replaced", async (_what, harm) => {
    const rig = await createRig();
    const first = rig.start();
    const name = await rig.requested();
    rig.stop();
    await settled(rig.host, first).catch(() => undefined);
    rig.host.files.put(PENDING, harm(rig.host.files.text(PENDING) ?? ""));
    signAtOnce(rig.api);
    expect(await settled(rig.host, rig.start())).toBe("issued");
    expect(rig.api.names()).not.toEqual([name]);
    await expectComplete(rig);
  });

  it("a pending request of another node name is not asked again", async () => {
    const rig = await createRig();
    const first = rig.start("node-2");
    await rig.requested();
    rig.stop();
    await settled(rig.host, first).catch(() => undefined);
    signAtOnce(rig.api);
    expect(await settled(rig.host, rig.start("node-1"))).toBe("issued");
    await expectComplete(rig);
  });
});

describe("an agent that dies", () => {
  /**
   * Runs until the access of this number, at which everything ends at once. The result is true when the run ended
   * before that access.
   */
  async function runUntilCrash(rig: Rig, crashAt: number): Promise<boolean> {
    const { host, api } = rig;
    let accesses = 0;
    let isDead = false;
    const tick = () => {
      if (accesses++ === crashAt) {
        isDead = true;
        rig.stop();
      }
      if (isDead) throw new Error("the agent died");
    };
    const restore = host.files.intercept(tick);
    api.hooks.before = async () => tick();
    api.hooks.after = async () => tick();
    await settled(host, rig.start()).catch((error: unknown) => {
      if (!isDead) throw error;
    });
    restore();
    api.hooks.before = async () => {};
    api.hooks.after = async () => {};
    return !isDead;
  }

  it("at any step is taken up by the next with the key and the request that it had", async () => {
    let steps = 0;
    for (; ; steps++) {
      const rig = await createRig();
      signAtOnce(rig.api);
      const isOver = await runUntilCrash(rig, steps);
      const outcome = await settled(rig.host, rig.start());
      await expectComplete(rig);
      expect(rig.api.names(), `after a crash at step ${steps}`).toHaveLength(1);
      expect(rig.leaks()).toEqual([]);
      expect(rig.host.clock.pendingTimers).toBe(0);
      if (isOver) {
        expect(outcome).toBe("kept");
        break;
      }
    }
    // A smaller number would mean that the steps were not counted.
    expect(steps).toBeGreaterThan(20);
  });

  it("with the certificate on disk does not need the server again", async () => {
    const rig = await createRig();
    signAtOnce(rig.api);
    const restore = rig.host.files.intercept(({ operation, path, phase }) => {
      if (operation === "writeAtomically" && path === KUBECONFIG && phase === "before") throw new Error("died");
    });
    await expect(settled(rig.host, rig.start())).rejects.toThrow("died");
    restore();
    rig.api.hooks.before = async () => {
      throw new ApiError("Unauthorized", "the token expired meanwhile");
    };
    expect(await settled(rig.host, rig.start())).toBe("issued");
    await expectComplete(rig);
  });
});

it("logs nothing that it must not, whatever fails", async () => {
  const rig = await createRig();
  const run = rig.start();
  const name = await rig.requested();
  rig.api.deny(name);
  const failure: unknown = await settled(rig.host, run).catch((error: unknown) => error);
  expect(rig.leaks(messageOf(failure), JSON.stringify(failure))).toEqual([]);
});
