import { alreadyExistsError, notFoundError } from "../../../../api/api-error.ts";
import type { CertificateSigningRequest } from "../../../../api/gen/types.ts";
import { CERTIFICATE_SIGNING_REQUESTS, type KubeResource } from "../../../../api/kube-resource.ts";
import { AbortedError, throwIfAborted } from "../../../../base/abort.ts";
import type { Clock } from "../../../../base/clock.ts";
import type { KubeCallOptions, KubeClient } from "../../../../kube/port.ts";
import { createCertificateAuthority, signCertificateRequest } from "../../../../pki/issue-certificate.ts";
import { loadX509 } from "../../../../pki/load-x509.ts";
import { importSigningKey } from "../../../../pki/signing-key.ts";

const DAY_MS = 86_400_000;
const SUBJECT = { group: "certificates.k8s.io", resource: "certificatesigningrequests" };

interface Watcher {
  tell(type: "MODIFIED" | "DELETED", request: CertificateSigningRequest): void;
  end(error?: Error): void;
}

/** The certificate requests of an API server with a signer that a test directs. */
export async function createFakeRequestsApi(clock: Pick<Clock, "now">) {
  const notBefore = clock.now() - DAY_MS;
  const authority = await createCertificateAuthority({ commonName: "cluster", days: 3650, now: notBefore });
  const stored = new Map<string, CertificateSigningRequest>();
  const watchers = new Set<Watcher>();
  const calls: string[] = [];
  let revisions = 0;
  const hooks = {
    /** Runs before the effect of a call, with the call's verb. What it throws is the answer. */
    before: async (_verb: string): Promise<void> => {},
    /** Runs after the effect. A throw simulates a lost answer. */
    after: async (_verb: string): Promise<void> => {},
    /** Runs at the moment that a request is created, and may approve and sign it. */
    created: async (_name: string): Promise<void> => {},
  };

  const call = async <T>(verb: string, name: string, effect: () => T): Promise<T> => {
    calls.push(`${verb} ${name}`);
    await hooks.before(verb);
    const result = effect();
    if (verb === "create") await hooks.created(name);
    await hooks.after(verb);
    return result;
  };
  const change = (name: string, status: CertificateSigningRequest["status"]) => {
    const request = stored.get(name);
    if (request === undefined) throw notFoundError(SUBJECT, name);
    const changed = { ...request, status: { ...request.status, ...status } };
    stored.set(name, changed);
    revisions++;
    for (const watcher of [...watchers]) watcher.tell("MODIFIED", changed);
  };
  const condition = (type: string, reason: string, message: string) => ({
    conditions: [{ type, status: "True", reason, message }],
  });

  const api = {
    stored,
    hooks,
    authority,
    /** Returns the calls since the last time that this was called, as `create node-csr-…`. */
    calls: () => calls.splice(0),
    names: () => [...stored.keys()],
    watching: () => watchers.size,
    approve: (name: string) => change(name, condition("Approved", "AutoApproved", "by the test")),
    deny: (name: string) => change(name, condition("Denied", "Untrusted", "nobody knows this node")),
    fail: (name: string) => change(name, condition("Failed", "SignerValidationFailure", "usages did not match")),
    async sign(name: string, days = 100) {
      const { spec } = stored.get(name) ?? { spec: { request: "", usages: [] } };
      const requestPem = Buffer.from(spec.request, "base64").toString();
      const terms = { authority, notBefore: clock.now(), notAfter: clock.now() + days * DAY_MS };
      const pem = await signCertificateRequest({ ...terms, requestPem, usages: spec.usages ?? [] });
      change(name, { certificate: Buffer.from(pem).toString("base64") });
    },
    /** Signs as a signer does whose policy knows no alternative names, and no names but its own where one is given. */
    async signWithoutNames(name: string, days = 100, subject?: string) {
      const x509 = await loadX509();
      const { spec } = stored.get(name) ?? { spec: { request: "" } };
      const request = new x509.Pkcs10CertificateRequest(Buffer.from(spec.request, "base64").toString());
      const certificate = await x509.X509CertificateGenerator.create({
        subject: subject ?? request.subjectName,
        issuer: "CN=cluster",
        publicKey: request.publicKey,
        signingKey: await importSigningKey(authority.keyPem),
        signingAlgorithm: { name: "ECDSA", hash: "SHA-256" },
        notBefore: new Date(clock.now()),
        notAfter: new Date(clock.now() + days * DAY_MS),
      });
      change(name, { certificate: Buffer.from(certificate.toString("pem")).toString("base64") });
    },
    /** Approves the request, and answers with what the text becomes that a signer would have issued. */
    async answerWith(name: string, rewrite: (pem: string) => string) {
      await api.approveAndSign(name);
      const issued = Buffer.from(stored.get(name)?.status?.certificate ?? "", "base64").toString();
      change(name, { certificate: Buffer.from(rewrite(issued)).toString("base64") });
    },
    async approveAndSign(name: string, days = 100) {
      api.approve(name);
      await api.sign(name, days);
    },
    remove(name: string) {
      const request = stored.get(name);
      stored.delete(name);
      revisions++;
      if (request !== undefined) for (const watcher of [...watchers]) watcher.tell("DELETED", request);
    },
    /** Ends every watch: regularly, or with the error. */
    endWatches: (error?: Error) => {
      for (const watcher of [...watchers]) watcher.end(error);
    },
    client: {
      async create<T>(resource: KubeResource<T>, object: T, options: KubeCallOptions = {}) {
        throwIfAborted(options.signal);
        const request = CERTIFICATE_SIGNING_REQUESTS.read(object);
        const name = request.metadata?.name ?? "";
        return call("create", name, () => {
          if (stored.has(name)) throw alreadyExistsError(SUBJECT, name);
          const made = { ...request, metadata: { ...request.metadata, uid: `uid-${++revisions}` } };
          stored.set(name, made);
          return resource.read(made);
        });
      },
      async get(resource, { name }) {
        return call("get", name, () => {
          const found = stored.get(name);
          if (found === undefined) throw notFoundError(SUBJECT, name);
          return resource.read(found);
        });
      },
      async list(resource, { fieldSelector = "", signal } = {}) {
        throwIfAborted(signal);
        const name = fieldSelector.replace("metadata.name=", "");
        return call("list", name, () => {
          const found = stored.get(name);
          return { items: found === undefined ? [] : [resource.read(found)], resourceVersion: String(revisions) };
        });
      },
      async watch(resource, { fieldSelector = "", signal }, onEvent) {
        const name = fieldSelector.replace("metadata.name=", "");
        await call("watch", name, () => undefined);
        await new Promise<void>((resolve, reject) => {
          const onAbort = () => watcher.end(new AbortedError());
          const watcher: Watcher = {
            tell(type, request) {
              if (request.metadata?.name !== name) return;
              onEvent({ type, object: resource.read(request), resourceVersion: String(revisions) });
            },
            end(error) {
              watchers.delete(watcher);
              signal?.removeEventListener("abort", onAbort);
              if (error === undefined) resolve();
              else reject(error);
            },
          };
          watchers.add(watcher);
          signal?.addEventListener("abort", onAbort, { once: true });
        });
      },
    } satisfies Pick<KubeClient, "create" | "get" | "list" | "watch">,
  };
  return api;
}

export type FakeRequestsApi = Awaited<ReturnType<typeof createFakeRequestsApi>>;
