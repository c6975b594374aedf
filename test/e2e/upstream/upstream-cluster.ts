import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runAll } from "../../../src/base/errors.ts";
import { issueKubeconfig } from "../../../src/cluster/control-plane/issue-kubeconfig.ts";
import { type RunningControlPlane, serveControlPlane } from "../../../src/cluster/control-plane/serve-control-plane.ts";
import type { ControllerOptions } from "../../../src/control-plane/compose/control-plane-ports.ts";
import { createMemoryJournal } from "../../../src/journal/memory-journal.ts";
import { callbackLog } from "../../../src/testing/callback-log.ts";
import { createCertificates } from "../../../src/testing/cluster-credentials.ts";
import type { RestartableCluster } from "../../clusters/node-cluster.ts";
import { type ApiClient, createApiClient } from "../../contract/api/client.ts";
import { credentialsOf } from "../../contract/api/credentials-of.ts";

/** What our API server told of, as its log has it. */
interface ServerRecord {
  readonly level: string;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Our API server, of which programs of Kubernetes' own may take over parts. */
export interface UpstreamCluster extends RestartableCluster {
  /** Goes with the cluster. */
  readonly directory: string;
  readonly api: ApiClient;
  /** The certificates and keys by which kube-controller-manager signs. */
  readonly files: { readonly authority: string; readonly authorityKey: string; readonly tokenKey: string };
  /** A kubeconfig's path. */
  userFile(name: string, groups?: readonly string[]): Promise<string>;
  /** The server's warnings and errors, oldest first. */
  complaints(): ServerRecord[];
  /** Requests that it refused, `GET /api/v1/nodes/e2e 404` each, of the clients whose user agent begins so; each once. */
  refusals(agent: string): string[];
}

const DAY_MS = 86_400_000;
const PRIVATE = { mode: 0o600 };
/** A machine with other work says so too; the no-stall suite is about what causes it. */
const STALLED = "one piece of work kept everything else waiting";

export async function startUpstreamCluster(options: ControllerOptions = {}): Promise<UpstreamCluster> {
  const directory = await mkdtemp(join(tmpdir(), "nodelet-upstream-"));
  const certificates = await createCertificates();
  const records: ServerRecord[] = [];
  const log = callbackLog((level, message, fields) => records.push({ level, message, fields }));
  const journal = createMemoryJournal();
  const serve = async (port: number): Promise<RunningControlPlane> => {
    const place = { address: "127.0.0.1", port, serviceCidr: "10.96.0.0/16", version: "0.0.0" };
    const served = await serveControlPlane({ ...place, ...options }, { journal, certificates, log });
    await Promise.race([served.ready, served.ended]);
    return served;
  };
  let running = await serve(0);
  const { url, kubeconfig } = running;
  const api = createApiClient(credentialsOf(kubeconfig));
  const path = (name: string) => join(directory, name);
  const files = { authority: path("ca.crt"), authorityKey: path("ca.key"), tokenKey: path("sa.key") };
  const { authority, tokenKey } = certificates;
  await writeFile(files.authority, authority.certificatePem);
  await writeFile(files.authorityKey, authority.keyPem, PRIVATE);
  await writeFile(files.tokenKey, tokenKey.privatePem, PRIVATE);
  const issue = async (name: string, groups: readonly string[] = []) =>
    await issueKubeconfig(certificates, { url, name, groups, lifetimeMs: DAY_MS });
  return {
    directory,
    url,
    kubeconfig,
    api,
    files,
    addUser: async (name, groups) => ({ kubeconfig: await issue(name, groups) }),
    async userFile(name, groups) {
      const file = path(`${name.replaceAll(":", "-")}.kubeconfig`);
      await writeFile(file, await issue(name, groups), PRIVATE);
      return file;
    },
    complaints: () => records.filter(({ level, message }) => /error|warn/.test(level) && message !== STALLED),
    refusals: (agent) => [...new Set(records.flatMap((record) => describeRefusal(record, agent)))],
    stopServer: async () => await running.close(),
    async startServer() {
      running = await serve(Number(new URL(url).port));
    },
    async stop() {
      const remove = async () => await rm(directory, { recursive: true, force: true });
      await runAll([() => api.close(), async () => await running.close(), remove], "stopping the cluster");
    },
  };
}

function describeRefusal({ message, fields }: ServerRecord, agent: string): string[] {
  if (message !== "a request was refused" || !String(fields["agent"]).startsWith(agent)) return [];
  const query = fields["query"] === "" ? "" : `?${fields["query"]}`;
  return [`${fields["method"]} ${fields["path"]}${query} ${fields["code"]}`];
}
